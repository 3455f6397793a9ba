import type { DialectName } from "../../gateway/dialects/dialect-name.ts";
import { mergeRequest, type OutgoingRequest, preparePreset } from "../../gateway/inference/merge/merge.ts";
import { type RequestBody, readRequestBody } from "../../gateway/inference/request/request-body.ts";

interface TestPreset {
  /** A value, or JSON text. */
  readonly config?: object | string;
  readonly prompt?: string;
  /** Null, or not given: unknown. */
  readonly dialect?: DialectName | null;
}

/** Merges a preset into a request, which is a value or JSON text. */
export function mergeInto(
  dialect: DialectName,
  request: object | string,
  { config = {}, prompt, dialect: from = null }: TestPreset,
  { replaceSystemPrompt = false, pinned = false } = {},
): OutgoingRequest {
  const body = readRequestBody(Buffer.from(textOf(request))) as RequestBody;
  const content = { slug: "a", version: 7, versionId: "id-7", dialect: from, configJson: textOf(config) };
  const prepared = preparePreset({ ...content, systemPrompt: prompt }, dialect);
  return mergeRequest(body, prepared, dialect, { pinned, replaceSystemPrompt });
}

export function textOfParts(parts: readonly Buffer[]): string {
  return Buffer.concat(parts).toString();
}

export function jsonOf(outgoing: OutgoingRequest): Record<string, unknown> {
  return JSON.parse(textOfParts(outgoing.parts));
}

function textOf(json: object | string): string {
  return typeof json === "string" ? json : JSON.stringify(json);
}
