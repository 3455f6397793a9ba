import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { openPool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { inTransaction, retryTransient } from "../../services/platform/mysql/transaction.ts";
import { etagOf, type ServedPreset } from "../../services/preset/domain/preset.ts";
import { listChanges } from "../../services/preset/store/list-changes.ts";
import { updatePreset } from "../../services/preset/store/update-preset.ts";
import { VersionWriter } from "../../services/preset/store/version-writer.ts";
import { isSharded } from "../support/database.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import { waitsForLock } from "../support/lock-waits.ts";
import {
  actor,
  callerWithTime,
  creation,
  deadlineIn,
  openTestStore,
  presetUpdate,
  type TestStore,
  upTo,
} from "../support/preset-store.ts";

let store: TestStore;
let workspaceId: string;

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(() => store.close());

beforeEach(() => {
  workspaceId = newId();
});

async function createVersions(slug: string, count: number): Promise<ServedPreset> {
  for (const n of upTo(count - 1)) await store.create(workspaceId, slug, { configJson: `{"seed":${n}}` });
  return store.create(workspaceId, slug, { configJson: `{"seed":${count}}` });
}

async function storedPreset(slug: string): Promise<RowDataPacket | undefined> {
  const [rows] = await store.pool.execute<RowDataPacket[]>(
    "SELECT * FROM presets WHERE workspace_id = ? AND slug = ?",
    [idToBytes(workspaceId), slug],
  );
  return rows[0];
}

describe("updatePreset", () => {
  it("stores every field and returns what is stored", async () => {
    const before = await createVersions("all", 3);
    const after = await store.update(workspaceId, "all", {
      name: "Ünïcode 🙂",
      description: "  two\nlines ",
      status: "disabled",
      designatedVersion: 2,
    });
    expect(after).toMatchObject({
      id: before.id,
      name: "Ünïcode 🙂",
      description: "  two\nlines ",
      status: "disabled",
      statusUpdatedAt: after.updatedAt,
      latestVersion: 3,
      designatedNumber: 2,
      revision: 4,
      designatedVersion: { version: 2, configJson: '{"seed":2}' },
    });
    expect(after.designatedVersionId).toBe(after.designatedVersion.id);
    expect(await storedPreset("all")).toMatchObject({
      name: "Ünïcode 🙂",
      description: "  two\nlines ",
      status: "disabled",
      status_updated_at: after.updatedAt,
      updated_at: after.updatedAt,
      created_at: before.createdAt,
      latest_version: 3,
      designated_version: 2,
      designated_version_id: idToBytes(after.designatedVersionId),
      revision: 4,
    });
  });

  it("writes one change log entry with who, when, what, from and to", async () => {
    await createVersions("logged", 2);
    const after = await store.update(workspaceId, "logged", { description: "New", designatedVersion: 1 });
    const page = await listChanges(store.pool, workspaceId, "logged", { offset: 0, limit: 1 });
    expect(page).toEqual({
      totalCount: 3,
      changes: [
        {
          revision: 3,
          action: "preset_updated",
          actor,
          createdAt: after.updatedAt,
          fields: [
            { field: "description", from: null, to: "New" },
            { field: "designated_version", from: 2, to: 1 },
          ],
        },
      ],
    });
  });

  it.each([
    ["a version that does not exist", { designatedVersion: 3 }, "VERSION_NOT_FOUND"],
    ["a stale etag", { etags: ["stale"] }, "ETAG_STALE"],
    ["a status transition that is not allowed", { status: "disabled" }, "STATUS_TRANSITION"],
  ] as const)("changes nothing if one part is rejected: %s", async (_name, bad, reason) => {
    await createVersions("atomic", 2);
    await store.update(workspaceId, "atomic", { status: "archived" });
    const before = await storedPreset("atomic");
    const update = store.update(workspaceId, "atomic", { name: "Changed", description: "Changed", ...bad });
    await expect(update).rejects.toMatchObject({ reason });
    expect(await storedPreset("atomic")).toEqual(before);
    expect(await listChanges(store.pool, workspaceId, "atomic", { offset: 0, limit: 50 })).toMatchObject({
      totalCount: 3,
    });
  });

  it("leaves row and change log untouched if nothing changes", async () => {
    const preset = await createVersions("same", 1);
    const before = await storedPreset("same");
    await sleep(5);
    const after = await store.update(workspaceId, "same", { name: "same", status: "active", designatedVersion: 1 });
    expect(after).toEqual(preset);
    expect(await storedPreset("same")).toEqual(before);
    expect(await store.revisions(preset)).toEqual([1]);
  });

  it("does not find another workspace's preset", async () => {
    await store.create(workspaceId, "mine");
    await expect(store.update(newId(), "mine", { name: "Yours" })).rejects.toMatchObject({
      reason: "PRESET_NOT_FOUND",
    });
    expect(await storedPreset("mine")).toMatchObject({ name: "mine" });
  });

  it("applies a change once, and repeats the first answer even after newer changes", async () => {
    const preset = await createVersions("retried", 3);
    const update = {
      name: "Once",
      description: "Twice",
      status: "disabled",
      designatedVersion: 2,
      etags: [etagOf(preset)],
      requestId: "retry me",
    } as const;
    const first = await store.update(workspaceId, "retried", update);
    expect(await store.update(workspaceId, "retried", update)).toEqual(first);
    await store.update(workspaceId, "retried", { name: "Later", description: null, status: "active" });
    await store.update(workspaceId, "retried", { designatedVersion: 3 });
    expect(await store.update(workspaceId, "retried", update)).toEqual(first);
    expect(await storedPreset("retried")).toMatchObject({ name: "Later", designated_version: 3, revision: 6 });
    expect(await store.revisions(preset)).toEqual(upTo(6));
  });

  it("repeats the first answer of an update that changed nothing", async () => {
    const preset = await store.create(workspaceId, "no-op");
    const update = { name: "no-op", requestId: "no-op" };
    expect(await store.update(workspaceId, "no-op", update)).toEqual(preset);
    await store.update(workspaceId, "no-op", { name: "Later" });
    expect(await store.update(workspaceId, "no-op", update)).toEqual(preset);
    expect(await storedPreset("no-op")).toMatchObject({ name: "Later", revision: 2 });
  });

  it("rejects a request id used by another update, another preset or a creation", async () => {
    await store.create(workspaceId, "one");
    await store.create(workspaceId, "two", { requestId: "of a creation" });
    await store.update(workspaceId, "one", { name: "One", requestId: "used" });
    const reused = { kind: "already_exists", reason: "REQUEST_ID_REUSED" };
    for (const [slug, name, requestId] of [
      ["one", "Other", "used"],
      ["two", "One", "used"],
      ["one", "One", "of a creation"],
    ] as const) {
      await expect(store.update(workspaceId, slug, { name, requestId })).rejects.toMatchObject(reused);
    }
    const creating = store.create(workspaceId, "one", { requestId: "used", isNamedByCaller: true });
    await expect(creating).rejects.toMatchObject(reused);
    expect(await storedPreset("one")).toMatchObject({ name: "One", revision: 2, latest_version: 1 });
    expect(await storedPreset("two")).toMatchObject({ name: "two", revision: 1 });
  });

  it("forgets an answer after a day, and not before", async () => {
    await store.create(workspaceId, "forgetful");
    const ageHours = { old: 25, young: 23 };
    for (const [requestId, hours] of Object.entries(ageHours)) {
      await store.update(workspaceId, "forgetful", { name: requestId, requestId });
      await store.pool.execute("UPDATE preset_updates SET created_at = ? WHERE request_id = ?", [
        new Date(Date.now() - hours * 3_600_000),
        requestId,
      ]);
    }
    const isKept = async (requestId: string) => {
      const sql = "SELECT request_id FROM preset_updates WHERE workspace_id = ? AND request_id = ?";
      const [rows] = await store.pool.execute<RowDataPacket[]>(sql, [idToBytes(workspaceId), requestId]);
      return rows.length === 1;
    };
    // Only one of many updates deletes old answers.
    for (let n = 0; n < 2_000 && (await isKept("old")); n += 1) {
      await store.update(workspaceId, "forgetful", { name: "forgetful" });
    }
    expect([await isKept("old"), await isKept("young")]).toEqual([false, true]);
  });

  it("starts nothing for a caller that has left, before or after getting the lock", async () => {
    const preset = await store.create(workspaceId, "gone");
    for (const looksBefore of [0, 1, 2]) {
      let looks = 0;
      const caller = { deadlineMs: deadlineIn(), isCanceled: () => ++looks > looksBefore };
      const update = presetUpdate("gone", { name: "Gone", requestId: `gone ${looksBefore}` });
      await expect(updatePreset(store.pool, workspaceId, actor, update, caller)).rejects.toMatchObject({
        kind: "deadline_exceeded",
      });
      expect(looks).toBe(looksBefore + 1);
    }
    expect(await storedPreset("gone")).toMatchObject({ name: "gone" });
    expect(await store.revisions(preset)).toEqual([1]);
  });

  it("applies simultaneous duplicates once", async () => {
    const preset = await store.create(workspaceId, "twins");
    const update = { description: "Once", requestId: "twins" };
    const answers = await Promise.all(upTo(20).map(() => store.update(workspaceId, "twins", update)));
    expect(new Set(answers.map(({ revision }) => revision))).toEqual(new Set([2]));
    expect(await store.revisions(preset)).toEqual([1, 2]);
  });

  // On Galera a row lock is local to its node, so a duplicate may be stored while the preset is locked here.
  it.each([
    ["changed nothing", "elsewhere"],
    ["would change something by now", "Renamed since"],
  ])("repeats the first answer if a duplicate that %s was stored meanwhile", async (_name, nameNow) => {
    const preset = await store.create(workspaceId, "elsewhere");
    const update = { name: "elsewhere", requestId: "elsewhere" };
    await store.update(workspaceId, "elsewhere", update);
    const [rows] = await store.pool.execute<RowDataPacket[]>(
      "SELECT * FROM preset_updates WHERE workspace_id = ? AND request_id = 'elsewhere'",
      [idToBytes(workspaceId)],
    );
    await store.pool.execute("DELETE FROM preset_updates WHERE workspace_id = ?", [idToBytes(workspaceId)]);
    await store.pool.execute("UPDATE presets SET name = ? WHERE workspace_id = ?", [nameNow, idToBytes(workspaceId)]);
    const answer = await inTransaction(store.pool, async (connection) => {
      await connection.query("INSERT INTO preset_updates VALUES (?)", [Object.values(rows[0] ?? {})]);
      const waiting = retryTransient(deadlineIn(), () => store.update(workspaceId, "elsewhere", update));
      await expect.poll(() => waitsForLock(store.pool), { interval: 200 }).toBe(true);
      return { waiting: waiting.catch((error) => error) };
    });
    expect(await answer.waiting).toEqual(preset);
    expect(await storedPreset("elsewhere")).toMatchObject({ name: nameNow, revision: 1 });
    expect(await store.revisions(preset)).toEqual([1]);
  });

  it("stores nothing if it got the lock too late for its caller", async () => {
    const preset = await store.create(workspaceId, "late");
    const update = await inTransaction(store.pool, async (connection) => {
      const row = [idToBytes(workspaceId), "late"];
      await connection.execute("SELECT slug FROM presets WHERE workspace_id = ? AND slug = ? FOR UPDATE", row);
      const waiting = updatePreset(
        store.pool,
        workspaceId,
        actor,
        presetUpdate("late", { name: "Late" }),
        callerWithTime(300),
      );
      await sleep(400);
      return { waiting: waiting.catch((error) => error) };
    });
    expect(await update.waiting).toMatchObject({ kind: "deadline_exceeded" });
    expect(await storedPreset("late")).toMatchObject({ name: "late", revision: 1 });
    expect(await store.revisions(preset)).toEqual([1]);
  });

  it("distinguishes request ids by case and trailing spaces", async () => {
    const preset = await store.create(workspaceId, "exact");
    for (const [index, requestId] of ["id", "ID", "id "].entries()) {
      await store.update(workspaceId, "exact", { name: `Name ${index}`, requestId });
    }
    expect(await store.revisions(preset)).toEqual([1, 2, 3, 4]);
  });

  it("accepts exactly one of many changes with the same etag", async () => {
    let preset = await store.create(workspaceId, "raced");
    for (const round of upTo(3)) {
      const etags = [etagOf(preset)];
      const results = await Promise.allSettled(
        upTo(40).map((n) => store.update(workspaceId, "raced", { name: `Round ${round}, ${n}`, etags })),
      );
      const won = results.filter((result) => result.status === "fulfilled");
      const lost = results.filter((result) => result.status === "rejected");
      expect(won).toHaveLength(1);
      expect(new Set(lost.map(({ reason }) => reason.reason))).toEqual(new Set(["ETAG_STALE"]));
      preset = won[0]?.value as ServedPreset;
      expect(await storedPreset("raced")).toMatchObject({ name: preset.name, revision: preset.revision });
    }
    expect(await store.revisions(preset)).toEqual(upTo(4));
  });

  it("applies each change once while its connections are cut", async () => {
    const preset = await store.create(workspaceId, "killed");
    const proxy = await openDatabaseProxy(store.url);
    const pool = openPool(proxy.url, 4);
    const isOver = () => proxy.accepted > 20;
    const cut = async () => {
      for (let n = 0; !isOver(); n += 1) {
        proxy.fail(n % 3 === 0 ? "execute" : "commit", n % 2 === 0 ? "reset" : "lost answer", 1);
        await sleep(20);
      }
      await proxy.heal();
    };
    const acknowledged: string[] = [];
    const change = async (client: number) => {
      for (let n = 1; !isOver(); n += 1) {
        const update = presetUpdate("killed", { name: `Client ${client}, change ${n}` });
        await retryTransient(deadlineIn(), () => updatePreset(pool, workspaceId, actor, update, callerWithTime()));
        acknowledged.push(update.name as string);
      }
    };
    await Promise.all([cut(), ...upTo(4).map(change)]);
    await pool.end();
    await proxy.close();
    const revisions = await store.revisions(preset);
    expect(revisions).toEqual(upTo(acknowledged.length + 1));
    const logged: unknown[] = [];
    for (let offset = 0; offset < revisions.length; offset += 100) {
      const page = await listChanges(store.pool, workspaceId, "killed", { offset, limit: 100 });
      logged.push(...(page?.changes.map(({ fields }) => fields[0]?.to) ?? []));
    }
    expect(logged.slice(0, -1).sort()).toEqual(acknowledged.sort());
  });

  it("loses nothing while two processes add versions, roll back and rename", async () => {
    const otherPool = openPool(store.url, 4);
    const writers = [store.pool, otherPool].map((pool) => new VersionWriter(pool, { batchByWorkspace: isSharded }));
    const first = await store.create(workspaceId, "busy");
    const creations = upTo(120).map((n) =>
      writers[n % 2]?.createVersion(creation(workspaceId, "busy"), callerWithTime()),
    );
    const updates = upTo(60).map(async (n) => {
      await sleep(n % 7);
      const fields = n % 2 === 0 ? { name: `Name ${n}` } : { designatedVersion: 1 };
      return updatePreset(
        n % 4 < 2 ? store.pool : otherPool,
        workspaceId,
        actor,
        presetUpdate("busy", fields),
        callerWithTime(),
      );
    });
    const answers = (await Promise.all([...creations, ...updates])) as ServedPreset[];
    await otherPool.end();

    const versions = await store.versions(first);
    expect(versions.map(({ version }) => version)).toEqual(upTo(121));
    for (const { designatedVersion, designatedVersionId, designatedNumber } of answers) {
      expect(versions[designatedNumber - 1]).toEqual({ version: designatedVersion.version, id: designatedVersionId });
    }
    const stored = await storedPreset("busy");
    const revisions = await store.revisions(first);
    expect(revisions).toEqual(upTo(stored?.revision));
    // A rollback to the designated version is no change and has no revision.
    expect(new Set([1, ...answers.map(({ revision }) => revision)])).toEqual(new Set(revisions));
  });
});
