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
  readonly is_previous: number;
  readonly reached_organization_id: Buffer | null;
  readonly reached_workspace_id: Buffer | null;
}

/**
 * The keys with these hashes, now or before their last rotation, and what each reaches; undefined for those that are not
 * there. One statement for all, and every table is read by unique keys.
 */
export async function findKeyScopes(
  executor: Executor,
  shown: readonly ShownKey[],
): Promise<readonly (KeyScope | undefined)[]> {
  const parts = shown.map(
    (_, place) => `SELECT ${place} AS place, CAST(? AS BINARY(32)) AS hash, CAST(? AS BINARY(16)) AS workspace_id`,
  );
  const [rows] = await executor.execute<ScopeRow[]>(
    `SELECT s.place, current.id IS NULL AS is_previous, ${keyColumns},
        o.id AS reached_organization_id, w.id AS reached_workspace_id
      FROM (${parts.join(" UNION ALL ")}) s
      LEFT JOIN api_keys current ON current.key_hash = s.hash
      LEFT JOIN api_keys previous ON previous.previous_key_hash = s.hash
      JOIN api_keys k ON k.id = COALESCE(current.id, previous.id)
      LEFT JOIN organizations o ON o.id = k.organization_id AND o.deleted_at IS NULL
      LEFT JOIN workspaces w ON w.id = COALESCE(k.workspace_id, s.workspace_id, o.default_workspace_id)
        AND w.organization_id = o.id AND w.deleted_at IS NULL`,
    shown.flatMap(({ keyHash, workspaceId }) => [keyHash, workspaceId === undefined ? null : idToBytes(workspaceId)]),
  );
  const scopes = new Map(rows.map((row) => [row.place, scopeFromRow(row)]));
  return shown.map((_, place) => scopes.get(place));
}

function scopeFromRow(row: ScopeRow): KeyScope {
  const key = keyFromRow(row);
  return {
    key,
    organizationId: row.reached_organization_id ? idFromBytes(row.reached_organization_id) : undefined,
    workspaceId: row.reached_workspace_id ? idFromBytes(row.reached_workspace_id) : undefined,
    secretExpiresAt: row.is_previous ? key.previousExpiresAt : undefined,
  };
}
