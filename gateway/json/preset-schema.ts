import type { TSchema } from "typebox";
import { presetDescriptionLengthMax, presetNameLengthMax } from "../../services/platform/domain/limits.ts";
import { dialectNames } from "../dialects/dialect-name.ts";
import { nameSchema } from "./enum-names.ts";
import { presetActionByName, statusByName } from "./preset.ts";
import { Type } from "./schema-builder.ts";
import { componentSchema, nullable, time, uuid } from "./schema-parts.ts";

// The JSON that preset.ts writes. Every field is always there; one without a value is null.

export const statusSchema = nameSchema(statusByName, {
  description:
    "`active`: in use. `disabled`: out of use, but takes new versions. `archived`: retired, takes no new version until it is made active again.",
});

const versionExample = {
  id: "0198c5a1-7d42-7a3e-9c61-2f0b8d4e6a17",
  preset_id: "0198c59f-3b10-7f2c-8a55-61d07c9be204",
  version: 2,
  system_prompt: "You answer questions about invoices, briefly.",
  dialect: "chat/completions",
  creator_id: "user_2xQ7LhV0bTn4RkYc9WmDsEaP",
  created_at: "2026-03-14T09:26:53.589Z",
  updated_at: "2026-03-14T09:26:53.589Z",
  config: { model: "openai/gpt-4o", temperature: 0.2 },
};

const presetExample = {
  id: versionExample.preset_id,
  name: "Support bot",
  slug: "support-bot",
  description: null,
  status: "active",
  status_updated_at: null,
  created_at: "2026-03-14T09:24:26.128Z",
  updated_at: versionExample.created_at,
  creator_user_id: versionExample.creator_id,
  workspace_id: "0198c2d4-90e7-7b61-b3f8-5c1a7e42d09b",
  designated_version_id: versionExample.id,
};

export const versionSchema = Type.Object(
  {
    id: uuid("Identifier of the version."),
    preset_id: uuid("The preset that the version belongs to."),
    version: Type.Integer({
      minimum: 1,
      description: "1 for the first version of a preset, then 2, 3, … without gaps.",
    }),
    system_prompt: nullable("string", { description: "Null if the request had none." }),
    dialect: nullable("string", {
      enum: [...dialectNames, null],
      description: "The dialect (inference API) of the request. Null if it is not known.",
    }),
    creator_id: Type.String({ description: "The user whose key created the version." }),
    created_at: time("When the version was created."),
    updated_at: time("Equals `created_at`: a version never changes."),
    config: anyFields(
      "The fields of the request that a preset keeps, under the names and with the values that were sent.",
    ),
  },
  { description: "An immutable snapshot of a preset.", examples: [versionExample] },
);

const presetFields = {
  id: uuid("Identifier of the preset."),
  name: Type.String({
    minLength: 1,
    maxLength: presetNameLengthMax,
    description: "Display name. The slug, until it is changed.",
  }),
  slug: Type.String({ description: "Finds the preset within its workspace. Compared byte for byte." }),
  description: nullable("string", { maxLength: presetDescriptionLengthMax, description: "Null if there is none." }),
  status: statusSchema,
  status_updated_at: nullable("string", {
    format: "date-time",
    description: "When the status was last changed. Null until the first change.",
  }),
  created_at: time("When the preset was created."),
  updated_at: time("When the preset or its designated version last changed."),
  creator_user_id: Type.String({ description: "The user whose key created the preset." }),
  workspace_id: uuid("The workspace that owns the preset."),
  designated_version_id: uuid("The version that the preset serves now."),
};

const servingSchema = Type.Object(
  {
    version: Type.Integer({ minimum: 1, description: "The version that the preset serves now." }),
    newest_version: Type.Integer({ minimum: 1, description: "The newest version that there is." }),
    model: nullable("string", {
      description:
        "The model that the config of the served version names. Null if it names none within its first 8,192 characters.",
    }),
  },
  { description: "What the preset serves, in short. Only with `include=serving`." },
);

export const listedPresetSchema = Type.Object(
  { ...presetFields, serving: Type.Optional(servingSchema) },
  { description: "A named, reusable LLM configuration, as it appears in lists.", examples: [presetExample] },
);

export const presetSchema = Type.Object(
  { ...presetFields, designated_version: componentSchema("PresetVersion") },
  {
    description: "A named, reusable LLM configuration, with the version that it serves now.",
    examples: [{ ...presetExample, designated_version: versionExample }],
  },
);

export const presetActionSchema = nameSchema(presetActionByName, {
  description:
    "`preset_created`: the preset was created with version 1. `version_created`: a version was created and designated. `preset_updated`: fields were changed.",
});

const changeFields = {
  revision: Type.Integer({ minimum: 1, description: "1 for the creation of the preset, then 2, 3, … without gaps." }),
  action: presetActionSchema,
  user_id: Type.String({ description: "The user whose key did it." }),
  key_id: uuid("The key that did it."),
  created_at: time("When it was done."),
  changes: Type.Array(
    Type.Object({
      field: Type.Enum(["name", "description", "status", "designated_version"], { type: "string" }),
      from: nullable(["string", "integer"], { description: "Null if there was no value." }),
      to: nullable(["string", "integer"], { description: "Null if there is no value any more." }),
    }),
    { minItems: 1 },
  ),
};

const changeExample = {
  revision: 3,
  action: "preset_updated",
  user_id: versionExample.creator_id,
  key_id: "0198c2d6-1f5a-7c08-92be-d3a46b70e815",
  created_at: "2026-03-15T08:00:12.004Z",
  changes: [{ field: "designated_version", from: 2, to: 1 }],
};

export const changeSchema = Type.Object(changeFields, {
  description: "One entry of the change log of a preset.",
  examples: [changeExample],
});

export const workspaceChangeSchema = Type.Object(
  {
    preset_id: uuid("The preset that was changed."),
    preset_slug: Type.String({ description: "Its slug." }),
    preset_name: Type.String({ description: "The name that it has now." }),
    ...changeFields,
  },
  {
    description: "One entry of the change log of a preset, beside those of other presets.",
    examples: [
      {
        preset_id: presetExample.id,
        preset_slug: presetExample.slug,
        preset_name: presetExample.name,
        ...changeExample,
      },
    ],
  },
);

export const diffSchema = Type.Object(
  {
    from: Type.Integer({ minimum: 1, description: "The number of the version that is compared." }),
    to: Type.Integer({ minimum: 1, description: "The number of the version that it is compared with." }),
    config: Type.Object({
      added: anyFields("The fields that only `to` has, with their values."),
      removed: anyFields("The fields that only `from` has, with their values."),
      changed: Type.Object(
        {},
        {
          additionalProperties: Type.Object({ from: Type.Unknown(), to: Type.Unknown() }),
          description: "The fields whose values differ. The order of keys within a value does not count.",
        },
      ),
    }),
    system_prompt_changed: Type.Boolean(),
  },
  {
    description: "What differs between two versions of a preset.",
    examples: [
      {
        from: 1,
        to: 2,
        config: { added: { top_p: 0.9 }, removed: {}, changed: { temperature: { from: 0.7, to: 0.2 } } },
        system_prompt_changed: false,
      },
    ],
  },
);

function anyFields(description: string): TSchema {
  return Type.Object({}, { additionalProperties: true, description });
}
