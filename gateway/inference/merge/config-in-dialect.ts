import { JsonScan } from "../../../services/platform/json/json-scan.ts";
import type { DialectName } from "../../dialects/dialect-name.ts";
import { dialects } from "../../dialects/dialects.ts";
import { JsonValue } from "./json-value.ts";
import { type Dropped, pointer } from "./provenance.ts";
import { membersOf, toolChoiceIn, toolIn } from "./tool-mapping.ts";
import { toolsAt } from "./tools.ts";

/** A config as written in one dialect: the JSON text of each field, and what has no equivalent in it. */
interface DialectConfig {
  readonly fields: ReadonlyMap<string, string>;
  readonly dropped: readonly Dropped[];
  /** For fields that moved, the JSON pointers into the original config, by their new pointers. */
  readonly movedFrom: ReadonlyMap<string, string>;
}

/** The config as written in the dialect `to`. One whose own dialect is not known is taken as it is. */
export function configIn(to: DialectName, configJson: string, from: DialectName | null): DialectConfig {
  const config = parsedConfig(configJson).members();
  if (from === null || from === to) {
    return { fields: jsonOf(config), dropped: [], movedFrom: new Map() };
  }
  const mapping = new Mapping(config, from, to);
  mapLength(mapping);
  mapStop(mapping);
  mapEffort(mapping);
  mapFormat(mapping);
  mapTools(mapping);
  mapping.keepTheRest(dialects[to].keptKeys);
  return mapping;
}

function parsedConfig(configJson: string): JsonValue {
  const bytes = Buffer.from(configJson);
  const scan = new JsonScan(bytes);
  scan.read(bytes.length);
  return new JsonValue({ bytes, longValues: scan.longValues }, { start: configJson.indexOf("{"), end: bytes.length });
}

/** A config being translated from one dialect to another. */
class Mapping implements DialectConfig {
  readonly fields = new Map<string, string>();
  readonly dropped: Dropped[] = [];
  readonly movedFrom = new Map<string, string>();
  readonly from: DialectName;
  readonly to: DialectName;
  readonly #left: Map<string, JsonValue>;

  constructor(config: Map<string, JsonValue>, from: DialectName, to: DialectName) {
    this.#left = config;
    this.from = from;
    this.to = to;
  }

  /** Takes a field of the config, removing it from the rest. */
  take(key: string): JsonValue | undefined {
    const value = this.#left.get(key);
    this.#left.delete(key);
    return value;
  }

  has(key: string): boolean {
    return this.#left.has(key);
  }

  /** A field that has another name in the other dialect. */
  move(from: readonly (string | number)[], to: string, json: string): void {
    this.fields.set(to, json);
    this.movedFrom.set(pointer(to), pointer(...from));
  }

  drop(path: readonly (string | number)[], reason = `has no equivalent in ${this.to}`): void {
    this.dropped.push({ field: pointer(...path), from: "preset", reason });
  }

  /** A remaining field means the same in the other dialect, or is dropped if that does not know it. */
  keepTheRest(known: ReadonlySet<string>): void {
    for (const [key, value] of this.#left) {
      if (known.has(key)) this.fields.set(key, value.json);
      else this.drop([key]);
    }
  }
}

function mapLength(mapping: Mapping): void {
  const { from, to } = mapping;
  const [length, ...others] = ["max_output_tokens", "max_completion_tokens", "max_tokens"].flatMap((key) => {
    const value = mapping.take(key);
    return value ? [{ key, value }] : [];
  });
  if (!length) return;
  for (const { key } of others) mapping.drop([key], `${length.key} takes its place`);
  // Chat has two fields. The newer one also counts reasoning tokens, as that of responses does.
  const inChat = from === "responses" ? "max_completion_tokens" : "max_tokens";
  const key = { "chat/completions": inChat, messages: "max_tokens", responses: "max_output_tokens" }[to];
  mapping.move([length.key], key, length.value.json);
}

function mapStop(mapping: Mapping): void {
  const { to } = mapping;
  const stop = mapping.take("stop");
  const sequences = mapping.take("stop_sequences");
  if (stop && to === "messages") {
    mapping.move(["stop"], "stop_sequences", stop.text === undefined ? stop.json : `[${stop.json}]`);
  } else if (stop) mapping.drop(["stop"]);
  if (sequences && to === "chat/completions") mapping.move(["stop_sequences"], "stop", sequences.json);
  else if (sequences) mapping.drop(["stop_sequences"]);
}

function mapEffort(mapping: Mapping): void {
  const { from, to } = mapping;
  const effort = mapping.take("reasoning_effort");
  const reasoning = from === "responses" && to === "chat/completions" ? mapping.take("reasoning") : undefined;
  for (const [key, value] of reasoning?.members() ?? []) {
    if (key === "effort") mapping.move(["reasoning", key], "reasoning_effort", value.json);
    else mapping.drop(["reasoning", key]);
  }
  if (!effort) return;
  if (to !== "responses") mapping.drop(["reasoning_effort"]);
  else if (mapping.has("reasoning")) mapping.drop(["reasoning_effort"], "reasoning takes its place");
  else mapping.move(["reasoning_effort"], "reasoning", `{"effort":${effort.json}}`);
}

function mapFormat(mapping: Mapping): void {
  const { to, fields } = mapping;
  const text = to === "chat/completions" ? mapping.take("text") : undefined;
  for (const [key, value] of text?.members() ?? []) {
    const format = key === "format" ? formatInChat(value) : undefined;
    if (format !== undefined) fields.set("response_format", format);
    else if (key === "verbosity") fields.set("verbosity", value.json);
    else mapping.drop(["text", key]);
  }
  if (to !== "responses") return;
  const parts = new Map<string, string>();
  const format = mapping.take("response_format");
  const verbosity = mapping.take("verbosity");
  if (format) {
    const json = formatInResponses(format);
    if (json === undefined) mapping.drop(["response_format"]);
    else parts.set("format", json);
  }
  if (verbosity) parts.set("verbosity", verbosity.json);
  if (parts.size > 0) fields.set("text", `{${membersOf(parts)}}`);
}

/** Formats that chat and responses write alike. */
const plainFormats: ReadonlySet<string | undefined> = new Set(["text", "json_object"]);

/** Chat has a schema in a nested object, responses beside the type. */
function formatInResponses(format: JsonValue): string | undefined {
  const { type, json_schema: schema } = Object.fromEntries(format.members());
  if (plainFormats.has(type?.text)) return format.json;
  if (type?.text !== "json_schema" || !schema?.isObject) return undefined;
  const members = schema.members();
  members.delete("type");
  return `{${membersOf([["type", '"json_schema"'], ...jsonOf(members)])}}`;
}

function formatInChat(format: JsonValue): string | undefined {
  const members = format.members();
  const type = members.get("type")?.text;
  if (plainFormats.has(type)) return format.json;
  if (type !== "json_schema") return undefined;
  members.delete("type");
  return `{"type":"json_schema","json_schema":{${membersOf(jsonOf(members))}}}`;
}

function jsonOf(members: ReadonlyMap<string, JsonValue>): Map<string, string> {
  return new Map(members.entries().map(([key, value]) => [key, value.json]));
}

function mapTools(mapping: Mapping): void {
  const lost: JsonValue[] = [];
  const mapped = toolsOf(mapping.take("tools")).flatMap((tool, index) => {
    const json = toolIn(tool, mapping, (...keys) => mapping.drop(["tools", index, ...keys]));
    if (json !== undefined) {
      if (lost.length > 0) mapping.movedFrom.set(pointer("tools", index - lost.length), pointer("tools", index));
      return json;
    }
    mapping.drop(["tools", index]);
    lost.push(tool);
    return [];
  });
  if (mapped.length > 0) mapping.fields.set("tools", `[${mapped.join()}]`);
  else if (lost.length > 0) dropToolSettings(mapping);
  mapToolChoice(mapping, lost);
}

function mapToolChoice(mapping: Mapping, lostTools: readonly JsonValue[]): void {
  const choice = mapping.take("tool_choice");
  if (!choice) return;
  const name = nameIn(choice);
  const isLost = name !== undefined && lostTools.some((tool) => nameIn(tool) === name);
  const json = isLost ? undefined : toolChoiceIn(choice, mapping, (...keys) => mapping.drop(["tool_choice", ...keys]));
  if (json === undefined) mapping.drop(["tool_choice"]);
  else mapping.fields.set("tool_choice", json);
}

/**
 * The name of a server tool in messages, and of a choice there. Choices of such tools in other dialects are not
 * translated anyway.
 */
function nameIn(value: JsonValue): string | undefined {
  return value.members().get("name")?.text;
}

/** Drops the settings for tools of a preset that has none left. Upstreams refuse them without tools. */
function dropToolSettings(mapping: Mapping): void {
  for (const key of ["tool_choice", "parallel_tool_calls"]) {
    if (mapping.take(key)) mapping.drop([key], `none of the tools has an equivalent in ${mapping.to}`);
  }
}

function toolsOf(tools: JsonValue | undefined): JsonValue[] {
  if (!tools?.isList) return [];
  const { source, place } = tools;
  return toolsAt(source, place.start, "tools of the preset").map((each) => new JsonValue(source, each));
}
