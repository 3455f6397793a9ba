import { knownPermissions } from "../../services/platform/auth/principal.ts";
import { nameSchema } from "./enum-names.ts";
import { kindByName, spending } from "./key.ts";
import { Type } from "./schema-builder.ts";
import { nullable, time, uuid } from "./schema-parts.ts";

// The JSON that key.ts writes. Every field is always there; one without a value is null.

export const permissionSchema = Type.Enum([...knownPermissions], { type: "string" });

export const kindSchema = nameSchema(kindByName, {
  description:
    "`api`: for the presets of one workspace. `management`: administers the organization, and can use the presets of all its workspaces.",
});

const hash = Type.String({
  pattern: "^[0-9a-f]{64}$",
  description: "SHA-256 of the secret, in hexadecimal digits. Changes with each rotation.",
});

const limits = {
  limit: nullable([], { description: "Always null: spending is not metered here." }),
  limit_remaining: nullable([], { description: "Always null." }),
  limit_reset: nullable([], { description: "Always null." }),
  include_byok_in_limit: Type.Boolean({ description: "Always false." }),
  usage: Type.Number({ description: "Always 0, like the other usage fields." }),
  usage_daily: Type.Number(),
  usage_weekly: Type.Number(),
  usage_monthly: Type.Number(),
  byok_usage: Type.Number(),
  byok_usage_daily: Type.Number(),
  byok_usage_weekly: Type.Number(),
  byok_usage_monthly: Type.Number(),
};

const common = {
  label: Type.String({ description: "The first and last characters of the secret, by which people recognize it." }),
  creator_user_id: nullable("string", { description: "The user who owns the key, and everything that it creates." }),
  expires_at: nullable("string", { format: "date-time", description: "Null if the key never expires." }),
};

const commonExample = {
  label: "sk-sp-v1-Qm3…x7d",
  creator_user_id: "user_2xQ7LhV0bTn4RkYc9WmDsEaP",
  expires_at: null,
};

const workspaceExample = "0198c2d4-90e7-7b61-b3f8-5c1a7e42d09b";

export const keySchema = Type.Object(
  {
    id: uuid("Stays the same when the secret is rotated."),
    hash,
    name: Type.String(),
    ...common,
    kind: kindSchema,
    permissions: Type.Array(permissionSchema, { description: "What the key may do with presets." }),
    workspace_id: uuid("The workspace of an API key; for a management key, the default one."),
    disabled: Type.Boolean({ description: "A disabled key does not work until it is enabled again." }),
    created_at: time("When the key was made."),
    updated_at: nullable("string", { format: "date-time", description: "Null until the first change." }),
    last_used_at: nullable("string", {
      format: "date-time",
      description: "To about a minute. Null until the first use.",
    }),
    previous_expires_at: nullable("string", {
      format: "date-time",
      description:
        "Until when the secret works that the last rotation replaced, unless the key itself ends earlier. Null if only the current one works.",
    }),
    external_user: nullable([], { description: "Always null." }),
    ...limits,
  },
  {
    description: "A key without its secret, which is stored nowhere.",
    examples: [
      {
        id: "0198c2d6-1f5a-7c08-92be-d3a46b70e815",
        hash: "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",
        name: "ci",
        ...commonExample,
        kind: "api",
        permissions: ["presets:read"],
        workspace_id: workspaceExample,
        disabled: false,
        created_at: "2026-03-14T09:24:26.128Z",
        updated_at: null,
        last_used_at: null,
        previous_expires_at: null,
        external_user: null,
        ...spending,
      },
    ],
  },
);

export const currentKeySchema = Type.Object(
  {
    ...common,
    organization_id: nullable("string", { format: "uuid", description: "Null if it was deleted." }),
    workspace_id: nullable("string", {
      format: "uuid",
      description: "The workspace of an API key, the default one for a management key. Null if it was deleted.",
    }),
    is_management_key: Type.Boolean(),
    is_provisioning_key: Type.Boolean({ description: "Equals `is_management_key`." }),
    is_free_tier: Type.Boolean({ description: "Always false." }),
    allowed_data_regions: Type.Array(Type.String(), { description: "Always `global`." }),
    free_model_daily_requests: Type.Object(
      { limit: Type.Integer(), remaining: Type.Integer(), used: Type.Integer() },
      { description: "Always 0." },
    ),
    rate_limit: Type.Object(
      {
        requests: Type.Integer({ description: "-1 if there is no limit." }),
        interval: Type.String(),
        note: Type.String(),
      },
      { description: "How often the key may be used; each gateway counts on its own." },
    ),
    ...limits,
  },
  {
    description: "A key as its holder sees it.",
    examples: [
      {
        ...commonExample,
        organization_id: "0198c2d4-90e5-7f0a-8c3d-1b6e94a7f520",
        workspace_id: workspaceExample,
        is_management_key: false,
        is_provisioning_key: false,
        is_free_tier: false,
        allowed_data_regions: ["global"],
        free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
        rate_limit: { requests: -1, interval: "1s", note: "There is no limit." },
        ...spending,
      },
    ],
  },
);
