import { invalidRequest } from "../../../services/platform/domain/domain-error.ts";
import { openBracket } from "../../../services/platform/json/json-outline.ts";
import { namesPreset } from "../request/model-reference.ts";
import type { RequestBody } from "../request/request-body.ts";
import type { PreparedPreset } from "./prepared-preset.ts";

/** The models of a request, and whether they are its own or the preset's. */
export interface Models {
  /** Undefined if there are only `models`. */
  readonly model: string | undefined;
  readonly models: readonly string[];
  readonly areOwn: boolean;
}

/** If the request names any model, both `model` and `models` of the preset are displaced. A reference to a preset is no model. */
export function modelsOf(body: RequestBody, preset: PreparedPreset | undefined): Models {
  const model = body.modelReference?.model || undefined;
  const models = ownModels(body);
  if (model !== undefined || models.length > 0) return { model, models, areOwn: true };
  if (!preset || (preset.model === undefined && preset.models.length === 0)) throw noModel(preset);
  for (const name of [preset.model ?? "", ...preset.models]) {
    // Passed on, it would make some upstreams look for a preset of their own.
    if (namesPreset(name)) throw presetOfPreset(preset, name);
  }
  return { model: preset.model, models: preset.models, areOwn: false };
}

/** The list is parsed in one go. No sensible list is longer. */
const modelsBytesMax = 65_536;

function ownModels(body: RequestBody): string[] {
  const member = body.sent("models");
  if (!member) return [];
  const { valueStart, valueEnd } = member;
  const isList = body.bytes[valueStart] === openBracket && valueEnd - valueStart <= modelsBytesMax;
  const models: unknown[] = isList ? JSON.parse(body.bytes.toString("utf8", valueStart, valueEnd)) : [undefined];
  if (!models.every(isName)) {
    throw invalid("models", `must be a list of names of models, of at most ${modelsBytesMax} bytes`);
  }
  if (models.some(namesPreset)) {
    throw invalid("models", "must not hold a reference to a preset: name the preset in model or in preset");
  }
  return models;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function noModel(preset: PreparedPreset | undefined): Error {
  const missing = preset ? `is required: the preset ${preset.slug}@${preset.version} names none` : "is required";
  return invalid("model", missing);
}

function presetOfPreset({ slug, version }: PreparedPreset, name: string): Error {
  return invalid("model", `must be sent: the preset ${slug}@${version} names ${name}, which refers to another preset`);
}

function invalid(path: string, message: string): Error {
  return invalidRequest([{ path, message }]);
}
