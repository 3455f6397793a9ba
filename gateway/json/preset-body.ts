import { int32Max, presetDescriptionLengthMax, presetNameLengthMax } from "../../services/platform/domain/limits.ts";
import { bodyReader } from "./body-reader.ts";
import { statusByName } from "./preset.ts";
import { statusSchema } from "./preset-schema.ts";
import { Type } from "./schema-builder.ts";
import { optionalText } from "./schema-parts.ts";

export const presetUpdateSchema = Type.Object(
  {
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: presetNameLengthMax, description: "Display name, not only spaces." }),
    ),
    description: optionalText({ maxLength: presetDescriptionLengthMax, description: "Null removes it." }),
    status: Type.Optional(statusSchema),
    designated_version: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: int32Max,
        description: "The number of the version to serve: a rollback.",
      }),
    ),
  },
  { additionalProperties: false, minProperties: 1, examples: [{ designated_version: 1 }] },
);

const readUpdate = bodyReader(presetUpdateSchema);

/** The body of PATCH /presets/{slug}, as the preset service takes it. */
export function presetUpdateFrom(body: string | undefined) {
  const update = readUpdate(body);
  const { name, description, status, designated_version: designatedVersion } = update;
  return {
    updateMask: { paths: Object.keys(update) },
    ...(name === undefined ? {} : { name }),
    ...(typeof description === "string" ? { description } : {}),
    ...(status === undefined ? {} : { status: statusByName[status] }),
    ...(designatedVersion === undefined ? {} : { designatedVersion }),
  };
}
