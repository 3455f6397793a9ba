import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Preset } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { isoTimeFrom } from "../../services/platform/domain/iso-time.ts";

export function presetModelId({ slug }: Preset): string {
  return `@preset/${slug}`;
}

/** A preset as a model that a request may name. */
export function presetModelJson(preset: Preset): string {
  return presetJson(preset, presetModelId(preset), preset.designatedVersionNumber);
}

/** The same, pinned to one of its versions. */
export function pinnedModelJson(preset: Preset, version: number): string {
  return presetJson(preset, `${presetModelId(preset)}@${version}`, version);
}

function presetJson({ slug, name, description, createTime }: Preset, id: string, number: number): string {
  // An older preset service does not report the number of the designated version.
  const version = number > 0 ? `, version ${number}` : "";
  return modelJson({
    id,
    name,
    owner: "setpoint",
    createdMs: createTime ? timestampMs(createTime) : 0,
    description: `Preset ${name}${version}${description ? `: ${description}` : ""}`,
    details: `/api/v1/presets/${slug}`,
  });
}

/** A model that an upstream lists under exactly this name. Nothing else is known about it. */
export function upstreamModelJson(name: string): string {
  return modelJson({
    id: name,
    name,
    owner: "upstream",
    createdMs: 0,
    description: "Served by an upstream.",
    details: "/api/v1/models",
  });
}

interface Model {
  readonly id: string;
  readonly name: string;
  readonly owner: "setpoint" | "upstream";
  readonly createdMs: number;
  readonly description: string;
  readonly details: string;
}

/** What is not known about any model. OpenRouter's clients require every field. */
export const unknownOfModel = {
  context_length: null,
  architecture: { modality: null, input_modalities: [], output_modalities: [] },
  pricing: { prompt: "0", completion: "0" },
  top_provider: { is_moderated: false },
  per_request_limits: null,
  default_parameters: null,
  supported_parameters: [],
  supported_voices: null,
};

/** What clients of OpenRouter, OpenAI and Anthropic require, in one object: no field means two things. */
function modelJson({ id, name, owner, createdMs, description, details }: Model): string {
  return JSON.stringify({
    id,
    object: "model",
    type: "model",
    canonical_slug: id,
    name,
    display_name: name,
    owned_by: owner,
    created: Math.floor(createdMs / 1000),
    created_at: isoTimeFrom(createdMs),
    description,
    ...unknownOfModel,
    links: { details },
  });
}
