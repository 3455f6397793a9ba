import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Executor } from "../../platform/mysql/pool.ts";
import type { KeyScope } from "../domain/keys.ts";
import { type KeyRow, keyColumns, keyFromRow } from "./keys.ts";

/** A key that is shown, by the hash of its secret, and the workspace that is asked for. */
export interface ShownKey {
  readonly keyHash: Buffer;
  readonly workspaceId: string | undefined;
}

interface ScopeRow extends KeyRow {
  readonly place: number;
  readonly reached_organization_id: Buffer | null;
  readonly reached_workspace_id: Buffer | null;
}

/**
 * The keys with these hashes and what each reaches; undefined for those that are not there. One statement finds them all;
 * a second one looks for those that are left among secrets that were rotated.
 */
export async function findKeyScopes(
  executor: Executor,
  shown: readonly ShownKey[],
): Promise<readonly (KeyScope | undefined)[]> {
  const found = await findBy("key_hash", executor, shown);
  const left = shown.filter((_, place) => !found[place]);
  if (left.length === 0) return found;
  const rotated = await findBy("previous_key_hash", executor, left);
  let next = 0;
  return found.map((scope) => scope ?? rotated[next++]);
}

/** Every table is read by unique keys. */
async function findBy(
  column: "key_hash" | "previous_key_hash",
  executor: Executor,
  shown: readonly ShownKey[],
): Promise<(KeyScope | undefined)[]> {
  const parts = shown.map(
    (_, place) => `SELECT ${place} AS place, CAST(? AS BINARY(32)) AS hash, CAST(? AS BINARY(16)) AS workspace_id`,
  );
  const [rows] = await executor.execute<ScopeRow[]>(
    `SELECT s.place, ${keyColumns}, o.id AS reached_organization_id, w.id AS reached_workspace_id
      FROM (${parts.join(" UNION ALL ")}) s
      JOIN api_keys k ON k.${column} = s.hash
      LEFT JOIN organizations o ON o.id = k.organization_id AND o.deleted_at IS NULL
      LEFT JOIN workspaces w ON w.id = COALESCE(k.workspace_id, s.workspace_id, o.default_workspace_id)
        AND w.organization_id = o.id AND w.deleted_at IS NULL`,
    shown.flatMap(({ keyHash, workspaceId }) => [keyHash, workspaceId === undefined ? null : idToBytes(workspaceId)]),
  );
  const scopes = new Map(rows.map((row) => [row.place, scopeFromRow(row, column === "previous_key_hash")]));
  return shown.map((_, place) => scopes.get(place));
}

function scopeFromRow(row: ScopeRow, isPrevious: boolean): KeyScope {
  const key = keyFromRow(row);
  return {
    key,
    organizationId: row.reached_organization_id ? idFromBytes(row.reached_organization_id) : undefined,
    workspaceId: row.reached_workspace_id ? idFromBytes(row.reached_workspace_id) : undefined,
    secretExpiresAt: isPrevious ? key.previousExpiresAt : undefined,
  };
}
