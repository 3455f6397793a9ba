import type { DialectName } from "../../dialects/dialect-name.ts";
import type { JsonValue } from "./json-value.ts";

/** Called with each part that has no equivalent, by its keys within the tool or the choice. */
type LeaveOut = (...keys: readonly string[]) => void;

/** A tool that the caller runs: its parts as JSON text, by names that are the same for all dialects. */
type FunctionTool = ReadonlyMap<string, string>;

/** The tool as another dialect writes it; undefined if that has no equivalent. */
export function toolIn(
  tool: JsonValue,
  { from, to }: { readonly from: DialectName; readonly to: DialectName },
  leaveOut: LeaveOut,
): string | undefined {
  const members = tool.members();
  const type = members.get("type")?.text;
  if (type?.startsWith("openrouter:")) return tool.json;
  let parts: FunctionTool | undefined;
  if (from === "messages") {
    if (type === undefined || type === "custom") parts = partsOf(members, ofMessages, leaveOut);
  } else if (type === "function") {
    const names = to === "messages" ? common : withStrict;
    const inner = from === "responses" ? undefined : members.get("function");
    if (inner) {
      for (const key of members.keys()) if (key !== "type" && key !== "function") leaveOut(key);
      parts = partsOf(inner.members(), names, (key) => leaveOut("function", key));
    } else parts = partsOf(members, names, leaveOut);
  }
  return parts?.has("name") ? writers[to](parts) : undefined;
}

/** The names of the parts by their keys in a dialect. */
type Names = ReadonlyMap<string, string>;

const common: Names = new Map(["name", "description", "parameters"].map((key) => [key, key]));
/** `strict` exists in chat completions and in responses. */
const withStrict: Names = new Map([...common, ["strict", "strict"]]);
const ofMessages: Names = new Map([
  ["name", "name"],
  ["description", "description"],
  ["input_schema", "parameters"],
]);

function partsOf(members: ReadonlyMap<string, JsonValue>, names: Names, leaveOut: (key: string) => void): FunctionTool {
  const parts = new Map<string, string>();
  for (const [key, value] of members) {
    const name = names.get(key);
    if (name !== undefined) parts.set(name, value.json);
    else if (key !== "type") leaveOut(key);
  }
  return parts;
}

const writers: Readonly<Record<DialectName, (tool: FunctionTool) => string>> = {
  "chat/completions": (tool) => `{"type":"function","function":{${membersOf(tool)}}}`,
  responses: (tool) => `{"type":"function",${membersOf(tool)}}`,
  messages: (tool) => {
    const members = Array.from(tool, ([name, json]) => [name === "parameters" ? "input_schema" : name, json] as const);
    // Messages does not accept a tool without a schema.
    return `{${membersOf(tool.has("parameters") ? members : [...members, ["input_schema", noParameters]])}}`;
  },
};

const noParameters = '{"type":"object","properties":{}}';

export function membersOf(members: Iterable<readonly [string, string]>): string {
  return Array.from(members, ([name, json]) => `${JSON.stringify(name)}:${json}`).join();
}

/** Which tool to call: none, any or none, at least one, or the one with this name, which is JSON text. */
type ToolChoice = "none" | "auto" | "required" | { readonly name: string };

/** The choice as another dialect writes it; undefined if that has no equivalent. */
export function toolChoiceIn(
  choice: JsonValue,
  { from, to }: { readonly from: DialectName; readonly to: DialectName },
  leaveOut: LeaveOut,
): string | undefined {
  const read = from === "messages" ? choiceOfMessages(choice, leaveOut) : choiceOf(choice);
  return read && choiceWriters[to](read);
}

const modes: ReadonlySet<string | undefined> = new Set(["none", "auto", "required"]);

/** Chat completions and responses differ only in where the name is. */
function choiceOf(choice: JsonValue): ToolChoice | undefined {
  const mode = choice.text;
  if (modes.has(mode)) return mode as ToolChoice;
  const members = choice.members();
  if (members.get("type")?.text !== "function") return undefined;
  const name = members.get("function")?.members().get("name") ?? members.get("name");
  return name && { name: name.json };
}

function choiceOfMessages(choice: JsonValue, leaveOut: LeaveOut): ToolChoice | undefined {
  const { type, name, ...others } = Object.fromEntries(choice.members());
  for (const key of Object.keys(others)) leaveOut(key);
  if (type?.text === "tool") return name && { name: name.json };
  const mode = type?.text === "any" ? "required" : type?.text;
  return modes.has(mode) && type?.text !== "required" ? (mode as ToolChoice) : undefined;
}

const choiceWriters: Readonly<Record<DialectName, (choice: ToolChoice) => string>> = {
  "chat/completions": (choice) =>
    typeof choice === "string" ? `"${choice}"` : `{"type":"function","function":{"name":${choice.name}}}`,
  responses: (choice) => (typeof choice === "string" ? `"${choice}"` : `{"type":"function","name":${choice.name}}`),
  messages: (choice) => {
    if (typeof choice !== "string") return `{"type":"tool","name":${choice.name}}`;
    return `{"type":"${choice === "required" ? "any" : choice}"}`;
  },
};
