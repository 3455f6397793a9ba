import { invalidRequest } from "../../../services/platform/domain/domain-error.ts";
import { int32Max, slugPattern, slugRule } from "../../../services/platform/domain/limits.ts";
import { versionNotFound } from "../preset-refusals.ts";
import { textAt } from "./json-walk.ts";
import type { BodyMember, RequestBody } from "./request-body.ts";

/** The preset that a request names. */
export interface PresetReference {
  readonly slug: string;
  /** The version, where the request names one; undefined: the designated one. */
  readonly version: number | undefined;
}

/** What `model` says: a model, a preset, or both. */
export interface ModelReference {
  /** Empty where it names none. */
  readonly model: string;
  readonly preset: PresetReference | undefined;
}

/** What stands ahead of a slug in the name of a model. */
export const presetMark = "@preset/";

/** The preset that the request names, in `model`, in `preset`, or the same in both. Throws where it names two, or none rightly. */
export function presetReferenceOf(body: RequestBody): PresetReference | undefined {
  const inModel = body.modelReference?.preset;
  const field = body.sent("preset");
  if (!field) return inModel;
  const inField = referenceFrom(nameAt(body, field), "preset");
  if (inModel && !isSame(inModel, inField)) {
    throw invalid("preset", `must be the preset that model names, or be left out: model names ${shown(inModel)}`);
  }
  return inField;
}

/** For the body, which remembers it. */
export function readModelReference(body: RequestBody): ModelReference | undefined {
  const member = body.sent("model");
  if (!member) return undefined;
  const name = nameAt(body, member);
  const at = name.indexOf(presetMark);
  if (at !== -1)
    return { model: name.slice(0, at), preset: referenceFrom(name.slice(at + presetMark.length), "model") };
  // A model of this name there is not.
  if (/^@presets?\b/i.test(name)) throw invalid("model", howToWrite.model);
  return { model: name, preset: undefined };
}

/** Whether a name of a model refers to a preset. */
export function namesPreset(model: string): boolean {
  return model.includes(presetMark);
}

function isSame(a: PresetReference, b: PresetReference): boolean {
  return a.slug === b.slug && a.version === b.version;
}

const howToWrite = {
  model: `must be written @preset/slug, @preset/slug@7 or vendor/model@preset/slug to name a preset; a slug is ${slugRule}, a version 1, 2, 3 …`,
  preset: `must be written slug or slug@7; a slug is ${slugRule}, a version 1, 2, 3 …`,
};

function referenceFrom(name: string, field: keyof typeof howToWrite): PresetReference {
  const at = name.indexOf("@");
  const slug = at === -1 ? name : name.slice(0, at);
  const version = at === -1 ? undefined : name.slice(at + 1);
  const isVersion = version === undefined || versionPattern.test(version);
  if (!slugPattern.test(slug) || !isVersion) throw invalid(field, howToWrite[field]);
  if (version === undefined) return { slug, version: undefined };
  const number = Number(version);
  if (number > int32Max) throw versionNotFound(slug, number);
  return { slug, version: number };
}

const versionPattern = /^[1-9][0-9]{0,9}$/;

/** The longest that a vendor, a model, a slug and a version may be together, and much more. */
const nameBytesMax = 4_096;

function nameAt(body: RequestBody, { key, valueStart, valueEnd }: BodyMember): string {
  const name = textAt(body, valueStart, valueEnd, nameBytesMax);
  if (name === undefined) throw invalid(key, `must be a string of at most ${nameBytesMax} bytes`);
  return name;
}

function shown({ slug, version }: PresetReference): string {
  return version === undefined ? slug : `${slug}@${version}`;
}

function invalid(path: string, message: string): Error {
  return invalidRequest([{ path, message }]);
}
