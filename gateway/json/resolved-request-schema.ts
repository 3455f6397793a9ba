import { Type } from "./schema-builder.ts";
import { uuid } from "./schema-parts.ts";

const origin = Type.Object(
  {
    from: Type.Enum(["request", "preset", "merged"], {
      type: "string",
      description: "`merged`: the preset's system prompt, followed by the request's own.",
    }),
    overrides: Type.Optional(Type.Enum(["preset"], { type: "string", description: "Whose value was overridden." })),
  },
  { description: "Where a part of the request comes from." },
);

const provenance = Type.Object({
  preset: Type.Object({
    slug: Type.String({ description: "The preset." }),
    version: Type.Integer({ minimum: 1, description: "The version of it that was merged." }),
    version_id: uuid("Identifier of the version."),
    pinned: Type.Boolean({ description: "Whether the request names this version. If not, it is the designated one." }),
  }),
  fields: Type.Object(
    {},
    {
      additionalProperties: origin,
      description:
        "By JSON pointer into `body`: every top-level field, each of the tools, and the system prompt. If two pointers match a place, the longer one applies.",
    },
  ),
  dropped: Type.Array(
    Type.Object({
      field: Type.String({ description: "JSON pointer into the config of the preset, or `/system_prompt`." }),
      from: Type.Enum(["request", "preset"], { type: "string" }),
      reason: Type.String({ description: "Why it is not sent." }),
    }),
    { description: "Fields of the preset or the request that are not in `body`." },
  ),
});

export const resolvedRequestSchema = Type.Object(
  {
    body: Type.Object({}, { additionalProperties: true, description: "The request as it would be sent." }),
    provenance,
  },
  {
    description: "A request with its preset merged into it.",
    examples: [
      {
        body: {
          messages: [
            { role: "system", content: "You answer questions about invoices, briefly." },
            { role: "user", content: "Why was I charged twice?" },
          ],
          temperature: 0.7,
          model: "openai/gpt-4o",
        },
        provenance: {
          preset: {
            slug: "support-bot",
            version: 2,
            version_id: "0198c5a1-7d42-7a3e-9c61-2f0b8d4e6a17",
            pinned: false,
          },
          fields: {
            "/messages": { from: "request" },
            "/temperature": { from: "request", overrides: "preset" },
            "/model": { from: "preset" },
            "/messages/0": { from: "preset" },
          },
          dropped: [],
        },
      },
    ],
  },
);
