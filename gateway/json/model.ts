import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Preset } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";

/** A preset as a model that a request may name. */
export function presetModelJson({ slug, name, description, createTime, designatedVersionNumber }: Preset): string {
  // An older preset service does not report the number.
  const version = designatedVersionNumber > 0 ? `, version ${designatedVersionNumber}` : "";
  return modelJson({
    id: `@preset/${slug}`,
    name,
    created: createTime ? Math.floor(timestampMs(createTime) / 1000) : 0,
    description: `Preset ${name}${version}${description ? `: ${description}` : ""}`,
    details: `/api/v1/presets/${slug}`,
  });
}

/** A model that an upstream lists under exactly this name. Nothing else is known about it. */
export function upstreamModelJson(name: string): string {
  return modelJson({ id: name, name, created: 0, description: "Served by an upstream.", details: "/api/v1/models" });
}

interface Model {
  readonly id: string;
  readonly name: string;
  readonly created: number;
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

function modelJson({ id, name, created, description, details }: Model): string {
  return JSON.stringify({
    id,
    canonical_slug: id,
    name,
    created,
    description,
    ...unknownOfModel,
    links: { details },
  });
}
