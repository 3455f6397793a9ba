import {
  userIdsMax,
  workspaceDefaultLengthMax,
  workspaceDescriptionLengthMax,
  workspaceNameLengthMax,
  workspaceSlugLengthMax,
  workspaceSlugPattern,
  workspaceSlugRule,
} from "../../services/platform/domain/limits.ts";
import { bodyReader } from "./body-reader.ts";
import { Type } from "./schema-builder.ts";
import { fixedValue, nameRule, optionalText } from "./schema-parts.ts";
import { switchedOff } from "./workspace.ts";

const name = Type.String(nameRule(workspaceNameLengthMax));
const slug = Type.String({
  pattern: workspaceSlugPattern.source,
  maxLength: workspaceSlugLengthMax,
  description: `${workspaceSlugRule}, and not a UUID`,
});
const defaultText = (what: string) =>
  optionalText({
    maxLength: workspaceDefaultLengthMax,
    description: `The default ${what}: kept, but used by nothing here.`,
  });

const optionalFields = {
  description: optionalText({ maxLength: workspaceDescriptionLengthMax, description: "Null: none." }),
  default_text_model: defaultText("model for text"),
  default_image_model: defaultText("model for images"),
  default_provider_sort: defaultText("order of providers"),
  io_logging_api_key_ids: unsupportedField("io_logging_api_key_ids"),
  io_logging_sampling_rate: unsupportedField("io_logging_sampling_rate"),
  is_data_discount_logging_enabled: unsupportedField("is_data_discount_logging_enabled"),
  is_observability_broadcast_enabled: unsupportedField("is_observability_broadcast_enabled"),
  is_observability_io_logging_enabled: unsupportedField("is_observability_io_logging_enabled"),
  disabled_server_tools: Type.Optional(
    Type.Unsafe<null | readonly unknown[]>({
      type: ["array", "null"],
      not: { type: "array", minItems: 1 },
      description: "null or an empty list: no tool can be disabled here",
    }),
  ),
};

function unsupportedField(field: keyof typeof switchedOff) {
  return fixedValue(switchedOff[field], `${switchedOff[field]}: prompts are neither logged nor passed on here`);
}

export const workspaceCreationSchema = Type.Object(
  { name, slug, ...optionalFields },
  { additionalProperties: false, examples: [{ name: "Staging", slug: "staging" }] },
);

export const workspaceUpdateSchema = Type.Object(
  { name: Type.Optional(name), slug: Type.Optional(slug), ...optionalFields },
  { additionalProperties: false, minProperties: 1, examples: [{ description: "For what is not released yet." }] },
);

export const userIdsSchema = Type.Object(
  {
    user_ids: Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: userIdsMax,
      description: "Members of the organization, as `GET /organization/members` lists them.",
    }),
  },
  { additionalProperties: false, examples: [{ user_ids: ["user_2xQ7LhV0bTn4RkYc9WmDsEaP"] }] },
);

const readCreation = bodyReader(workspaceCreationSchema);
const readUpdate = bodyReader(workspaceUpdateSchema);
const readUserIds = bodyReader(userIdsSchema);

type Fields = Partial<ReturnType<typeof readCreation>>;

/** The body of POST /workspaces, as the organization service takes it. */
export function workspaceCreationFrom(body: string | undefined) {
  const { name, slug, ...rest } = readCreation(body);
  return { name, slug, ...optionalFieldsOf(rest) };
}

/** The body of PATCH /workspaces/{workspace}. Fields that are accepted only for compatibility change nothing. */
export function workspaceUpdateFrom(body: string | undefined) {
  const update = readUpdate(body);
  const { name, slug, ...rest } = update;
  const paths = Object.keys(update).filter((path) => !isWithoutEffect(path));
  return {
    // Sorted, so that a retry with its fields in another order is the same request.
    updateMask: { paths: paths.sort() },
    ...(name === undefined ? {} : { name }),
    ...(slug === undefined ? {} : { slug }),
    ...optionalFieldsOf(rest),
  };
}

function isWithoutEffect(field: string): boolean {
  return Object.hasOwn(switchedOff, field) || field === "disabled_server_tools";
}

export function userIdsFrom(body: string | undefined) {
  return { userIds: readUserIds(body).user_ids };
}

/** A field that is null is left out: the service removes what the mask names and the message does not contain. */
function optionalFieldsOf({ description, default_text_model, default_image_model, default_provider_sort }: Fields) {
  return {
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof default_text_model === "string" ? { defaultTextModel: default_text_model } : {}),
    ...(typeof default_image_model === "string" ? { defaultImageModel: default_image_model } : {}),
    ...(typeof default_provider_sort === "string" ? { defaultProviderSort: default_provider_sort } : {}),
  };
}
