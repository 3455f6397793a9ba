import { membersOf, type Piece, pieceAt } from "../json/json-pieces.ts";
import type { Answer } from "./request.ts";
import { inWorkspace } from "./session.ts";
import type { Dialect, One, PresetVersion, PresetWithVersion, SessionWorkspace } from "./types.ts";

/** A version, with its config as the stored text. */
export interface VersionContent {
  readonly version: number;
  readonly config: string;
  readonly prompt: string | null;
  readonly dialect: Dialect | null;
  readonly creatorId: string;
  readonly createdAt: string;
}

/** The dialect in which a version is edited and tried: chat completions if its own is unknown. */
export function dialectOf({ dialect }: Pick<VersionContent, "dialect">): Dialect {
  return dialect ?? "chat/completions";
}

/** The API path of a preset, or of something below it. */
export function presetPath(workspace: SessionWorkspace, slug: string, below = ""): string {
  return inWorkspace(`/api/v1/presets/${encodeURIComponent(slug)}${below}`, workspace);
}

/** Counts the versions by asking for a page past the last one, because versions may be large. */
export function versionCountPath(workspace: SessionWorkspace, slug: string): string {
  return presetPath(workspace, slug, "/versions?limit=1&offset=2147483647");
}

export function designatedVersion({ json, text }: Answer<One<PresetWithVersion>>): VersionContent {
  return contentFrom(json.data.designated_version, pieceAt(text, ["data", "designated_version", "config"]));
}

export function versionContent({ json, text }: Answer<One<PresetVersion>>): VersionContent {
  return contentFrom(json.data, pieceAt(text, ["data", "config"]));
}

function contentFrom(version: PresetVersion, config: string): VersionContent {
  return {
    version: version.version,
    config,
    prompt: version.system_prompt,
    dialect: version.dialect as Dialect | null,
    creatorId: version.creator_id,
    createdAt: version.created_at,
  };
}

/** The fields of a request that hold its system prompt and its messages. None of them is a field of a config. */
const promptFields: readonly string[] = ["messages", "system", "instructions", "input"];

/** The members of a config, without those that belong to a whole request. */
export function settingsOf(config: string): Piece[] {
  return membersOf(config).filter(({ key }) => !promptFields.includes(key));
}

/** The body of an inference request that becomes a version with this content. `config` is the text of a JSON object. */
export function creationBody(dialect: Dialect, config: string, prompt: string): string {
  const text = prompt === "" ? undefined : JSON.stringify(prompt);
  const members = settingsOf(config).map(({ key, text: value }) => `${JSON.stringify(key)}:${value}`);
  if (dialect === "chat/completions")
    members.push(text ? `"messages":[{"role":"system","content":${text}}]` : '"messages":[]');
  if (dialect === "messages") members.push('"messages":[]', ...(text ? [`"system":${text}`] : []));
  if (dialect === "responses" && text) members.push(`"instructions":${text}`);
  return `{${members.join(",")}}`;
}
