import { Type } from "./schema-builder.ts";
import { nullable, time, uuid } from "./schema-parts.ts";
import { switchedOff } from "./workspace.ts";

// The JSON that workspace.ts writes. Every field is always there; one without a value is null.

const kept = "Kept for clients that set it; nothing here uses it. Null if there is none.";

export const workspaceSchema = Type.Object(
  {
    id: uuid("Identifier of the workspace."),
    name: Type.String(),
    slug: Type.String({ description: "Unique in the organization." }),
    description: nullable("string", { description: "Null if there is none." }),
    default_text_model: nullable("string", { description: kept }),
    default_image_model: nullable("string", { description: kept }),
    default_provider_sort: nullable("string", { description: kept }),
    default_guardrail_id: Type.String({
      description: "A UUID that is always the same for the workspace. There are no guardrails here.",
    }),
    io_logging_api_key_ids: nullable([], { description: "Always null." }),
    io_logging_sampling_rate: Type.Number({ description: "Always 1." }),
    is_data_discount_logging_enabled: Type.Boolean({ description: "Always false." }),
    is_observability_broadcast_enabled: Type.Boolean({ description: "Always false." }),
    is_observability_io_logging_enabled: Type.Boolean({ description: "Always false." }),
    created_at: time("When the workspace was made."),
    created_by: nullable("string", { description: "The user who created it. Null if that is not known." }),
    updated_at: nullable("string", { format: "date-time", description: "Null until the first change." }),
  },
  {
    description: "A part of an organization, with presets and API keys of its own.",
    examples: [
      {
        id: "0198c2d4-90e7-7b61-b3f8-5c1a7e42d09b",
        name: "Staging",
        slug: "staging",
        description: null,
        default_text_model: null,
        default_image_model: null,
        default_provider_sort: null,
        default_guardrail_id: "7c1f0f52-6d5b-5b0e-9a39-2f6f6f0b2d11",
        ...switchedOff,
        created_at: "2026-03-14T09:24:26.128Z",
        created_by: "user_2xQ7LhV0bTn4RkYc9WmDsEaP",
        updated_at: null,
      },
    ],
  },
);

export const workspaceMemberSchema = Type.Object(
  {
    id: Type.String({ description: "A UUID that is always the same for the workspace and the user." }),
    workspace_id: uuid("The workspace."),
    user_id: Type.String({ description: "The user." }),
    role: Type.Enum(["admin", "member"], { type: "string", description: "The user's role in the organization." }),
    created_at: time("When the user joined the workspace or, for the default one, the organization."),
  },
  {
    description: "A user as a member of a workspace.",
    examples: [
      {
        id: "1d7f3c84-0a8e-5a7c-8f55-3f2b1d0c9e64",
        workspace_id: "0198c2d4-90e7-7b61-b3f8-5c1a7e42d09b",
        user_id: "user_2xQ7LhV0bTn4RkYc9WmDsEaP",
        role: "admin",
        created_at: "2026-03-14T09:24:26.128Z",
      },
    ],
  },
);
