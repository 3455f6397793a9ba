import { openBracket } from "../../../services/platform/json/json-outline.ts";
import { elementsAt } from "../request/json-walk.ts";
import type { MergePlan } from "./plan.ts";
import { type Dropped, type FieldOrigin, type Provenance, pointer } from "./provenance.ts";
import { toolsMax } from "./tools.ts";

/** Computes where every part of a merged request comes from. */
export function provenanceOf(plan: MergePlan, pinned: boolean): Provenance {
  const { preset } = plan;
  return {
    preset: preset ? { slug: preset.slug, version: preset.version, version_id: preset.versionId, pinned } : null,
    fields: Object.fromEntries(fieldsOf(plan)),
    dropped: preset ? [...preset.dropped, ...droppedBy(plan)] : [],
  };
}

const fromRequest: FieldOrigin = { from: "request" };
const fromPreset: FieldOrigin = { from: "preset" };
const overPreset: FieldOrigin = { from: "request", overrides: "preset" };

function* fieldsOf(plan: MergePlan): Generator<readonly [string, FieldOrigin]> {
  const { body, preset, changes, added, displaced, prompt } = plan;
  const overriding = new Set(displaced.values());
  for (const { key } of body.members) {
    if (changes.has(key) && !changes.get(key)) continue;
    if (key === "tools") yield* toolsOf(plan);
    else if (key === prompt?.key)
      yield [pointer(key), { from: key === "messages" && body.sent(key) ? "request" : prompt.from }];
    else if (overriding.has(key)) yield [pointer(key), overPreset];
    else yield [pointer(key), changes.has(key) && preset?.fields.has(key) ? fromPreset : fromRequest];
  }
  for (const key of added.keys()) {
    if (key === "tools") yield* toolsOf(plan);
    else yield [pointer(key), fromPreset];
  }
  if (prompt) yield [prompt.pointer, { from: prompt.from }];
}

/** Tools are listed one by one. */
function* toolsOf({ body, preset, tools }: MergePlan): Generator<readonly [string, FieldOrigin]> {
  const own = body.sent("tools");
  let origins: readonly FieldOrigin[] = preset?.tools.map(() => fromPreset) ?? [];
  if (tools) origins = tools.origins;
  else if (own) {
    const isList = body.bytes[own.valueStart] === openBracket;
    const places = isList ? elementsAt(body, own.valueStart, toolsMax + 1) : [];
    origins = places.length > toolsMax ? [] : places.map(() => fromRequest);
  }
  if (origins.length === 0) yield [pointer("tools"), own || !preset?.fields.has("tools") ? fromRequest : fromPreset];
  for (const [index, origin] of origins.entries()) yield [pointer("tools", index), origin];
}

function* droppedBy({ preset, displaced, tools, prompt }: MergePlan): Generator<Dropped> {
  const inConfig = (field: string) => preset?.movedFrom.get(field) ?? field;
  for (const [key, by] of displaced) {
    if (key !== by) yield { field: inConfig(pointer(key)), from: "preset", reason: `the request sends ${by}` };
  }
  for (const index of tools?.displaced ?? []) {
    const field = inConfig(pointer("tools", index));
    yield { field, from: "preset", reason: "the request sends a tool like it" };
  }
  if (preset?.prompt && !prompt) {
    yield { field: "/system_prompt", from: "preset", reason: "the request's own was asked to stand alone" };
  }
}
