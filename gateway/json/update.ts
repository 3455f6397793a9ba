import { type Static, Type } from "typebox";
import { invalidRequest } from "../../services/platform/domain/domain-error.ts";
import { int32Max, presetDescriptionLengthMax, presetNameLengthMax } from "../../services/platform/domain/limits.ts";
import { surrogateViolations } from "../../services/platform/domain/text-violations.ts";
import { ambiguities, parseJsonObject } from "../../services/platform/json/json-text.ts";
import { schemaCheck } from "../../services/platform/json/schema-check.ts";
import { statusByName } from "./preset.ts";
import { statusSchema } from "./preset-schema.ts";

/** The body of PATCH /presets/{slug}. */
export const updateSchema = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: presetNameLengthMax, description: "Display name." })),
    description: Type.Optional(
      Type.Unsafe<string | null>({
        type: ["string", "null"],
        maxLength: presetDescriptionLengthMax,
        description: "Null removes it.",
      }),
    ),
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

const check = schemaCheck(updateSchema);

/** Many times what the longest name and description take, in any spelling. */
export const updateBytesMax = 65_536;

/** What is to be changed, as the preset service takes it. */
export function updateFrom(body: string) {
  const object = parseJsonObject(body);
  const { value } = object;
  const violations = [...check.violations(value, ""), ...ambiguities(object, [])];
  for (const [path, text] of Object.entries(value)) {
    if (typeof text === "string") violations.push(...surrogateViolations(path, text));
  }
  if (violations.length > 0) throw invalidRequest(violations);
  const { name, description, status, designated_version: designatedVersion } = value as Static<typeof updateSchema>;
  return {
    updateMask: { paths: Object.keys(value) },
    ...(name === undefined ? {} : { name }),
    ...(typeof description === "string" ? { description } : {}),
    ...(status === undefined ? {} : { status: statusByName[status] }),
    ...(designatedVersion === undefined ? {} : { designatedVersion }),
  };
}
