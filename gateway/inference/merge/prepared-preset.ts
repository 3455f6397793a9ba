import type { DialectName } from "../../dialects/dialect-name.ts";
import type { PresetContent } from "../preset-content.ts";
import type { JsonSource } from "../request/json-walk.ts";
import { configIn } from "./config-in-dialect.ts";
import type { Dropped } from "./provenance.ts";
import { type PresetTool, toolIdentity, toolsAt } from "./tools.ts";

/** A version of a preset, prepared to be spliced into requests of one dialect. */
export interface PreparedPreset {
  readonly slug: string;
  readonly version: number;
  readonly versionId: string;
  /** The members of the config in their order. */
  readonly fields: ReadonlyMap<string, PresetField>;
  /** The elements of its `tools`. */
  readonly tools: readonly PresetTool[];
  /** Undefined if the config names none, or only `models`. */
  readonly model: string | undefined;
  readonly models: readonly string[];
  /** The system prompt as JSON text without its quotes; undefined if there is none. */
  readonly prompt: Buffer | undefined;
  /** What has no equivalent in the dialect. */
  readonly dropped: readonly Dropped[];
  /** For fields that moved, the JSON pointers into the original config, by their pointers in the dialect. */
  readonly movedFrom: ReadonlyMap<string, string>;
  /** About how much memory it takes. */
  readonly bytes: number;
}

/** A field of a config as it is sent. */
interface PresetField {
  readonly key: string;
  /** The key with its colon, and the value. */
  readonly member: Buffer;
  readonly value: Buffer;
}

/** The size of an object of a few fields in addition to its texts. */
const overheadBytes = 1_024;
const fieldBytes = 256;

/** Prepares a version for requests of a dialect. The result is immutable, so it can be cached. */
export function preparePreset(content: PresetContent, dialect: DialectName): PreparedPreset {
  const { slug, version, versionId, configJson, systemPrompt = "" } = content;
  const { fields: texts, dropped, movedFrom } = configIn(dialect, configJson, content.dialect);
  const fields = new Map(texts.entries().map(([key, json]) => [key, presetField(key, json)]));
  const model = parsed<string>(fields.get("model")) || undefined;
  const models = parsed<string[]>(fields.get("models"))?.filter((name) => name !== "") ?? [];
  // Empty names and lists count as absent.
  if (model === undefined) fields.delete("model");
  if (models.length === 0) fields.delete("models");
  const tools = toolsOf(fields.get("tools"));
  // Some upstreams refuse a text block of only white space.
  const prompt = systemPrompt.trim() === "" ? undefined : Buffer.from(JSON.stringify(systemPrompt).slice(1, -1));
  const contentBytes = fields.values().reduce((sum, { member }) => sum + member.length, prompt?.length ?? 0);
  return {
    slug,
    version,
    versionId,
    fields,
    tools,
    model,
    models,
    prompt,
    dropped,
    movedFrom,
    bytes: overheadBytes + contentBytes + fieldBytes * (fields.size + tools.length + dropped.length),
  };
}

function presetField(key: string, json: string): PresetField {
  const name = `${JSON.stringify(key)}:`;
  const member = Buffer.from(name + json);
  return { key, member, value: member.subarray(Buffer.byteLength(name)) };
}

function toolsOf(field: PresetField | undefined): PresetTool[] {
  if (!field) return [];
  const source = sourceOf(field.value);
  return toolsAt(source, 0, "tools of the preset").map((place) => ({
    identity: toolIdentity(source, place),
    json: field.value.subarray(place.start, place.end),
  }));
}

/** Without known ends of long values, all of them are scanned: a config is small. */
function sourceOf(bytes: Buffer): JsonSource {
  return { bytes, longValues: new Map() };
}

function parsed<Value>(field: PresetField | undefined): Value | undefined {
  return field && JSON.parse(field.value.toString());
}
