export type ChangeAction =
  | "key_created"
  | "key_updated"
  | "key_rotated"
  | "key_deleted"
  | "workspace_created"
  | "workspace_updated"
  | "workspace_deleted"
  | "workspace_members_added"
  | "workspace_members_removed"
  | "member_added"
  | "member_updated"
  | "member_removed";

export type TargetKind = "key" | "workspace" | "member";

type FieldValue = string | number | boolean | readonly string[] | null;

/** The logged fields of a thing, under their public names. Never a secret. */
export type LoggedFields = Readonly<Record<string, FieldValue>>;

/** A field before and after a change; null if there is no value. */
export interface FieldChange {
  readonly field: string;
  readonly from: FieldValue;
  readonly to: FieldValue;
}

/** What was done, to what. */
export interface Change {
  readonly action: ChangeAction;
  readonly target: { readonly kind: TargetKind; readonly id: string; readonly name: string };
  readonly fields: readonly FieldChange[];
}

/** Who changes something. */
export interface Actor {
  /** Undefined if a command finds no admin to name. */
  readonly userId: string | undefined;
  /** Undefined for a command. */
  readonly keyId: string | undefined;
}

/** One entry of an organization's change log. */
export interface LoggedChange extends Change {
  readonly id: string;
  readonly actor: Actor;
  readonly createdAt: Date;
}

/** Which entries; a field that is undefined: all. */
export interface ChangeFilter {
  readonly action: ChangeAction | undefined;
  readonly userId: string | undefined;
  readonly targetId: string | undefined;
}

/** The outcome of a change: its answer, and the change log entries. No entries: nothing was changed. */
export interface Changed<T> {
  readonly result: T;
  readonly changes: readonly Change[];
}

/** A change of something that has a name. */
export function changeOf(
  kind: TargetKind,
  action: ChangeAction,
  { id, name }: { readonly id: string; readonly name: string },
  fields: readonly FieldChange[],
): Change {
  return { action, target: { kind, id, name }, fields };
}

/** The fields that differ, in the order of `after`. */
export function differencesOf(before: LoggedFields, after: LoggedFields): FieldChange[] {
  return Object.keys({ ...after, ...before })
    .map((field) => ({ field, from: before[field] ?? null, to: after[field] ?? null }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}
