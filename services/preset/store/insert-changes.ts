import { idToBytes } from "../../platform/domain/ids.ts";
import type { Statement } from "../../platform/mysql/pool.ts";
import { cachedByCount, repeated } from "../../platform/mysql/text-by-count.ts";
import type { PresetChange } from "../domain/change.ts";
import type { Preset } from "../domain/preset.ts";

/** A change to be stored, and the preset that it applies to. */
export interface NewChange {
  readonly preset: Pick<Preset, "workspaceId" | "id">;
  readonly change: PresetChange;
}

const insert = cachedByCount(
  (
    count,
  ) => `INSERT INTO preset_changes (workspace_id, preset_id, revision, action, user_id, key_id, fields, created_at)
    VALUES ${repeated(count, "(?, ?, ?, ?, ?, ?, ?, ?)")}`,
);

/** Appends to the change log, in the same transaction as the changes. */
export function insertingChanges(changes: readonly NewChange[]): Statement {
  return {
    sql: insert(changes.length),
    values: changes.flatMap(({ preset, change }) => [
      idToBytes(preset.workspaceId),
      idToBytes(preset.id),
      change.revision,
      change.action,
      change.actor.userId,
      idToBytes(change.actor.keyId),
      JSON.stringify(change.fields),
      change.createdAt,
    ]),
  };
}
