import type { TSchema } from "typebox";
import { unknownOfModel } from "./model.ts";
import { Type } from "./schema-builder.ts";
import { componentSchema, nullable } from "./schema-parts.ts";

// The JSON that model.ts writes. What is not known about a model is null or empty.

const unknown = { description: "Not known: always null." };
const noneKnown = Type.Array(Type.String(), { maxItems: 0, description: "Not known: always empty." });
const price = Type.String({ description: 'Not metered: always "0".' });

const isModel = Type.String({ description: "Always `model`." });

export const modelSchema = Type.Object(
  {
    id: Type.String({
      description: "What a request names as its `model`: `@preset/{slug}`, or a model of an upstream.",
    }),
    object: isModel,
    type: isModel,
    canonical_slug: Type.String({ description: "The same as `id`." }),
    name: Type.String({ description: "For people." }),
    display_name: Type.String({ description: "The same as `name`." }),
    owned_by: Type.String({ description: "`setpoint` for a preset, otherwise `upstream`." }),
    created: Type.Integer({
      minimum: 0,
      description: "When the preset was created, in seconds since 1970; 0 if that is not known.",
    }),
    created_at: Type.String({ format: "date-time", description: "The same as `created`." }),
    description: Type.String({ description: "What it is." }),
    context_length: nullable([], unknown),
    architecture: Type.Object({
      modality: nullable([], unknown),
      input_modalities: noneKnown,
      output_modalities: noneKnown,
    }),
    pricing: Type.Object({ prompt: price, completion: price }),
    top_provider: Type.Object({ is_moderated: Type.Boolean({ description: "Always false." }) }),
    per_request_limits: nullable([], unknown),
    default_parameters: nullable([], unknown),
    supported_parameters: noneKnown,
    supported_voices: nullable([], unknown),
    links: Type.Object({ details: Type.String({ description: "The path of a page with more details." }) }),
  },
  {
    description: "What a request may name as its model.",
    examples: [
      {
        id: "@preset/support-bot",
        object: "model",
        type: "model",
        canonical_slug: "@preset/support-bot",
        name: "Support bot",
        display_name: "Support bot",
        owned_by: "setpoint",
        created: 1_773_480_266,
        created_at: "2026-03-14T09:24:26.000Z",
        description: "Preset Support bot, version 3: Answers customers.",
        ...unknownOfModel,
        links: { details: "/api/v1/presets/support-bot" },
      },
    ],
  },
);

export const modelsSchema: TSchema = Type.Object({
  object: Type.String({ description: "Always `list`." }),
  data: Type.Array(componentSchema("Model"), { description: "Empty past the end." }),
  links: Type.Object({ next: nullable([], { description: "Always null: use `offset` for the next page." }) }),
  total_count: Type.Integer({
    minimum: 0,
    description: "How many there are in total, not on this page.",
    examples: [1],
  }),
  first_id: nullable("string", { description: "The id of the first model on this page." }),
  last_id: nullable("string", { description: "The id of the last one: the `after_id` of the next page." }),
  has_more: Type.Boolean({
    description: "Whether there is a next page; with `before_id`, whether there is one before.",
  }),
});

export const modelCountSchema: TSchema = Type.Object({
  data: Type.Object({ count: Type.Integer({ minimum: 0, description: "How many models are listed.", examples: [1] }) }),
});
