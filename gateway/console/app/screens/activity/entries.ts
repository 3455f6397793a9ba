import { inWorkspace } from "../../api/session.ts";
import type { OrganizationChange, SessionWorkspace, WorkspaceChange } from "../../api/types.ts";

interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** One change of anything, as the list shows it. */
export interface Entry {
  readonly id: string;
  readonly created_at: string;
  readonly user_id: string | null;
  /** Between who and what: "created the key". */
  readonly verb: string;
  readonly target: {
    readonly kind: OrganizationChange["target"]["kind"] | "preset";
    /** What is asked for to see only this: the id, of a preset the slug. */
    readonly id: string;
    readonly name: string;
  };
  readonly changes: readonly FieldChange[];
  /** The versions between which it went, where these can be compared. */
  readonly versions?: readonly [from: number, to: number] | undefined;
}

/** A log of the API. */
export interface Log {
  /** With its filters; it has a query. */
  readonly path: string;
  readonly read: (change: never) => Entry;
}

type Action = OrganizationChange["action"];

/** What each action is called: as a sentence goes, and in a list to choose from. */
export const actions: Readonly<Record<Action, readonly [verb: string, label: string]>> = {
  key_created: ["created the key", "Key created"],
  key_updated: ["changed the key", "Key changed"],
  key_rotated: ["rotated the key", "Key rotated"],
  key_deleted: ["deleted the key", "Key deleted"],
  workspace_created: ["created the workspace", "Workspace created"],
  workspace_updated: ["changed the workspace", "Workspace changed"],
  workspace_deleted: ["deleted the workspace", "Workspace deleted"],
  workspace_members_added: ["added members to the workspace", "Workspace members added"],
  workspace_members_removed: ["removed members from the workspace", "Workspace members removed"],
  member_added: ["added the member", "Member added"],
  member_updated: ["changed the member", "Member changed"],
  member_removed: ["removed the member", "Member removed"],
};

export function isAction(text: string): text is Action {
  return Object.hasOwn(actions, text);
}

export function organizationLog(filter: Readonly<Record<string, string>>): Log {
  const given = Object.entries(filter).filter(([, value]) => value !== "");
  return { path: `/api/v1/organization/changes?${new URLSearchParams(given)}`, read: fromOrganizationChange };
}

function fromOrganizationChange(change: OrganizationChange): Entry {
  const { action, target, user_id, changes } = change;
  const isNew = action.endsWith("_created") || action === "member_added";
  // What a new thing is called and who made it is said already, and what is false was never otherwise.
  const said: readonly unknown[] = [target.name, user_id, false];
  return {
    ...change,
    verb: actions[action][0],
    changes: isNew ? changes.filter(({ to }) => !said.includes(to)) : changes,
  };
}

const presetVerbs: Readonly<Record<WorkspaceChange["action"], string>> = {
  preset_created: "created the preset",
  version_created: "made a new version of",
  preset_updated: "changed the preset",
};

export function presetLog(workspace: SessionWorkspace): Log {
  const path = inWorkspace("/api/v1/changes", workspace);
  return { path: path.includes("?") ? path : `${path}?`, read: fromWorkspaceChange };
}

function fromWorkspaceChange(change: WorkspaceChange): Entry {
  const { preset_id, preset_slug, preset_name, revision, action, changes } = change;
  const served = changes.find(({ field }) => field === "designated_version");
  const isBetween = typeof served?.from === "number" && typeof served.to === "number";
  return {
    ...change,
    id: `${preset_id} ${revision}`,
    verb: presetVerbs[action],
    target: { kind: "preset", id: preset_slug, name: preset_name },
    // A new preset serves its first version, as every one does.
    changes: action === "preset_created" ? [] : changes,
    versions: isBetween ? [Number(served.from), Number(served.to)] : undefined,
  };
}
