import { invalidRequest } from "../../../services/platform/domain/domain-error.ts";
import { int32Max, slugPattern, slugRule } from "../../../services/platform/domain/limits.ts";
import type { MemberPlace } from "../../../services/platform/json/json-scan.ts";
import { versionNotFound } from "../preset-refusals.ts";
import { type JsonSource, textAt } from "./json-walk.ts";

/** The preset that a request names. */
export interface PresetReference {
  readonly slug: string;
  /** The version, if the request names one; undefined: the designated one. */
  readonly version: number | undefined;
}

/** What `model` names: a model, a preset, or both. */
export interface ModelReference {
  /** Empty if it names none. */
  readonly model: string;
  readonly preset: PresetReference | undefined;
}

/** What comes before a slug in the name of a model. */
export const presetMark = "@preset/";

/** No model is named like these, so a preset is meant, also where it is misspelt. */
const meantPreset = /^\s*@presets?\b|@presets?\//i;

/** Whether a name of a model refers to a preset, or tries to. */
export function namesPreset(model: string): boolean {
  return meantPreset.test(model);
}

/** Reads the member `model`. Throws if it is not a name, or if its reference to a preset is malformed. */
export function modelReferenceAt(source: JsonSource, place: MemberPlace): ModelReference {
  const name = nameAt(source, place, "model");
  const at = name.indexOf(presetMark);
  if (at === -1 ? namesPreset(name) : /^\s/.test(name)) throw invalid("model", howToWrite.model);
  if (at !== -1)
    return { model: name.slice(0, at), preset: referenceFrom(name.slice(at + presetMark.length), "model") };
  return { model: name, preset: undefined };
}

/** Reads the member `preset`. Throws if it is not a name, or malformed. */
export function presetReferenceAt(source: JsonSource, place: MemberPlace): PresetReference {
  return referenceFrom(nameAt(source, place, "preset"), "preset");
}

const howToWrite = {
  model: `must be written @preset/slug, @preset/slug@7 or vendor/model@preset/slug to name a preset; a slug is ${slugRule}, a version 1, 2, 3 …`,
  preset: `must be written slug or slug@7; a slug is ${slugRule}, a version 1, 2, 3 …`,
};

type Field = keyof typeof howToWrite;

function referenceFrom(name: string, field: Field): PresetReference {
  const reference = presetReferenceIn(name);
  if (!reference) throw invalid(field, howToWrite[field]);
  return reference;
}

/** What is written `slug` or `slug@7`; undefined if it is written in another way. */
export function presetReferenceIn(name: string): PresetReference | undefined {
  const at = name.indexOf("@");
  const slug = at === -1 ? name : name.slice(0, at);
  const version = at === -1 ? undefined : name.slice(at + 1);
  const isVersion = version === undefined || versionPattern.test(version);
  if (!slugPattern.test(slug) || !isVersion) return undefined;
  if (version === undefined) return { slug, version: undefined };
  const number = Number(version);
  if (number > int32Max) throw versionNotFound(slug, number);
  return { slug, version: number };
}

const versionPattern = /^[1-9][0-9]{0,9}$/;

/** Much more than the longest vendor, model, slug and version take together. */
const nameBytesMax = 4_096;

function nameAt(source: JsonSource, { valueStart, valueEnd }: MemberPlace, field: Field): string {
  const name = textAt(source, valueStart, valueEnd, nameBytesMax);
  if (name === undefined) throw invalid(field, `must be a string of at most ${nameBytesMax} bytes`);
  return name;
}

function invalid(path: Field, message: string): Error {
  return invalidRequest([{ path, message }]);
}
