import { inWorkspace } from "../../api/session.ts";
import type { OrganizationChange, PresetStatus, SessionWorkspace, WorkspaceChange } from "../../api/types.ts";
import { statusVerb } from "../preset/status-words.ts";

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
  /** Stands between the person and the target: "created the key". */
  readonly verb: string;
  readonly target: {
    readonly kind: OrganizationChange["target"]["kind"] | "preset";
    /** Filters for this target: its id, or the slug of a preset. */
    readonly id: string;
    readonly name: string;
  };
  readonly changes: readonly FieldChange[];
  readonly isNew: boolean;
  /** The versions before and after, if they can be compared. */
  readonly versions?: readonly [from: number, to: number] | undefined;
}

/** A log of the API. */
export interface Log {
  /** With its filters, and therefore with a query. */
  readonly path: string;
  readonly read: (change: never) => Entry;
}

type Action = OrganizationChange["action"] | WorkspaceChange["action"];

type ActionTable<A extends Action> = Readonly<Record<A, readonly [verb: string, label: string]>>;

/** The name of each action: within a sentence, and in a list to choose from. */
const organizationActions: ActionTable<OrganizationChange["action"]> = {
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

const presetActions: ActionTable<WorkspaceChange["action"]> = {
  preset_created: ["created the preset", "Preset created"],
  version_created: ["made a new version of", "Version created"],
  preset_updated: ["changed the preset", "Preset changed"],
};

/** Which entries are shown. An empty field matches all. */
export interface Filter {
  readonly action: string;
  readonly user: string;
  readonly target: string;
  /** The last day, such as `2026-11-17`, in the viewer's time zone. */
  readonly until: string;
}

/** The logs, by their names in the address. */
const logs = {
  organization: {
    actions: organizationActions,
    filtered: (_workspace: SessionWorkspace, { action, user, target }: Filter): Log => ({
      path: `/api/v1/organization/changes?${given({ action, user_id: user, target_id: target })}`,
      read: fromOrganizationChange,
    }),
  },
  presets: {
    actions: presetActions,
    filtered: (workspace: SessionWorkspace, { action, user }: Filter): Log => ({
      path: inWorkspace(`/api/v1/changes?${given({ action, user_id: user })}`, workspace),
      read: fromWorkspaceChange,
    }),
  },
} as const;

export type LogName = keyof typeof logs;

/** The actions that can be filtered for in these logs, with their labels. */
export function actionsOf(names: readonly LogName[]): readonly (readonly [action: string, label: string])[] {
  return names.flatMap((name) =>
    Object.entries(logs[name].actions).map(([action, [, label]]) => [action, label] as const),
  );
}

/** The logs that may have matching entries: each action, and each target with an id, belongs to only one log. */
export function matchingLogs(names: readonly LogName[], filter: Filter, workspace: SessionWorkspace): readonly Log[] {
  return names
    .filter((name) => filter.action === "" || Object.hasOwn(logs[name].actions, filter.action))
    .filter((name) => filter.target === "" || name === "organization")
    .map((name) => logs[name].filtered(workspace, filter));
}

function given(parameters: Readonly<Record<string, string>>): URLSearchParams {
  return new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ""));
}

/** The verb for an update of a single field, and whether it says everything. */
interface Update {
  readonly verb: string;
  readonly isAll?: boolean;
}

function updateOf(thing: string, changes: readonly FieldChange[]): Update | undefined {
  const [only, ...others] = changes;
  if (!only || others.length > 0) return undefined;
  const { field, from, to } = only;
  if (field === "disabled") return { verb: `${to ? "disabled" : "enabled"} the ${thing}`, isAll: true };
  if (field === "status")
    return { verb: `${statusVerb(from as PresetStatus, to as PresetStatus)} the ${thing}`, isAll: true };
  if (field === "name") return { verb: `renamed the ${thing}` };
  if (field === "designated_version") return { verb: Number(to) < Number(from) ? "rolled back" : "rolled forward" };
  return undefined;
}

function fromOrganizationChange(change: OrganizationChange): Entry {
  const { action, target, user_id, changes } = change;
  const update = action.endsWith("_updated") ? updateOf(target.kind, changes) : undefined;
  const isNew = action.endsWith("_created") || action === "member_added";
  // A new thing's name and creator are shown already, and a false flag is not worth mentioning.
  const said: readonly unknown[] = [target.name, user_id, false];
  return {
    ...change,
    verb: update?.verb ?? organizationActions[action][0],
    isNew,
    changes: isNew ? changes.filter(({ to }) => !said.includes(to)) : update?.isAll ? [] : withOneList(changes),
  };
}

/** Each member added to or removed from a workspace is a change of its own. They are shown as one list. */
function withOneList(changes: readonly FieldChange[]): readonly FieldChange[] {
  if (!changes.some(({ field }) => field === "member")) return changes;
  const members = (side: "from" | "to") => changes.map((change) => change[side]).filter((id) => id !== null);
  return [{ field: "members", from: members("from"), to: members("to") }];
}

function fromWorkspaceChange(change: WorkspaceChange): Entry {
  const { preset_id, preset_slug, preset_name, revision, action, changes } = change;
  const served = changes.find(({ field }) => field === "designated_version");
  const isBetween = typeof served?.from === "number" && typeof served.to === "number";
  const update = action === "preset_updated" ? updateOf("preset", changes) : undefined;
  return {
    ...change,
    id: `${preset_id} ${revision}`,
    verb: update?.verb ?? presetActions[action][0],
    target: { kind: "preset", id: preset_slug, name: preset_name },
    isNew: false,
    // Every new preset serves its first version, so that is not shown.
    changes: action === "preset_created" || update?.isAll ? [] : changes,
    versions: isBetween ? [Number(served.from), Number(served.to)] : undefined,
  };
}
