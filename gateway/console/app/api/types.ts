import type { Static } from "typebox";
import type { keySchema } from "../../../json/key-schema.ts";
import type { memberSchema } from "../../../json/member-schema.ts";
import type { organizationChangeSchema } from "../../../json/organization-change-schema.ts";
import type {
  changeSchema,
  diffSchema,
  listedPresetSchema,
  versionSchema,
  workspaceChangeSchema,
} from "../../../json/preset-schema.ts";
import type { resolvedRequestSchema } from "../../../json/resolved-request-schema.ts";
import type { workspaceMemberSchema, workspaceSchema } from "../../../json/workspace-schema.ts";

// The JSON of the API, as the gateway's own schemas describe it.

export type Preset = Static<typeof listedPresetSchema>;
export type PresetVersion = Static<typeof versionSchema>;
export type PresetWithVersion = Preset & { readonly designated_version: PresetVersion };
export type PresetStatus = Preset["status"];
export type VersionDiff = Static<typeof diffSchema>;
export type PresetChange = Static<typeof changeSchema>;
/** A change of one preset, in the log of all presets of a workspace. */
export type WorkspaceChange = Static<typeof workspaceChangeSchema>;
export type OrganizationChange = Static<typeof organizationChangeSchema>;
export type Key = Static<typeof keySchema>;
export type Member = Static<typeof memberSchema>;
export type Workspace = Static<typeof workspaceSchema>;
export type WorkspaceMember = Static<typeof workspaceMemberSchema>;
export type ResolvedRequest = Static<typeof resolvedRequestSchema>;
export type Dialect = "chat/completions" | "messages" | "responses";

/** A page of a list. */
export interface ListPage<T> {
  readonly data: readonly T[];
  readonly total_count: number;
}

export interface One<T> {
  readonly data: T;
}

/** Who is signed in: the response of `GET /console/session`. */
export interface Session {
  readonly user_id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly organization: { readonly id: string; readonly name: string };
  readonly key: {
    readonly id: string;
    readonly label: string;
    readonly kind: "api" | "management";
    readonly permissions: readonly string[];
  };
  readonly workspace_id: string | null;
  readonly workspaces: readonly SessionWorkspace[];
  readonly expires_at: string;
}

export interface SessionWorkspace {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}
