import { invalidRequest } from "../../../services/platform/domain/domain-error.ts";
import { type PresetReference, presetReferenceAt } from "./model-reference.ts";
import type { RequestBody } from "./request-body.ts";

/** The preset that the request names in `model`, in `preset`, or in both. Throws if these differ, or one is malformed. */
export function presetReferenceOf(body: RequestBody): PresetReference | undefined {
  const inModel = body.modelReference?.preset;
  const field = body.sent("preset");
  if (!field) return inModel;
  const inField = presetReferenceAt(body, field);
  if (inModel && !isSame(inModel, inField)) {
    const message = `must be the preset that model names, or be left out: model names ${shown(inModel)}`;
    throw invalidRequest([{ path: "preset", message }]);
  }
  return inField;
}

function isSame(a: PresetReference, b: PresetReference): boolean {
  return a.slug === b.slug && a.version === b.version;
}

function shown({ slug, version }: PresetReference): string {
  return version === undefined ? slug : `${slug}@${version}`;
}
