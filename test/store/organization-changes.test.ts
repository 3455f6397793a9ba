import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ChangeFilter, LoggedChange } from "../../services/organization/domain/changes.ts";
import type { NewKey } from "../../services/organization/domain/keys.ts";
import type { Organization } from "../../services/organization/domain/organizations.ts";
import { updateMember } from "../../services/organization/store/change-members.ts";
import { changeOrganization, type Work } from "../../services/organization/store/change-organization.ts";
import { insertAnswer, type RepeatableRequest } from "../../services/organization/store/change-requests.ts";
import { countChanges, insertChanges } from "../../services/organization/store/changes.ts";
import { createKey } from "../../services/organization/store/create-key.ts";
import { insertKey } from "../../services/organization/store/keys.ts";
import { listChanges } from "../../services/organization/store/list-changes.ts";
import { listKeys } from "../../services/organization/store/list-keys.ts";
import { findOldestAdminUserId } from "../../services/organization/store/members.ts";
import { findOrganization, lockOrganization } from "../../services/organization/store/organizations.ts";
import { rotateKey } from "../../services/organization/store/rotate-key.ts";
import { deleteKey } from "../../services/organization/store/update-key.ts";
import { idFromBytes, idToBytes, newId } from "../../services/platform/domain/ids.ts";
import type { Caller } from "../../services/platform/mysql/caller.ts";
import { openPool, type Pool, type PoolConnection, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { inTransaction } from "../../services/platform/mysql/transaction.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { isSharded, type TestDatabase } from "../support/database.ts";
import { type DatabaseProxy, type Fault, openDatabaseProxy } from "../support/database-proxy.ts";
import { waitsForLock } from "../support/lock-waits.ts";
import { createOrganizationDatabase } from "../support/organization-database.ts";
import { rowReads } from "../support/row-reads.ts";
import { type Tenant, Tenants } from "../support/tenants.ts";

let database: TestDatabase;
let pool: Pool;
let tenant: Tenant;

beforeAll(async () => {
  database = await createOrganizationDatabase();
  pool = openPool(database.url, 4);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

beforeEach(async () => {
  tenant = await new Tenants(pool).createOrganization();
});

const everything: ChangeFilter = { action: undefined, userId: undefined, targetId: undefined };
const key = {
  name: "CI",
  kind: "api",
  workspace: "",
  creatorUserId: "",
  expiresAt: undefined,
  permissions: [],
  requestId: "once",
} as const;

function change<T>(work: Work<T>, on: Pool = pool, forMs = 15_000, request?: RepeatableRequest<T>): Promise<T> {
  const caller = { deadlineMs: monotonicMs() + forMs, isCanceled: () => false };
  const actor = { userId: tenant.userId, keyId: undefined };
  return changeOrganization(on, tenant.organizationId, actor, caller, work, request);
}

const logged = async () =>
  (await listChanges(pool, tenant.organizationId, everything, { offset: 0, limit: 100 })).changes;

it("retries a change whose place in the log was taken by another node", async () => {
  const proxy = await openDatabaseProxy(database.url);
  const oneNode = openPool(proxy.url, 1);
  const before = (await logged()).length;
  let attempts = 0;
  const make = createKey(key, tenant.userId);
  await change(async (...parts) => {
    const made = await make(...parts);
    attempts += 1;
    // The log entries come next.
    if (attempts === 1) proxy.fail(isSharded ? "query" : "prepare", 1062, 1);
    return made;
  }, oneNode);
  await oneNode.end();
  await proxy.close();
  expect(attempts).toBe(2);
  expect(await logged()).toHaveLength(before + 1);
});

it("checks again if another node's change came between its check and its log entry", async () => {
  const colleague = (role: "org:admin" | "org:member") => ({
    email: `${newId()}@example.com`,
    firstName: undefined,
    lastName: undefined,
    role,
    createdAt: new Date(),
  });
  // With many members, an UPDATE of one does not read, and wait for, the rows of the others on any server.
  const members = [colleague("org:admin"), ...Array.from({ length: 50 }, () => colleague("org:member"))];
  const [other = ""] = await new Tenants(pool).addMembers(tenant, members);
  const demote = updateMember(tenant.userId, { role: "org:member" });
  let attempts = 0;
  const demotion = change(async (...parts) => {
    const demoted = await demote(...parts);
    attempts += 1;
    if (attempts === 1) await changeThroughAnotherNode(updateMember(other, { role: "org:member" }));
    return demoted;
  });
  await expect(demotion).rejects.toMatchObject({ reason: "LAST_ADMIN" });
  expect(attempts).toBe(1);
  expect(await findOldestAdminUserId(pool, tenant.organizationId)).toBe(tenant.userId);
});

it("returns the same key for two requests with one seed through two nodes at once", async () => {
  const make = createKey({ ...key, secretSeed: randomBytes(32) }, tenant.userId);
  let first: Promise<NewKey> | undefined;
  const second = await change((connection, ...rest) => {
    const execute = async (sql: string, values: unknown[]) => {
      // It has seen by now that there is no such key.
      if (sql.startsWith("INSERT INTO api_keys")) first ??= changeThroughAnotherNode(make);
      await first;
      return connection.execute(sql, values);
    };
    return make({ execute } as unknown as PoolConnection, ...rest);
  });
  expect(second).toEqual(await first);
  expect((await listKeys(pool, tenant.organizationId)).filter(({ name }) => name === "CI")).toHaveLength(1);
});

it("repeats the first answer if that came through another node after the check", async () => {
  const { key: made } = await change(createKey(key, tenant.userId));
  const request: RepeatableRequest<{ id: string }> = {
    requestId: "deletion",
    digest: randomBytes(32),
    toBytes: ({ id }) => Buffer.from(id),
    fromBytes: (bytes) => ({ id: Buffer.from(bytes).toString() }),
  };
  const remove = deleteKey(made.id);
  const removeAgain: Work<{ id: string }> = async (...parts) => {
    await changeThroughAnotherNode(remove, request);
    return remove(...parts);
  };
  expect(await change(removeAgain, pool, 15_000, request)).toEqual({ id: made.id });
  expect((await logged()).filter(({ action }) => action === "key_deleted")).toHaveLength(1);
});

it.each(["another caller's retry", "a retry with its seed"])(
  "recognizes a rotation of a key named by its hash that came through another node after the check: %s",
  async (retry) => {
    const { key: made } = await change(createKey(key, tenant.userId));
    const rotation = { key: made.hash, graceSeconds: 0, requestId: "rotation" };
    const rotate = rotateKey({ ...rotation, secretSeed: randomBytes(32) });
    const rotateAgain = retry === "a retry with its seed" ? rotate : rotateKey(rotation);
    let first: Promise<NewKey> | undefined;
    const second = change((connection, ...rest) => {
      const execute = async (sql: string, values: unknown[]) => {
        // It has seen by now that the request is new.
        if (sql.includes("FROM api_keys")) first ??= changeThroughAnotherNode(rotate);
        await first;
        return connection.execute(sql, values);
      };
      return rotateAgain({ execute } as unknown as PoolConnection, ...rest);
    });
    if (rotateAgain === rotate) expect((await second).secret).toBe((await first)?.secret);
    else {
      const hash = second.catch(({ metadata }) => metadata.hash);
      await expect(second).rejects.toMatchObject({ reason: "KEY_ALREADY_MADE" });
      expect(await hash).toBe((await first)?.key.hash);
    }
    expect((await logged()).filter(({ action }) => action === "key_rotated")).toHaveLength(1);
  },
);

/** A node that applies another's transaction does not wait for rows that are only locked here. */
function changeThroughAnotherNode<T>(work: Work<T>, request?: RepeatableRequest<T>): Promise<T> {
  return inTransaction(pool, async (connection) => {
    const { organizationId, userId } = tenant;
    const organization = (await findOrganization(connection, organizationId)) as Organization;
    const last = await countChanges(connection, organizationId, {});
    const now = new Date();
    const { result, changes } = await work(connection, organization, now);
    const actor = { userId, keyId: undefined };
    const entries = changes.map((change) => ({ ...change, id: newId(), actor, createdAt: now }));
    await insertChanges(connection, organizationId, last, entries);
    if (request) await insertAnswer(connection, organizationId, request, result, now);
    return result;
  });
}

/** Waits for the organization's lock, which a transaction of another node would not, so that it comes next. */
function applyElsewhere({ key: made }: NewKey, logId: Buffer): Promise<void> {
  return inTransaction(pool, async (connection) => {
    const { organizationId, userId } = tenant;
    await lockOrganization(connection, organizationId);
    await insertKey(connection, made);
    const last = await countChanges(connection, organizationId, {});
    const target = { kind: "key", id: made.id, name: made.name } as const;
    const actor = { userId, keyId: undefined };
    const entry = {
      id: idFromBytes(logId),
      action: "key_created",
      target,
      fields: [],
      actor,
      createdAt: new Date(),
    } as const;
    await insertChanges(connection, organizationId, last, [entry]);
  });
}

describe("a change whose COMMIT is not answered", () => {
  let proxy: DatabaseProxy;
  let faulty: Pool;

  beforeEach(async () => {
    proxy = await openDatabaseProxy(database.url);
    faulty = openPool(proxy.url, 4, { statementTimeoutMs: 1_300, lockTimeoutSeconds: 1 });
  });

  afterEach(async () => {
    proxy.letGo();
    await faulty.end();
    await proxy.close();
  });

  const faults: readonly [string, Fault][] = [
    ["is lost", "silence"],
    ["is applied but its answer is lost", "deaf"],
    ["is cut off", "reset"],
    ["is applied but then cut off", "lost answer"],
  ];

  it.each(faults)("is made once and answers what is stored if the commit %s", async (_name, fault) => {
    proxy.fail("commit", fault, 1);
    const { key: made } = await change(createKey(key, tenant.userId), faulty);
    const stored = await listKeys(pool, tenant.organizationId);
    expect(stored.filter(({ name }) => name === "CI").map(({ hash }) => hash)).toEqual([made.hash]);
    expect((await logged()).filter(({ target }) => target.id === made.id)).toHaveLength(1);
    proxy.fail("commit", fault, 1);
    const deleted = await change(deleteKey(made.id), faulty);
    expect(deleted.id).toBe(made.id);
    expect((await logged()).filter(({ target }) => target.id === made.id)).toHaveLength(2);
  });

  it("answers what is stored if a node applies it only after a second attempt failed", async () => {
    const logIds: Buffer[] = [];
    const watched = Object.create(faulty, {
      getConnection: {
        value: async (caller: Caller) => {
          const connection = await faulty.getConnection(caller);
          const execute = connection.execute.bind(connection);
          return Object.assign(connection, {
            execute: (sql: string, values: unknown[]) => {
              if (sql.startsWith("INSERT INTO organization_changes")) logIds.push(values[5] as Buffer);
              return execute(sql, values);
            },
          });
        },
      },
    });
    const make = createKey({ ...key, requestId: "" }, tenant.userId);
    const made: NewKey[] = [];
    let applied: Promise<void> | undefined;
    proxy.fail("commit", "reset", 1);
    const answer = await change(async (...parts) => {
      const changed = await make(...parts);
      made.push(changed.result);
      if (made.length === 2) {
        applied = applyElsewhere(made[0] as NewKey, logIds[0] as Buffer);
        await expect.poll(() => waitsForLock(pool)).toBe(true);
        proxy.fail("commit", 1213, 1);
      }
      return changed;
    }, watched);
    await applied;
    expect(made).toHaveLength(2);
    expect(answer).toEqual(made[0]);
    const stored = await listKeys(pool, tenant.organizationId);
    expect(stored.filter(({ name }) => name === "CI").map(({ id }) => id)).toEqual([answer.key.id]);
  });

  it("does not claim that nothing was stored if time runs out first", async () => {
    proxy.fail("commit", "hold", 1);
    const failure = await change(createKey(key, tenant.userId), faulty, 5_000).catch((error) => error);
    expect(failure).toMatchObject({ kind: "unavailable" });
    expect(failure.message).not.toContain("nothing was stored");
    proxy.letGo();
    await expect.poll(async () => (await logged()).filter(({ target }) => target.name === "CI")).toHaveLength(1);
    await expect(change(createKey(key, tenant.userId), faulty)).rejects.toMatchObject({ reason: "KEY_ALREADY_MADE" });
  });
});

describe("changes while their connections are killed", () => {
  it("are made once each, with one log entry, numbered without gaps", async () => {
    const killable = openPool(database.url, 4);
    const ids: number[] = [];
    let connections = 0;
    const getConnection = async (caller?: Caller) => {
      const connection = await killable.getConnection(caller);
      try {
        const [rows] = await connection.query<RowDataPacket[]>("SELECT CONNECTION_ID() AS id");
        connections += 1;
        // Not every one, so that changes complete however long one takes.
        if (connections % 4 === 0) ids.push(rows[0]?.id);
        return connection;
      } catch (error) {
        connection.destroy();
        throw error;
      }
    };
    const killed = { getConnection } as unknown as Pool;
    let kills = 0;
    const isOver = () => kills > 10 && made.length > 10;
    const kill = async () => {
      for (; !isOver(); await sleep(20)) {
        const id = ids.pop();
        if (id === undefined) continue;
        // It may have been killed before.
        await pool.query("KILL ?", [id]).then(
          () => (kills += 1),
          () => {},
        );
      }
    };
    const made: string[] = [];
    const make = async () => {
      while (!isOver()) {
        const answer = await change(createKey({ ...key, requestId: "" }, tenant.userId), killed);
        made.push(answer.key.hash);
      }
    };
    await Promise.all([kill(), make(), make(), make(), make()]);
    await killable.end();
    const stored = (await listKeys(pool, tenant.organizationId)).filter(({ name }) => name === "CI");
    expect(stored.map(({ hash }) => hash).sort()).toEqual([...made].sort());
    const [rows] = await pool.query<RowDataPacket[]>(
      "SELECT number, user_number FROM organization_changes WHERE organization_id = ? ORDER BY number",
      [idToBytes(tenant.organizationId)],
    );
    const numbers = Array.from({ length: made.length + 3 }, (_, index) => index + 1);
    expect(rows.map(({ number }) => number)).toEqual(numbers);
    expect(rows.map(({ user_number }) => user_number)).toEqual(numbers);
  });
});

describe("a change that waits for another in its organization", () => {
  it("is dropped once its caller gives up, while others' changes are made", async () => {
    const other = await new Tenants(pool).createOrganization();
    const before = await logged();
    await inTransaction(pool, async (connection) => {
      await connection.execute("SELECT id FROM organizations WHERE id = ? FOR UPDATE", [
        idToBytes(tenant.organizationId),
      ]);
      const late = change(createKey(key, tenant.userId), pool, 3_000);
      late.catch(() => {});
      const caller = { deadlineMs: monotonicMs() + 15_000, isCanceled: () => false };
      const actor = { userId: other.userId, keyId: undefined };
      await changeOrganization(pool, other.organizationId, actor, caller, createKey(key, other.userId));
      await expect(late).rejects.toMatchObject({ kind: "aborted", reason: "CONFLICT" });
    });
    expect(await logged()).toEqual(before);
  });

  it("is dropped if its caller has canceled when the lock is free", async () => {
    const caller = { deadlineMs: monotonicMs() + 15_000, isCanceled: () => true };
    const actor = { userId: undefined, keyId: undefined };
    const late = changeOrganization(pool, tenant.organizationId, actor, caller, createKey(key, tenant.userId));
    await expect(late).rejects.toMatchObject({ kind: "deadline_exceeded" });
    expect((await logged()).some(({ target }) => target.name === "CI")).toBe(false);
  });
});

describe("a page of a long change log", () => {
  const count = 3_000;

  beforeEach(async () => {
    const actions = ["key_created", "key_updated", "member_added"] as const;
    const changes = Array.from(
      { length: count },
      (_, n): LoggedChange => ({
        id: newId(),
        action: actions[n % 3] ?? "key_created",
        actor: { userId: `user_${n % 2}`, keyId: undefined },
        target: { kind: "key", id: n < count / 3 ? "hot" : `target-${n % 10}`, name: `Change ${n}` },
        fields: [],
        createdAt: new Date(n),
      }),
    );
    await inTransaction(pool, async (connection) => {
      for (let at = 0; at < count; at += 500) {
        await insertChanges(connection, tenant.organizationId, at + 3, changes.slice(at, at + 500));
      }
    });
  });

  it.each([
    ["all", {}, count + 3, 60],
    ["an action", { action: "key_updated" }, count / 3, 60],
    ["a user", { userId: "user_1" }, count / 2, 60],
    ["an action of a user", { userId: "user_1", action: "key_updated" }, count / 6, 60],
    ["a target", { targetId: "target-7" }, count / 15, 300],
    ["a target, by action", { targetId: "target-7", action: "key_updated" }, 66, 400],
    ["a target, by user", { targetId: "target-7", userId: "user_1" }, count / 15, 300],
    // Its entries are counted in one index scan, and a page is near one of its ends.
    ["a target with a third of all entries", { targetId: "hot" }, count / 3, count / 3 + 200],
  ] as const)("reads as few rows at its end as at its start: %s", async (_name, filter, total, readsMax) => {
    const connection = await pool.getConnection();
    try {
      for (const offset of [0, total - 10]) {
        const list = () =>
          listChanges(connection, tenant.organizationId, { ...everything, ...filter }, { offset, limit: 20 });
        expect(await rowReads(connection, list)).toBeLessThan(readsMax);
        const page = await list();
        expect(page.totalCount).toBe(total);
        expect(page.changes).toHaveLength(offset === 0 ? 20 : 10);
        const times = page.changes.map(({ createdAt }) => createdAt.getTime());
        if (total < count) expect(times).toEqual([...times].sort((a, b) => b - a));
      }
    } finally {
      connection.release();
    }
  });
});
