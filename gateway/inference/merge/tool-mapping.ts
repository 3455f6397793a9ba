import type { DialectName } from "../../dialects/dialect-name.ts";
import type { JsonValue } from "./json-value.ts";

/** The keys of what was left out, from the tool or the choice on. */
type LeftOut = (...keys: readonly string[]) => void;

/** A tool that the caller runs: its parts as JSON text, under one name in all dialects. */
type FunctionTool = ReadonlyMap<string, string>;

/** The tool as another dialect writes it; undefined where that has none like it. */
export function toolIn(
  tool: JsonValue,
  { from, to }: { readonly from: DialectName; readonly to: DialectName },
  leaveOut: LeftOut,
): string | undefined {
  const type = tool.members().get("type")?.text;
  if (type?.startsWith("openrouter:")) return tool.json;
  const read = readers[from](tool, type, to === "messages" ? common : withStrict, leaveOut);
  return read && writers[to](read);
}

const common: ReadonlySet<string> = new Set(["name", "description", "parameters"]);
/** Messages has no such thing as the other two do. */
const withStrict: ReadonlySet<string> = new Set([...common, "strict"]);

type Reader = (
  tool: JsonValue,
  type: string | undefined,
  known: ReadonlySet<string>,
  leaveOut: LeftOut,
) => FunctionTool | undefined;

const readers: Readonly<Record<DialectName, Reader>> = {
  "chat/completions": (tool, type, known, leaveOut) => {
    const members = tool.members();
    const inner = members.get("function");
    if (type !== "function" || !inner) return undefined;
    for (const key of members.keys()) if (key !== "type" && key !== "function") leaveOut(key);
    return partsOf(inner, known, (key) => leaveOut("function", key));
  },
  responses: (tool, type, known, leaveOut) => (type === "function" ? partsOf(tool, known, leaveOut) : undefined),
  messages: (tool, type, known, leaveOut) =>
    type === undefined || type === "custom" ? partsOf(tool, known, leaveOut, "input_schema") : undefined,
};

function partsOf(
  tool: JsonValue,
  known: ReadonlySet<string>,
  leaveOut: (key: string) => void,
  parameters = "parameters",
): FunctionTool | undefined {
  const parts = new Map<string, string>();
  for (const [key, value] of tool.members()) {
    if (key === "type") continue;
    const name = key === parameters ? "parameters" : key;
    if (known.has(name) && (name === key || key === parameters)) parts.set(name, value.json);
    else leaveOut(key);
  }
  return parts.has("name") ? parts : undefined;
}

const writers: Readonly<Record<DialectName, (tool: FunctionTool) => string>> = {
  "chat/completions": (tool) => `{"type":"function","function":{${membersOf(tool)}}}`,
  responses: (tool) => `{"type":"function",${membersOf(tool)}}`,
  // It does not take a tool without a schema.
  messages: (tool) => `{${membersOf(new Map([["input_schema", noParameters], ...renamed(tool)]))}}`,
};

const noParameters = '{"type":"object","properties":{}}';

function renamed(tool: FunctionTool): [string, string][] {
  return [...tool].map(([name, json]) => [name === "parameters" ? "input_schema" : name, json]);
}

export function membersOf(members: Iterable<readonly [string, string]>): string {
  return Array.from(members, ([name, json]) => `${JSON.stringify(name)}:${json}`).join();
}

/** Which tool to call: none, any that fits, one of them in any case, or this one, whose name is JSON text. */
type ToolChoice = "none" | "auto" | "required" | { readonly name: string };

/** The choice as another dialect writes it; undefined where that has none like it. */
export function toolChoiceIn(
  choice: JsonValue,
  { from, to }: { readonly from: DialectName; readonly to: DialectName },
  leaveOut: LeftOut,
): string | undefined {
  const read = from === "messages" ? choiceOfMessages(choice, leaveOut) : choiceOf(choice);
  return read && choiceWriters[to](read);
}

const modes: ReadonlySet<string | undefined> = new Set(["none", "auto", "required"]);

/** Chat completions and responses differ only in where the name stands. */
function choiceOf(choice: JsonValue): ToolChoice | undefined {
  const mode = choice.text;
  if (modes.has(mode)) return mode as ToolChoice;
  const members = choice.members();
  if (members.get("type")?.text !== "function") return undefined;
  const name = members.get("function")?.members().get("name") ?? members.get("name");
  return name && { name: name.json };
}

function choiceOfMessages(choice: JsonValue, leaveOut: LeftOut): ToolChoice | undefined {
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
