import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Executor } from "../../platform/mysql/pool.ts";
import type { KeyScope } from "../domain/keys.ts";
import { type KeyRow, keyColumns, keyFromRow } from "./key-rows.ts";

/** A presented key, by the hash of its secret or of a session's token, and the requested workspace. */
export interface PresentedKey {
  readonly hash: Buffer;
  readonly isSession?: boolean;
  readonly workspaceId: string | undefined;
}

interface ScopeRow extends KeyRow {
  readonly place: number;
  readonly is_previous: number;
  readonly session_created_at: Date | null;
  readonly session_used_at: Date | null;
  readonly reached_organization_id: Buffer | null;
  readonly reached_workspace_id: Buffer | null;
}

/** How a presented secret leads to a key. */
interface Lookup {
  readonly joins: string;
  /** Whether it was the secret before the last rotation. */
  readonly isPrevious: string;
  readonly session: string;
}

const noSession = "NULL AS session_created_at, NULL AS session_used_at";

const bySecret: Lookup = { joins: "JOIN api_keys k ON k.key_hash = s.hash", isPrevious: "FALSE", session: noSession };

const byPreviousSecret: Lookup = {
  joins: "JOIN api_keys k ON k.previous_key_hash = s.hash",
  isPrevious: "TRUE",
  session: noSession,
};

/** A session lasts no longer than the secret that it was begun with. */
const bySession: Lookup = {
  joins: `JOIN console_sessions c ON c.token_hash = s.hash
      JOIN api_keys k ON k.id = c.key_id AND c.key_hash IN (k.key_hash, k.previous_key_hash)`,
  isPrevious: "c.key_hash <> k.key_hash",
  session: "c.created_at AS session_created_at, c.last_used_at AS session_used_at",
};

export async function findKeyScope(executor: Executor, presented: PresentedKey): Promise<KeyScope | undefined> {
  return (await findKeyScopes(executor, [presented])).get(presented);
}

/**
 * Finds the presented keys that exist, and what each can use. One statement finds those of secrets, one those of
 * sessions; another looks up the remaining secrets among rotated ones.
 */
export async function findKeyScopes<Presented extends PresentedKey>(
  executor: Executor,
  presented: readonly Presented[],
): Promise<ReadonlyMap<Presented, KeyScope>> {
  const scopes = new Map<Presented, KeyScope>();
  const secrets = presented.filter(({ isSession }) => !isSession);
  await find(bySecret, secrets);
  await find(
    byPreviousSecret,
    secrets.filter((each) => !scopes.has(each)),
  );
  await find(
    bySession,
    presented.filter(({ isSession }) => isSession),
  );
  return scopes;

  async function find(lookup: Lookup, some: readonly Presented[]): Promise<void> {
    if (some.length === 0) return;
    for (const row of await selectScopes(lookup, executor, some)) {
      scopes.set(some[row.place] as Presented, scopeFromRow(row));
    }
  }
}

/** Every table is read by unique keys. */
async function selectScopes(
  { joins, isPrevious, session }: Lookup,
  executor: Executor,
  presented: readonly PresentedKey[],
): Promise<ScopeRow[]> {
  const parts = presented.map(
    (_, place) => `SELECT ${place} AS place, CAST(? AS BINARY(32)) AS hash, CAST(? AS BINARY(16)) AS workspace_id`,
  );
  const [rows] = await executor.execute<ScopeRow[]>(
    `SELECT s.place, ${keyColumns}, ${isPrevious} AS is_previous, ${session},
        o.id AS reached_organization_id, w.id AS reached_workspace_id
      FROM (${parts.join(" UNION ALL ")}) s
      ${joins}
      LEFT JOIN organizations o ON o.id = k.organization_id AND o.deleted_at IS NULL
      LEFT JOIN workspaces w ON w.id = COALESCE(k.workspace_id, s.workspace_id, o.default_workspace_id)
        AND w.organization_id = o.id AND w.deleted_at IS NULL`,
    presented.flatMap(({ hash, workspaceId }) => [hash, workspaceId === undefined ? null : idToBytes(workspaceId)]),
  );
  return rows;
}

function scopeFromRow(row: ScopeRow): KeyScope {
  const key = keyFromRow(row);
  const { session_created_at: createdAt, session_used_at: lastUsedAt } = row;
  return {
    key,
    organizationId: row.reached_organization_id ? idFromBytes(row.reached_organization_id) : undefined,
    workspaceId: row.reached_workspace_id ? idFromBytes(row.reached_workspace_id) : undefined,
    secretExpiresAt: row.is_previous ? key.previousExpiresAt : undefined,
    session: createdAt && lastUsedAt ? { createdAt, lastUsedAt } : undefined,
  };
}
