import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insertKeyRequest, keyRequestOf } from "../../services/organization/store/key-requests.ts";
import { listEnabledKeys, listWorkspaceKeys } from "../../services/organization/store/list-keys.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { openPool, type Pool, type PoolConnection } from "../../services/platform/mysql/pool.ts";
import type { TestDatabase } from "../support/database.ts";
import { createOrganizationDatabase } from "../support/organization-database.ts";
import { rowReads } from "../support/row-reads.ts";
import { type Tenant, Tenants } from "../support/tenants.ts";

/** In the default workspace, in addition to its two initial keys. */
const manyKeys = 2_000;
const fewKeys = 5;

let database: TestDatabase;
let pool: Pool;
let connection: PoolConnection;
let tenant: Tenant;
const otherWorkspaceId = newId();

beforeAll(async () => {
  database = await createOrganizationDatabase();
  pool = openPool(database.url, 2);
  tenant = await new Tenants(pool).createOrganization();
  connection = await pool.getConnection();
  await insertKeys(manyKeys, tenant.workspaceId, "user_many");
  await insertKeys(fewKeys, otherWorkspaceId, "user_few");
  await connection.query("ANALYZE TABLE api_keys");
});

afterAll(async () => {
  connection.release();
  await pool.end();
  await database.drop();
});

async function insertKeys(count: number, workspaceId: string, userId: string): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) => {
    const id = idToBytes(newId());
    return [id, Buffer.concat([id, id]), `${userId} ${n}`, workspaceId, userId, new Date(n * 1000)] as const;
  });
  await connection.query(
    `INSERT INTO api_keys (id, key_hash, name, kind, permissions, organization_id, workspace_id, creator_user_id, disabled, created_at)
      VALUES ${rows.map(() => "(?, ?, ?, 'api', 'presets:read', ?, ?, ?, FALSE, ?)").join(", ")}`,
    rows.flatMap(([id, hash, name, workspace, user, createdAt]) => [
      id,
      hash,
      name,
      idToBytes(tenant.organizationId),
      idToBytes(workspace),
      user,
      createdAt,
    ]),
  );
}

describe("keys among many others", () => {
  it.each([
    ["of kind management", () => ({ kind: "management" as const }), 1],
    ["of a workspace", () => ({ workspaceId: otherWorkspaceId }), fewKeys],
    ["of a user", () => ({ creatorUserIds: ["user_few", "user_none"] }), fewKeys],
    [
      "of users in a workspace",
      () => ({ workspaceId: tenant.workspaceId, creatorUserIds: ["user_few", tenant.userId] }),
      1,
    ],
  ])("are found without reading the others: those %s", async (_name, filter, count) => {
    let found: readonly unknown[] = [];
    const reads = await rowReads(connection, async () => {
      found = await listEnabledKeys(connection, tenant.organizationId, filter());
    });
    expect(found).toHaveLength(count);
    expect(reads).toBeLessThan(60);
  });

  const list = (workspaceId: string, offset: number) => {
    const isDefault = workspaceId === tenant.workspaceId;
    const { organizationId } = tenant;
    const of = { organizationId, workspaceId, withManagementKeys: isDefault, withDisabled: false };
    return listWorkspaceKeys(connection, of, { offset, limit: 10 });
  };

  it("are listed without reading the others", async () => {
    const reads = await rowReads(connection, () => list(otherWorkspaceId, 0));
    expect(reads).toBeLessThan(60);
    expect((await list(otherWorkspaceId, 0)).totalCount).toBe(fewKeys);
  });

  it("are counted in one pass, and a page is read by index", async () => {
    const reads = await rowReads(connection, () => list(tenant.workspaceId, 0));
    expect(reads).toBeLessThan(manyKeys + 150);
  });

  it("are listed newest first with the management keys, page by page", async () => {
    const pages = [];
    for (let offset = 0; offset <= manyKeys; offset += 10) pages.push(await list(tenant.workspaceId, offset));
    const keys = pages.flatMap((page) => page.keys);
    expect(new Set(pages.map(({ totalCount }) => totalCount))).toEqual(new Set([manyKeys + 2]));
    expect(new Set(keys.map(({ id }) => id)).size).toBe(manyKeys + 2);
    expect(keys.slice(0, 2).map(({ kind }) => kind)).toContain("management");
    const times = keys.map(({ createdAt }) => createdAt.getTime());
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });
});

it("deletes expired requests without reading recent ones", async () => {
  const organizationId = tenant.organizationId;
  const now = new Date();
  const digest = Buffer.alloc(32);
  const values = Array.from({ length: 1_000 }, (_, n) => [idToBytes(organizationId), `r${n}`, digest, digest, now]);
  await connection.query(
    `INSERT INTO key_requests (organization_id, request_id, request_digest, key_hash, created_at)
      VALUES ${values.map(() => "(?, ?, ?, ?, ?)").join(", ")}`,
    values.flat(),
  );
  const request = keyRequestOf(organizationId, { requestId: "new" }, digest);
  const reads = await rowReads(connection, () => insertKeyRequest(connection, request, "00".repeat(32), now));
  expect(reads).toBeLessThan(20);
});
