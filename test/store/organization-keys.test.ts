import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { rotatedKey } from "../../services/organization/domain/key-changes.ts";
import {
  hashKey,
  type NewKey,
  newApiKey,
  newManagementKey,
  newSecret,
} from "../../services/organization/domain/keys.ts";
import { newWorkspace } from "../../services/organization/domain/workspaces.ts";
import { findKeyScope, findKeyScopes } from "../../services/organization/store/key-scopes.ts";
import {
  findKeyAnywhere,
  insertKey,
  updateKeySecret,
  updateKeysLastUsed,
} from "../../services/organization/store/keys.ts";
import { LastUseRecorder } from "../../services/organization/store/last-use-recorder.ts";
import { listKeys } from "../../services/organization/store/list-keys.ts";
import { insertOrganization } from "../../services/organization/store/organizations.ts";
import { insertWorkspace } from "../../services/organization/store/workspaces.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { type Executor, openPool, type Pool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { inTransaction } from "../../services/platform/mysql/transaction.ts";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import type { TestDatabase } from "../support/database.ts";
import { createOrganizationDatabase } from "../support/organization-database.ts";

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createOrganizationDatabase();
  pool = openPool(database.url, 4);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

let organizationId: string;
let defaultWorkspaceId: string;
let secondWorkspaceId: string;
let apiKey: NewKey;
let managementKey: NewKey;

beforeEach(async () => {
  organizationId = newId();
  const workspaces = ["Default", "Second"].map((name) => newWorkspace(organizationId, { name }, undefined));
  [defaultWorkspaceId, secondWorkspaceId] = workspaces.map(({ id }) => id) as [string, string];
  await insertOrganization(pool, { id: organizationId, name: organizationId, defaultWorkspaceId }, new Date());
  for (const workspace of workspaces) await insertWorkspace(pool, workspace);
  const owner = { name: "Key", organizationId, creatorUserId: "user_1", expiresAt: undefined };
  apiKey = newApiKey(owner, { workspaceId: secondWorkspaceId, permissions: ["presets:read"] });
  managementKey = newManagementKey(owner);
  await insertKey(pool, apiKey.key);
  await insertKey(pool, managementKey.key);
});

/** The pool, and how many statements were executed through it. */
function countStatements() {
  let statements = 0;
  const counting = {
    execute: (...parameters: Parameters<Pool["execute"]>) => {
      statements += 1;
      return pool.execute(...parameters);
    },
  } as unknown as Executor;
  return { counting, statements: () => statements };
}

describe("a stored key", () => {
  it("is read back as stored", async () => {
    const expiresAt = new Date("2030-01-01T00:00:00.123Z");
    const full = newApiKey(
      { name: "Schlüssel 🔑", organizationId, creatorUserId: "user_2", expiresAt },
      { workspaceId: secondWorkspaceId, permissions: ["presets:read", "presets:write"] },
    );
    await insertKey(pool, full.key);
    expect(await findKeyAnywhere(pool, full.key.id)).toEqual(full.key);
    expect(await findKeyAnywhere(pool, managementKey.key.id)).toEqual(managementKey.key);
    expect(await findKeyAnywhere(pool, newId())).toBeUndefined();
  });

  it("leaves no trace of its secret in the table", async () => {
    const [rows] = await pool.query<RowDataPacket[]>("SELECT * FROM api_keys WHERE id = ?", [idToBytes(apiKey.key.id)]);
    const stored = Object.values(rows[0] ?? {}).map((value) =>
      value instanceof Buffer ? value.toString("latin1") : `${value}`,
    );
    expect(stored).toContain(hashKey(apiKey.secret).toString("latin1"));
    expect(stored.join()).not.toContain(apiKey.secret.slice("sk-sp-v1-".length, -6));
  });

  it("is listed with its organization's keys, oldest first", async () => {
    expect((await listKeys(pool, organizationId)).map(({ id }) => id)).toEqual([apiKey.key.id, managementKey.key.id]);
    expect(await listKeys(pool, newId())).toEqual([]);
  });
});

describe("the scope of a key", () => {
  const scopeOf = ({ secret }: NewKey, workspaceId?: string) =>
    findKeyScope(pool, { hash: hashKey(secret), workspaceId });

  it("is undefined if no key has the hash", async () => {
    expect(await findKeyScope(pool, { hash: Buffer.alloc(32), workspaceId: undefined })).toBeUndefined();
  });

  it("is an API key's own workspace, whatever is requested", async () => {
    const expected = { key: apiKey.key, organizationId, workspaceId: secondWorkspaceId, secretExpiresAt: undefined };
    expect(await scopeOf(apiKey)).toEqual(expected);
    expect(await scopeOf(apiKey, defaultWorkspaceId)).toEqual(expected);
  });

  it("is the default workspace for a management key, or the requested one", async () => {
    expect(await scopeOf(managementKey)).toMatchObject({ organizationId, workspaceId: defaultWorkspaceId });
    expect(await scopeOf(managementKey, secondWorkspaceId)).toMatchObject({ workspaceId: secondWorkspaceId });
    expect(await scopeOf(managementKey, newId())).toMatchObject({ organizationId, workspaceId: undefined });
  });

  it("does not include another organization's workspace", async () => {
    const foreign = newWorkspace(newId(), { name: "Foreign" }, undefined);
    await insertWorkspace(pool, foreign);
    expect(await scopeOf(managementKey, foreign.id)).toMatchObject({ organizationId, workspaceId: undefined });
  });

  it("excludes a deleted workspace", async () => {
    await pool.execute("UPDATE workspaces SET deleted_at = ? WHERE id = ?", [new Date(), idToBytes(secondWorkspaceId)]);
    expect(await scopeOf(apiKey)).toMatchObject({ organizationId, workspaceId: undefined });
    expect(await scopeOf(managementKey)).toMatchObject({ organizationId, workspaceId: defaultWorkspaceId });
    expect(await scopeOf(managementKey, secondWorkspaceId)).toMatchObject({ organizationId, workspaceId: undefined });
  });

  it("excludes a deleted organization and its workspaces", async () => {
    await pool.execute("UPDATE organizations SET deleted_at = ? WHERE id = ?", [new Date(), idToBytes(organizationId)]);
    const gone = { organizationId: undefined, workspaceId: undefined };
    expect(await scopeOf(apiKey)).toMatchObject(gone);
    expect(await scopeOf(managementKey)).toMatchObject(gone);
    expect(await scopeOf(managementKey, secondWorkspaceId)).toMatchObject(gone);
  });

  it("is read for many keys in one statement, or two if a secret was rotated", async () => {
    const after = rotatedKey(apiKey.key, newSecret(), 60, new Date());
    const shown = [managementKey, apiKey, managementKey].map(({ secret }, index) => ({
      hash: hashKey(secret),
      workspaceId: index === 2 ? secondWorkspaceId : undefined,
    }));
    const { counting, statements } = countStatements();
    const found = await findKeyScopes(counting, shown);
    expect(shown.map((each) => found.get(each)?.workspaceId)).toEqual([
      defaultWorkspaceId,
      secondWorkspaceId,
      secondWorkspaceId,
    ]);
    expect(statements()).toBe(1);
    await updateKeySecret(pool, apiKey.key, after);
    const rotated = await findKeyScopes(counting, shown);
    expect(shown.map((each) => rotated.get(each)?.key.id)).toEqual(shown.map((each) => found.get(each)?.key.id));
    const expiries = shown.map((each) => rotated.get(each)?.secretExpiresAt);
    expect(expiries).toEqual([undefined, after.previousExpiresAt, undefined]);
    expect(statements()).toBe(3);
  });

  it("is read by one unique key in each table", async () => {
    const plans: RowDataPacket[][] = [];
    const explaining = {
      execute: async (sql: string, values: unknown[]) => {
        const [plan] = await pool.query<RowDataPacket[]>(`EXPLAIN FORMAT=TRADITIONAL ${sql}`, values);
        plans.push(plan);
        return [[], []];
      },
    } as unknown as Executor;
    const shown = [apiKey, managementKey].map(({ secret }) => ({ hash: hashKey(secret), workspaceId: undefined }));
    await findKeyScopes(explaining, shown);
    // By the key's current secret, and by its previous one.
    expect(plans).toHaveLength(2);
    for (const plan of plans) {
      const tables = plan.filter(({ table }) => ["k", "o", "w"].includes(table));
      expect(tables).toHaveLength(3);
      for (const { type } of tables) expect(["const", "eq_ref"]).toContain(type);
    }
  });
});

describe("the last use of a key", () => {
  const lastUse = async () => (await findKeyAnywhere(pool, apiKey.key.id))?.lastUsedAt;

  it("is written unless it was written recently", async () => {
    await updateKeysLastUsed(pool, [apiKey.key.id], new Date(100_000), new Date(40_000));
    expect(await lastUse()).toEqual(new Date(100_000));
    await updateKeysLastUsed(pool, [apiKey.key.id], new Date(150_000), new Date(90_000));
    expect(await lastUse()).toEqual(new Date(100_000));
    await updateKeysLastUsed(pool, [apiKey.key.id], new Date(170_000), new Date(110_000));
    expect(await lastUse()).toEqual(new Date(170_000));
  });

  it("is recorded in the background, once for many uses", async () => {
    const recorder = new LastUseRecorder("keys", (...use) => updateKeysLastUsed(pool, ...use), silentLogger());
    const first = new Date(200_000);
    for (let use = 0; use < 100; use += 1) recorder.record(apiKey.key.id, new Date(first.getTime() + use));
    await expect.poll(lastUse).toEqual(first);
  });

  it("is recorded for many keys in one statement", async () => {
    const { counting, statements } = countStatements();
    const recorder = new LastUseRecorder("keys", (...use) => updateKeysLastUsed(counting, ...use), silentLogger());
    const usedAt = new Date(250_000);
    for (const { key } of [apiKey, managementKey]) recorder.record(key.id, usedAt);
    await expect.poll(lastUse).toEqual(usedAt);
    expect((await findKeyAnywhere(pool, managementKey.key.id))?.lastUsedAt).toEqual(usedAt);
    expect(statements()).toBe(1);
  });

  it("does not throw if it cannot be recorded", async () => {
    const closed = openPool(database.url, 1);
    await closed.end();
    new LastUseRecorder("keys", (...use) => updateKeysLastUsed(closed, ...use), silentLogger()).record(
      apiKey.key.id,
      new Date(),
    );
    await sleep(50);
    expect(await lastUse()).toBeUndefined();
  });

  it("does not block anyone while the row is locked", async () => {
    const recorder = new LastUseRecorder("keys", (...use) => updateKeysLastUsed(pool, ...use), silentLogger());
    await inTransaction(pool, async (connection) => {
      await connection.execute("SELECT id FROM api_keys WHERE id = ? FOR UPDATE", [idToBytes(apiKey.key.id)]);
      recorder.record(apiKey.key.id, new Date(300_000));
      expect(await findKeyAnywhere(pool, apiKey.key.id)).toBeDefined();
    });
    await expect.poll(lastUse).toEqual(new Date(300_000));
  });
});
