import { hashKey, type NewKey, newApiKey, newManagementKey } from "../../services/organization/domain/keys.ts";
import { newWorkspace } from "../../services/organization/domain/workspaces.ts";
import { insertKey } from "../../services/organization/store/keys.ts";
import { insertOrganization } from "../../services/organization/store/organizations.ts";
import { insertWorkspace } from "../../services/organization/store/workspaces.ts";
import { knownPermissions } from "../../services/platform/auth/principal.ts";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import { openPool, type Pool, type PoolConnection } from "../../services/platform/mysql/pool.ts";
import { inTransaction } from "../../services/platform/mysql/transaction.ts";
import { ordinaryBody } from "./bodies.ts";
import { numberedId, numberedIdSql, numberedKey, numberedSlugSql } from "./ids.ts";
import type { Tenant } from "./tenant.ts";

/** The databases of one side. */
export interface Databases {
  readonly preset: Pool;
  readonly organization: Pool;
  close(): Promise<void>;
}

const fillCreator = "user_filled00000000000000000000";
/** The table of numbers holds 0 to this. */
const numbersMax = 10_000;
const keysPerStatement = 1_000;
/** Statements over all rows take long on a slow disk, and a run must not be lost for that. */
const statementTimeoutMs = 300_000;
const beginningSql = "'2025-01-01 00:00:00.000'";

/** Opens both databases for bulk inserts, which the server makes from a table of numbers: nothing goes over the wire. */
export async function openDatabases(urls: { preset: string; organization: string }): Promise<Databases> {
  const preset = openPool(urls.preset, 1, { statementTimeoutMs });
  const organization = openPool(urls.organization, 1, { statementTimeoutMs });
  for (const pool of [preset, organization]) {
    const digits =
      "SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9";
    await pool.query("CREATE TABLE bench_numbers (n INT NOT NULL PRIMARY KEY)");
    await pool.query(
      `INSERT INTO bench_numbers SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n
        FROM (${digits}) a, (${digits}) b, (${digits}) c, (${digits}) e UNION SELECT ${numbersMax} ORDER BY n`,
    );
  }
  return {
    preset,
    organization,
    close: async () => {
      await Promise.all([preset.end(), organization.end()]);
    },
  };
}

/** Organizations `from` to `from + count`, each with a workspace, a management key and two API keys. */
export async function fillTenants({ organization }: Databases, from: number, count: number): Promise<Tenant[]> {
  return inTransaction(organization, async (connection) => {
    const tenants: Tenant[] = [];
    for (let n = from; n < from + count; n += 1) tenants.push(await fillTenant(connection, n));
    return tenants;
  });
}

async function fillTenant(connection: PoolConnection, n: number): Promise<Tenant> {
  const organizationId = numberedId("organization", n);
  const workspaceId = numberedId("workspace", n);
  const now = new Date();
  const organization = { id: organizationId, name: `Tenant ${n}`, defaultWorkspaceId: workspaceId };
  await insertOrganization(connection, organization, now);
  await insertWorkspace(connection, {
    ...newWorkspace(organizationId, { name: "Default" }, undefined),
    id: workspaceId,
  });
  const owner = { name: "Bench", organizationId, creatorUserId: fillCreator, expiresAt: undefined };
  const apiKeys = [1, 2].map(() => newApiKey(owner, { workspaceId, permissions: knownPermissions }));
  const managementKey = newManagementKey(owner);
  for (const key of [...apiKeys, managementKey]) await insertKey(connection, key.key);
  return { organizationId, workspaceId, apiKeys: apiKeys.map(secretOf), managementKey: managementKey.secret };
}

function secretOf({ secret }: NewKey): string {
  return secret;
}

/** API keys 0 to `count` of the tenant's workspace, beside those that it has. */
export async function fillKeys({ organization }: Databases, tenant: Tenant, count: number): Promise<void> {
  const organizationId = idToBytes(tenant.organizationId);
  const workspaceId = idToBytes(tenant.workspaceId);
  const permissions = knownPermissions.join(",");
  await inTransaction(organization, async (connection) => {
    for (let from = 0; from < count; from += keysPerStatement) {
      const numbers = Array.from({ length: Math.min(keysPerStatement, count - from) }, (_, index) => from + index);
      const ids = numbers.map((n) => [idToBytes(numberedId("key", n)), hashKey(numberedKey(n))]);
      await connection.query(
        `INSERT INTO api_keys (id, key_hash, name, kind, permissions, organization_id, workspace_id, creator_user_id,
          disabled, created_at) VALUES ${ids.map(() => `(?, ?, 'Bench', 'api', ?, ?, ?, ?, FALSE, ${beginningSql})`).join(", ")}`,
        ids.flatMap((each) => [...each, permissions, organizationId, workspaceId, fillCreator]),
      );
    }
  });
}

export async function fillMembers(
  { organization }: Databases,
  { organizationId }: Tenant,
  from: number,
  count: number,
): Promise<void> {
  const n = `(${from} + n)`;
  const userId = `CONCAT('user_', LPAD(${n}, 27, '0'))`;
  const email = `CONCAT('member-', ${n}, '@example.com')`;
  await organization.query(
    `INSERT INTO users (id, email, email_key, first_name, last_name, created_at)
      SELECT ${userId}, ${email}, ${email}, CONCAT('First', ${n}), CONCAT('Last', ${n}), ${beginningSql}
        FROM bench_numbers WHERE n < ? ORDER BY n`,
    [count],
  );
  await organization.query(
    `INSERT INTO memberships (organization_id, created_at, user_id, role, first_name, last_name, email)
      SELECT ?, ${beginningSql} + INTERVAL n SECOND, ${userId}, 'org:member', CONCAT('First', ${n}), CONCAT('Last', ${n}),
        ${email} FROM bench_numbers WHERE n < ? ORDER BY n`,
    [idToBytes(organizationId), count],
  );
  const total = "UPDATE organizations SET member_count = member_count + ? WHERE id = ?";
  await organization.query(total, [count, idToBytes(organizationId)]);
}

/** Presets of tenants: each of these gets `each` of them, with one version, as if it had created them. */
interface PresetFill {
  /** The number of the first tenant; the others follow. */
  readonly tenant: number;
  readonly tenants: number;
  readonly each: number;
  /** How many each has already. */
  readonly have?: number;
  /** Ids are numbered from here on; no two fills may overlap. */
  readonly firstId: number;
  readonly onProgress?: (filled: number) => void;
}

export async function fillPresets({ preset }: Databases, fill: PresetFill): Promise<void> {
  const { tenant, tenants, each, have = 0, firstId, onProgress } = fill;
  const count = tenants * each;
  for (let done = 0; done < count; done += numbersMax) {
    const n = `(${done} + n)`;
    const id = `(${firstId} + ${n})`;
    const workspaceId = numberedIdSql("workspace", `${tenant} + ${n} DIV ${each}`);
    const slug = numberedSlugSql(`${have} + ${n} MOD ${each}`);
    const createdAt = `${beginningSql} + INTERVAL ${have} + ${n} SECOND`;
    const rows = `FROM bench_numbers WHERE n < ${Math.min(numbersMax, count - done)} ORDER BY n`;
    await inTransaction(preset, async (connection) => {
      await connection.query(
        `INSERT INTO presets (workspace_id, slug, id, name, status, creator_user_id, latest_version, designated_version,
          designated_version_id, revision, created_at, updated_at)
          SELECT ${workspaceId}, ${slug}, ${numberedIdSql("preset", id)}, ${slug}, 'active', ?, 1, 1,
            ${numberedIdSql("version", id)}, 1, ${createdAt}, ${createdAt} ${rows}`,
        [fillCreator],
      );
      await connection.query(
        `INSERT INTO preset_versions (workspace_id, preset_id, version, id, config, system_prompt, creator_id, request_id,
          request_digest, revision, created_at)
          SELECT ${workspaceId}, ${numberedIdSql("preset", id)}, 1, ${numberedIdSql("version", id)}, ?, ?, ?,
            CONCAT('filled-', ${id}), REPEAT('0', 32), 1, ${createdAt} ${rows}`,
        [ordinaryBody.configJson, ordinaryBody.systemPrompt, fillCreator],
      );
      await connection.query(
        `INSERT INTO preset_changes (workspace_id, preset_id, revision, action, user_id, key_id, fields, created_at)
          SELECT ${workspaceId}, ${numberedIdSql("preset", id)}, 1, 'preset_created', ?, ${numberedIdSql("key", "0")},
            '[{"field":"designated_version","from":null,"to":1}]', ${createdAt} ${rows}`,
        [fillCreator],
      );
    });
    onProgress?.(Math.min(done + numbersMax, count));
  }
  for (let n = tenant; n < tenant + tenants; n += 1) {
    await preset.query(
      "INSERT INTO preset_counts (workspace_id, slot, presets) VALUES (?, 0, ?) ON DUPLICATE KEY UPDATE presets = presets + VALUES(presets)",
      [idToBytes(numberedId("workspace", n)), each],
    );
  }
}

/** Gives a filled preset, the first of its tenant, so many versions in all. */
export async function fillVersions(
  { preset: pool }: Databases,
  { tenant, preset, versions }: { readonly tenant: number; readonly preset: number; readonly versions: number },
): Promise<void> {
  const workspaceId = idToBytes(numberedId("workspace", tenant));
  const presetId = idToBytes(numberedId("preset", preset));
  // Far above the ids of versions that were filled with their presets.
  const id = numberedIdSql("version", `${(preset + 1) * 1_000_000_000} + n`);
  const rows = `FROM bench_numbers WHERE n BETWEEN 2 AND ${versions} ORDER BY n`;
  const createdAt = `${beginningSql} + INTERVAL n SECOND`;
  await inTransaction(pool, async (connection) => {
    await connection.query(
      `INSERT INTO preset_versions (workspace_id, preset_id, version, id, config, system_prompt, creator_id, request_id,
        request_digest, revision, created_at)
        SELECT ?, ?, n, ${id}, ?, ?, ?, CONCAT('filled-version-', n), REPEAT('0', 32), n, ${createdAt} ${rows}`,
      [workspaceId, presetId, ordinaryBody.configJson, ordinaryBody.systemPrompt, fillCreator],
    );
    await connection.query(
      `INSERT INTO preset_changes (workspace_id, preset_id, revision, action, user_id, key_id, fields, created_at)
        SELECT ?, ?, n, 'version_created', ?, ${numberedIdSql("key", "0")},
          CONCAT('[{"field":"designated_version","from":', n - 1, ',"to":', n, '}]'), ${createdAt} ${rows}`,
      [workspaceId, presetId, fillCreator],
    );
    await connection.query(
      `UPDATE presets SET latest_version = ?, designated_version = ?, revision = ?,
        designated_version_id = ${numberedIdSql("version", `${(preset + 1) * 1_000_000_000} + ${versions}`)}
        WHERE workspace_id = ? AND id = ?`,
      [versions, versions, versions, workspaceId, presetId],
    );
  });
}
