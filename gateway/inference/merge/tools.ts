import { invalidRequest } from "../../../services/platform/domain/domain-error.ts";
import { openBrace, openBracket } from "../../../services/platform/json/json-outline.ts";
import { elementsAt, type JsonSource, type Place, textAt, valuesAt } from "../request/json-walk.ts";
import type { BodyMember, RequestBody } from "../request/request-body.ts";
import type { FieldOrigin } from "./provenance.ts";

/** A tool of a preset. */
export interface PresetTool {
  /** Undefined if nothing distinguishes it from others: then it is never replaced. */
  readonly identity: string | undefined;
  readonly json: Buffer;
}

/** The tools of a preset and of a request in one list. */
export interface MergedTools {
  /** The JSON of the list. */
  readonly parts: readonly Buffer[];
  readonly origins: readonly FieldOrigin[];
  /**
   * The preset's tools, by index, that are left out: the request's tool has replaced an earlier one with the same
   * identity.
   */
  readonly displaced: readonly number[];
}

/** Far more than any model takes. */
export const toolsMax = 1_000;

/** The tools of the list that begins here. Throws if there are too many. */
export function toolsAt(source: JsonSource, start: number, path: string): Place[] {
  const places = elementsAt(source, start, toolsMax + 1);
  if (places.length <= toolsMax) return places;
  throw invalidRequest([{ path, message: `must have at most ${toolsMax} elements` }]);
}

/** Names are read to be compared. No sensible name is longer. */
const nameBytesMax = 1_024;

const namedServerTools: ReadonlySet<unknown> = new Set(["openrouter:advisor", "openrouter:subagent"]);

/** What distinguishes the tool that begins here from others; undefined if nothing does. */
export function toolIdentity(source: JsonSource, { start }: Place): string | undefined {
  if (source.bytes[start] !== openBrace) return undefined;
  const values = valuesAt(source, start, ["type", "name", "function", "custom", "parameters"]);
  const type = textOf(source, values.type);
  if (type === undefined || type === "function" || type === "custom") {
    const name = textOf(source, values.name) ?? nameIn(source, values.function) ?? nameIn(source, values.custom);
    return name === undefined ? undefined : `function ${name}`;
  }
  return namedServerTools.has(type) ? `${type} ${nameIn(source, values.parameters) ?? ""}` : type;
}

function nameIn(source: JsonSource, place: Place | undefined): string | undefined {
  if (!place || source.bytes[place.start] !== openBrace) return undefined;
  return textOf(source, valuesAt(source, place.start, ["name"]).name);
}

function textOf(source: JsonSource, place: Place | undefined): string | undefined {
  return place && textAt(source, place.start, place.end, nameBytesMax);
}

/**
 * The preset's tools in their order, each replaced by the request's tool of the same identity, and after them the other
 * tools of the request. None of the request's is lost: of two with the same identity, the second is put at the end.
 */
export function mergeTools(presetTools: readonly PresetTool[], body: RequestBody, member: BodyMember): MergedTools {
  if (body.bytes[member.valueStart] !== openBracket)
    throw invalidRequest([{ path: "tools", message: "must be a list" }]);
  const places = toolsAt(body, member.valueStart, "tools");
  const known = new Set(presetTools.map(({ identity }) => identity));
  const own = new Map<string, Buffer>();
  const behind: Buffer[] = [];
  for (const place of places) {
    const identity = toolIdentity(body, place);
    const json = body.bytes.subarray(place.start, place.end);
    if (identity === undefined || !known.has(identity) || own.has(identity)) behind.push(json);
    else own.set(identity, json);
  }
  const merged: { readonly json: Buffer; readonly origin: FieldOrigin }[] = [];
  const displaced: number[] = [];
  const placed = new Set<string>();
  for (const [index, { identity = "", json }] of presetTools.entries()) {
    const replacement = own.get(identity);
    if (!replacement) merged.push({ json, origin: { from: "preset" } });
    else if (placed.has(identity)) displaced.push(index);
    else merged.push({ json: replacement, origin: { from: "request", overrides: "preset" } });
    placed.add(identity);
  }
  for (const json of behind) merged.push({ json, origin: { from: "request" } });
  return { parts: listOf(merged.map(({ json }) => json)), origins: merged.map(({ origin }) => origin), displaced };
}

const open = Buffer.from("[");
const between = Buffer.from(",");
const close = Buffer.from("]");

function listOf(elements: readonly Buffer[]): Buffer[] {
  return [open, ...elements.flatMap((element, index) => (index === 0 ? [element] : [between, element])), close];
}
