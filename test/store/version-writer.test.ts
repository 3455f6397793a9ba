import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { idFromBytes, idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { openPool, type Pool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import type { NewVersion } from "../../services/preset/domain/new-version.ts";
import { etagOf } from "../../services/preset/domain/preset.ts";
import { VersionWriter } from "../../services/preset/store/version-writer.ts";
import { isSharded, type TestDatabase } from "../support/database.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import { waitsForLock } from "../support/lock-waits.ts";
import { createPresetDatabase } from "../support/preset-database.ts";
import { callerWithTime, creation as creationIn, deadlineIn, upTo } from "../support/preset-store.ts";

let database: TestDatabase;
let pool: Pool;
let otherPool: Pool;
let writer: VersionWriter;
/** Stands for a second process: it shares only the database with the first. */
let otherWriter: VersionWriter;
let workspaceId: string;

beforeAll(async () => {
  database = await createPresetDatabase();
  pool = openPool(database.url, 8);
  otherPool = openPool(database.url, 8);
});

afterAll(async () => {
  await pool.end();
  await otherPool.end();
  await database.drop();
});

beforeEach(() => {
  writer = new VersionWriter(pool, { batchByWorkspace: isSharded });
  otherWriter = new VersionWriter(otherPool, { batchByWorkspace: true });
  workspaceId = newId();
});

function creation(slug: string, overrides?: Partial<NewVersion>): NewVersion {
  return creationIn(workspaceId, slug, overrides);
}

async function storedVersions(slug: string): Promise<{ version: number; id: string }[]> {
  const [rows] = await pool.execute<RowDataPacket[]>(
    `SELECT v.version, v.id FROM preset_versions v JOIN presets p ON p.workspace_id = v.workspace_id AND p.id = v.preset_id
      WHERE p.workspace_id = ? AND p.slug = ? ORDER BY v.version`,
    [idToBytes(workspaceId), slug],
  );
  return rows.map((row) => ({ version: row.version, id: idFromBytes(row.id) }));
}

async function storedPreset(slug: string): Promise<RowDataPacket | undefined> {
  const [rows] = await pool.execute<RowDataPacket[]>(
    `SELECT id, name, status, latest_version, designated_version, designated_version_id, created_at, updated_at
      FROM presets WHERE workspace_id = ? AND slug = ?`,
    [idToBytes(workspaceId), slug],
  );
  return rows[0];
}

describe("creations with an expected etag", () => {
  it("are each checked against the result of those before them in the batch", async () => {
    const first = await writer.createVersion(creation("expected"), callerWithTime());
    const tag = etagOf(first);
    const outcomes = await Promise.allSettled([
      ...upTo(5).map(() => writer.createVersion(creation("expected", { etags: [tag] }), callerWithTime())),
      writer.createVersion(creation("expected"), callerWithTime()),
      otherWriter.createVersion(creation("expected", { etags: [tag] }), callerWithTime()),
    ]);
    const guarded = outcomes.filter((_, index) => index !== 5);
    expect(guarded.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of guarded) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ reason: "ETAG_STALE" });
    }
    expect((await storedVersions("expected")).map(({ version }) => version)).toEqual([1, 2, 3]);
  });

  it("recognize what they stored themselves when retried", async () => {
    const tag = etagOf(await writer.createVersion(creation("again"), callerWithTime()));
    const guarded = creation("again", { etags: [tag] });
    const stored = await writer.createVersion(guarded, callerWithTime());
    expect(await otherWriter.createVersion(guarded, callerWithTime())).toEqual(stored);
    const [alone, ...others] = await Promise.all([
      writer.createVersion(guarded, callerWithTime()),
      ...upTo(3).map((n) => writer.createVersion(creation(`beside-${n}`), callerWithTime())),
    ]);
    expect(alone).toEqual(stored);
    expect(others).toHaveLength(3);
  });
});

describe("VersionWriter", () => {
  it("creates the preset and version 1 for a new slug", async () => {
    const preset = await writer.createVersion(creation("new", { systemPrompt: "Be brief 🙂" }), callerWithTime());
    expect(preset).toMatchObject({ slug: "new", name: "new", status: "active", description: undefined, workspaceId });
    expect(preset.designatedVersion).toMatchObject({ version: 1, presetId: preset.id, systemPrompt: "Be brief 🙂" });
    expect(preset.designatedVersionId).toBe(preset.designatedVersion.id);
    expect(await storedVersions("new")).toEqual([{ version: 1, id: preset.designatedVersion.id }]);
    const row = await storedPreset("new");
    expect(row).toMatchObject({ latest_version: 1, designated_version: 1, created_at: preset.createdAt });
    expect(idFromBytes(row?.designated_version_id)).toBe(preset.designatedVersionId);
  });

  it("stores config text byte for byte", async () => {
    const configJson =
      '{"logit_bias":{"50256":-100,"15":1.0},"tools":[{"__proto__":{"a":1}}],"model":"\\u00e9 é \\ud800"}';
    await writer.createVersion(creation("verbatim", { configJson }), callerWithTime());
    const [rows] = await pool.execute<RowDataPacket[]>("SELECT config FROM preset_versions WHERE workspace_id = ?", [
      idToBytes(workspaceId),
    ]);
    expect(rows[0]?.config).toBe(configJson);
  });

  it("stores nesting that the database's own JSON check would reject", async () => {
    const configJson = `{"tools":${"[".repeat(63)}${"]".repeat(63)}}`;
    const preset = await writer.createVersion(creation("deep", { configJson }), callerWithTime());
    expect(preset.designatedVersion.configJson).toBe(configJson);
  });

  it("stores the dialect of each creation in a batch, or null if unknown", async () => {
    const known = ["chat/completions", "messages", "responses", undefined] as const;
    const answers = await Promise.all(
      known.map((dialect) => writer.createVersion(creation("dialects", { dialect }), callerWithTime())),
    );
    expect(answers.map(({ designatedVersion }) => designatedVersion.dialect)).toEqual(known);
    const [rows] = await pool.execute<RowDataPacket[]>(
      "SELECT dialect FROM preset_versions WHERE workspace_id = ? ORDER BY version",
      [idToBytes(workspaceId)],
    );
    expect(rows.map(({ dialect }) => dialect)).toEqual([...known.slice(0, 3), null]);
  });

  it("adds version 2 to an existing slug and designates it", async () => {
    const first = await writer.createVersion(creation("again"), callerWithTime());
    const second = await writer.createVersion(creation("again"), callerWithTime());
    expect(second.id).toBe(first.id);
    expect(second.createdAt).toEqual(first.createdAt);
    expect(second.designatedVersion.version).toBe(2);
    expect(await storedPreset("again")).toMatchObject({ latest_version: 2, designated_version: 2 });
  });

  it("distinguishes slugs byte for byte, and by workspace", async () => {
    const lower = await writer.createVersion(creation("case"), callerWithTime());
    const upper = await writer.createVersion(creation("CASE"), callerWithTime());
    const elsewhere = await writer.createVersion(creation("case", { workspaceId: newId() }), callerWithTime());
    expect(new Set([lower.id, upper.id, elsewhere.id]).size).toBe(3);
    expect([lower, upper, elsewhere].map(({ designatedVersion }) => designatedVersion.version)).toEqual([1, 1, 1]);
  });

  it("numbers 200 creations on one slug from two processes 1 to 200, each with its own answer", async () => {
    const answers = await Promise.all(
      upTo(200).map((n) =>
        (n % 2 === 0 ? writer : otherWriter).createVersion(
          creation("hot", { configJson: `{"seed":${n}}` }),
          callerWithTime(),
        ),
      ),
    );
    expect(answers.map(({ designatedVersion }) => designatedVersion.version).sort((a, b) => a - b)).toEqual(upTo(200));
    expect(answers.map(({ designatedVersion }) => designatedVersion.configJson)).toEqual(
      upTo(200).map((n) => `{"seed":${n}}`),
    );
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    const stored = await storedVersions("hot");
    expect(stored.map(({ version }) => version)).toEqual(upTo(200));
    expect(new Set(stored.map(({ id }) => id))).toEqual(
      new Set(answers.map(({ designatedVersionId }) => designatedVersionId)),
    );
  });

  it("numbers many slugs without gaps while two processes write in opposite orders", async () => {
    const slugs = upTo(20).map((n) => `mixed-${n}`);
    const rounds = upTo(10).flatMap(() => [
      ...slugs.map((slug) => writer.createVersion(creation(slug), callerWithTime())),
      ...slugs.toReversed().map((slug) => otherWriter.createVersion(creation(slug), callerWithTime())),
    ]);
    await Promise.all(rounds);
    for (const slug of slugs) expect((await storedVersions(slug)).map(({ version }) => version)).toEqual(upTo(20));
  });

  it("repeats the first answer for a known request id, even after newer versions", async () => {
    const request = creation("replay");
    const first = await writer.createVersion(request, callerWithTime());
    await writer.createVersion(creation("replay"), callerWithTime());
    expect(await otherWriter.createVersion(request, callerWithTime())).toEqual(first);
    expect(await storedVersions("replay")).toHaveLength(2);
  });

  it("stores one version for simultaneous duplicates, within a process and across two", async () => {
    const request = creation("duplicates");
    const answers = await Promise.all(
      upTo(40).map((n) => (n % 2 === 0 ? writer : otherWriter).createVersion(request, callerWithTime())),
    );
    expect(new Set(answers.map(({ designatedVersionId }) => designatedVersionId)).size).toBe(1);
    expect(await storedVersions("duplicates")).toHaveLength(1);
  });

  it("recognizes a stored request id whatever index the database reports", async () => {
    const index = "ALTER TABLE preset_versions RENAME INDEX";
    await pool.query(`${index} preset_versions_request TO renamed`);
    try {
      const request = creation("replay");
      const first = await writer.createVersion(request, callerWithTime());
      const outcomes = await Promise.all(
        [request, creation("other"), creation("replay")].map((each) => writer.createVersion(each, callerWithTime())),
      );
      expect(outcomes.map(({ latestVersion }) => latestVersion)).toEqual([1, 1, 2]);
      expect(outcomes[0]).toEqual(first);
      expect(await storedVersions("replay")).toHaveLength(2);
    } finally {
      await pool.query(`${index} renamed TO preset_versions_request`);
    }
  });

  it("fails only the creation that violates another unique index", async () => {
    await pool.query("UPDATE preset_versions SET system_prompt = NULL");
    await pool.query("ALTER TABLE preset_versions ADD UNIQUE KEY once (creator_id, system_prompt(20))");
    try {
      await writer.createVersion(creation("first", { systemPrompt: "twice" }), callerWithTime());
      const [twice, good] = await Promise.allSettled([
        writer.createVersion(creation("second", { systemPrompt: "twice" }), callerWithTime()),
        writer.createVersion(creation("third", { systemPrompt: "once" }), callerWithTime()),
      ]);
      expect(twice).toMatchObject({ reason: { errno: 1062, message: expect.not.stringContaining("twice") } });
      expect(good.status).toBe("fulfilled");
    } finally {
      await pool.query("ALTER TABLE preset_versions DROP KEY once");
    }
  });

  it("does not mistake its own write for an earlier answer if the change log rejects it", async () => {
    const { id } = await writer.createVersion(creation("ahead"), callerWithTime());
    await pool.execute(
      `INSERT INTO preset_changes (workspace_id, preset_id, revision, action, user_id, key_id, fields, created_at)
        SELECT workspace_id, preset_id, 2, action, user_id, key_id, fields, created_at FROM preset_changes
        WHERE workspace_id = ? AND preset_id = ?`,
      [idToBytes(workspaceId), idToBytes(id)],
    );
    const results = await Promise.allSettled([
      writer.createVersion(creation("ahead"), callerWithTime()),
      writer.createVersion(creation("beside"), callerWithTime()),
    ]);
    expect(results).toMatchObject([{ reason: { errno: 1062 } }, { value: { latestVersion: 1 } }]);
    expect(await storedVersions("ahead")).toHaveLength(1);
    expect(await storedVersions("beside")).toHaveLength(1);
  });

  it("rejects a reused request id, and stores the rest of the batch", async () => {
    const used = creation("used");
    await writer.createVersion(used, callerWithTime());
    const other = creation("used", { requestId: used.requestId, configJson: '{"model":"other"}' });
    const results = await Promise.allSettled([
      writer.createVersion(creation("beside-1"), callerWithTime()),
      writer.createVersion(other, callerWithTime()),
      writer.createVersion(creation("beside-2"), callerWithTime()),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((results[1] as PromiseRejectedResult).reason).toMatchObject({
      kind: "already_exists",
      reason: "REQUEST_ID_REUSED",
    });
    expect(await storedVersions("used")).toHaveLength(1);
  });

  it.each([
    ["messages", "messages"],
    ["messages", undefined],
    [undefined, "messages"],
  ] as const)("repeats the first answer of a request with the dialect %s to one with %s", async (dialect, repeated) => {
    const request = creation("dialect", { dialect });
    const first = await writer.createVersion(request, callerWithTime());
    expect(first.designatedVersion.dialect).toBe(dialect);
    expect(await otherWriter.createVersion({ ...request, dialect: repeated }, callerWithTime())).toEqual(first);
    expect(await storedVersions("dialect")).toHaveLength(1);
  });

  it("rejects a request id used with another dialect", async () => {
    const request = creation("dialect", { dialect: "messages" });
    await writer.createVersion(request, callerWithTime());
    const other = writer.createVersion({ ...request, dialect: "responses" }, callerWithTime());
    await expect(other).rejects.toMatchObject({ reason: "REQUEST_ID_REUSED" });
    expect(await storedVersions("dialect")).toHaveLength(1);
  });

  it("distinguishes request ids by case and trailing spaces", async () => {
    await writer.createVersion(creation("exact", { requestId: "key" }), callerWithTime());
    await writer.createVersion(creation("exact", { requestId: "key " }), callerWithTime());
    await writer.createVersion(creation("exact", { requestId: "KEY" }), callerWithTime());
    expect(await storedVersions("exact")).toHaveLength(3);
  });

  it("rejects only the creation on an archived preset, and says how to restore it", async () => {
    const before = creation("archived");
    const first = await writer.createVersion(before, callerWithTime());
    await pool.execute("UPDATE presets SET status = 'archived' WHERE workspace_id = ?", [idToBytes(workspaceId)]);
    const results = await Promise.allSettled([
      writer.createVersion(creation("archived"), callerWithTime()),
      writer.createVersion(creation("not-archived"), callerWithTime()),
    ]);
    expect((results[0] as PromiseRejectedResult).reason).toMatchObject({
      kind: "failed_precondition",
      reason: "PRESET_ARCHIVED",
      message: expect.stringContaining("PATCH /api/v1/presets/archived"),
    });
    expect(results[1]?.status).toBe("fulfilled");
    expect((await writer.createVersion(before, callerWithTime())).designatedVersionId).toBe(first.designatedVersionId);
    expect(await storedVersions("archived")).toHaveLength(1);
  });

  it("adds a version to a disabled preset and leaves it disabled", async () => {
    await writer.createVersion(creation("disabled"), callerWithTime());
    await pool.execute("UPDATE presets SET status = 'disabled' WHERE workspace_id = ?", [idToBytes(workspaceId)]);
    const preset = await writer.createVersion(creation("disabled"), callerWithTime());
    expect(preset).toMatchObject({ status: "disabled", designatedVersion: { version: 2 } });
  });

  it("fails only the creation that the database rejects", async () => {
    const results = await Promise.allSettled([
      ...upTo(5).map((n) => writer.createVersion(creation(`good-${n}`), callerWithTime())),
      writer.createVersion(creation("bad", { actor: { userId: "x".repeat(100), keyId: newId() } }), callerWithTime()),
    ]);
    expect(results.map(({ status }) => status)).toEqual([...Array(5).fill("fulfilled"), "rejected"]);
    expect(await storedPreset("bad")).toBeUndefined();
  });

  it("survives deadlocks caused by others", async () => {
    const slugs = ["lock-a", "lock-b", "lock-c"];
    await Promise.all(slugs.map((slug) => writer.createVersion(creation(slug), callerWithTime())));
    const stop = deadlineIn(1_500);
    const lockBackwards = async () => {
      const connection = await otherPool.getConnection();
      while (monotonicMs() < stop) {
        await connection.query("START TRANSACTION");
        try {
          for (const slug of slugs.toReversed()) {
            await connection.execute("UPDATE presets SET name = name WHERE workspace_id = ? AND slug = ?", [
              idToBytes(workspaceId),
              slug,
            ]);
            await new Promise((resolve) => setTimeout(resolve, 2));
          }
        } catch {
          // This side may lose the deadlock as well.
        }
        await connection.query("ROLLBACK");
      }
      connection.release();
    };
    let created = 0;
    const create = async () => {
      while (monotonicMs() < stop) {
        await Promise.all(slugs.map((slug) => writer.createVersion(creation(slug), callerWithTime())));
        created += 1;
      }
    };
    await Promise.all([lockBackwards(), create()]);
    for (const slug of slugs)
      expect((await storedVersions(slug)).map(({ version }) => version)).toEqual(upTo(created + 1));
  });

  it("answers a repeat of a stored creation while the preset is locked for long", async () => {
    const request = creation("held");
    const made = await writer.createVersion(request, callerWithTime());
    const impatientPool = openPool(database.url, 2, { lockTimeoutSeconds: 1 });
    const impatient = new VersionWriter(impatientPool, { batchByWorkspace: isSharded });
    const holder = await otherPool.getConnection();
    await holder.query("START TRANSACTION");
    await holder.execute("SELECT id FROM presets WHERE workspace_id = ? AND slug = 'held' FOR UPDATE", [
      idToBytes(workspaceId),
    ]);
    const results = await Promise.allSettled(
      [request, creation("held"), { ...request, requestDigest: Buffer.alloc(32) }].map((each) =>
        impatient.createVersion(each, callerWithTime()),
      ),
    );
    // By now it is known that the row is held.
    const again = await impatient.createVersion(request, callerWithTime());
    await holder.query("ROLLBACK");
    holder.release();
    const released = await Promise.all(
      [request, creation("held")].map((each) => impatient.createVersion(each, callerWithTime())),
    );
    await impatientPool.end();
    expect(results).toMatchObject([
      { value: made },
      { reason: { reason: "CONFLICT" } },
      { reason: { reason: "REQUEST_ID_REUSED" } },
    ]);
    expect(again).toEqual(made);
    expect(released).toMatchObject([made, { latestVersion: 2 }]);
  });

  it("gives up on a preset locked for long, and stores the rest of the batch", async () => {
    const slugs = ["held", "free-a", "free-b"];
    for (const slug of slugs) await writer.createVersion(creation(slug), callerWithTime());
    const impatientPool = openPool(database.url, 2, { lockTimeoutSeconds: 3 });
    const impatient = new VersionWriter(impatientPool, { batchByWorkspace: isSharded });
    const holder = await otherPool.getConnection();
    const hold = async () => {
      await holder.query("START TRANSACTION");
      await holder.execute("SELECT id FROM presets WHERE workspace_id = ? AND slug = 'held' FOR UPDATE", [
        idToBytes(workspaceId),
      ]);
    };
    await hold();
    const settled: string[] = [];
    const results = await Promise.allSettled(
      [...slugs, "new"].map((slug) =>
        impatient.createVersion(creation(slug), callerWithTime()).finally(() => settled.push(slug)),
      ),
    );
    // From now on nothing waits for it, neither its own callers nor others.
    const startedAtMs = monotonicMs();
    const again = await Promise.allSettled(
      ["held", "free-a"].map((slug) => impatient.createVersion(creation(slug), callerWithTime())),
    );
    expect(monotonicMs() - startedAtMs).toBeLessThan(2_800);
    expect(again).toMatchObject([{ reason: { reason: "CONFLICT" } }, { value: { latestVersion: 3 } }]);
    await holder.query("ROLLBACK");
    const released = await impatient.createVersion(creation("held"), callerWithTime());
    expect(released.latestVersion).toBe(2);
    // Now it is waited for again.
    await hold();
    const [next] = await Promise.allSettled([
      impatient.createVersion(creation("held"), callerWithTime()),
      expect
        .poll(() => waitsForLock(pool), { timeout: 2_500 })
        .toBe(true)
        .finally(() => holder.query("ROLLBACK")),
    ]);
    holder.release();
    expect(next).toMatchObject({ value: { latestVersion: 3 } });
    await impatientPool.end();
    expect(results).toMatchObject([
      { reason: { kind: "aborted", reason: "CONFLICT" } },
      { value: { latestVersion: 2 } },
      { value: { latestVersion: 2 } },
      { value: { latestVersion: 1 } },
    ]);
    expect(settled.at(-1)).toBe("held");
    expect(await storedVersions("held")).toHaveLength(3);
  });

  it("accepts other creations while many wait for a locked preset", async () => {
    await writer.createVersion(creation("held"), callerWithTime());
    const impatientPool = openPool(database.url, 2, { lockTimeoutSeconds: 1 });
    const impatient = new VersionWriter(impatientPool, { batchByWorkspace: isSharded });
    const holder = await otherPool.getConnection();
    await holder.query("START TRANSACTION");
    await holder.execute("SELECT id FROM presets WHERE workspace_id = ? AND slug = 'held' FOR UPDATE", [
      idToBytes(workspaceId),
    ]);
    const conflict = { reason: { reason: "CONFLICT" } };
    expect(await Promise.allSettled([impatient.createVersion(creation("held"), callerWithTime())])).toMatchObject([
      conflict,
    ]);
    const slugs = [...upTo(50).map(() => "held"), "free"];
    const results = await Promise.allSettled(
      slugs.map((slug) => impatient.createVersion(creation(slug), callerWithTime())),
    );
    await holder.query("ROLLBACK");
    holder.release();
    await impatientPool.end();
    expect(results.slice(0, -1)).toMatchObject(upTo(50).map(() => conflict));
    expect(results.at(-1)).toMatchObject({ value: { latestVersion: 1 } });
  });

  it("survives killed connections", async () => {
    const stop = deadlineIn(1_500);
    const killer = async () => {
      while (monotonicMs() < stop) {
        const [rows] = await otherPool.query<RowDataPacket[]>(
          "SELECT id FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID()",
          [database.name],
        );
        for (const { id } of rows) await otherPool.query("KILL ?", [id]).catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const answered: number[] = [];
    const create = async () => {
      while (monotonicMs() < stop) {
        const answers = await Promise.all(
          upTo(10).map(() => writer.createVersion(creation("killed"), callerWithTime())),
        );
        answered.push(...answers.map(({ designatedVersion }) => designatedVersion.version));
      }
    };
    await Promise.all([killer().catch(() => {}), create()]);
    expect(answered.sort((a, b) => a - b)).toEqual(upTo(answered.length));
    expect((await storedVersions("killed")).map(({ version }) => version)).toEqual(upTo(answered.length));
  });

  it("reports an unreachable database rather than a timeout", async () => {
    const nowhere = openPool("mysql://root@localhost/none?socketPath=/nonexistent.sock", 2);
    const failure = await new VersionWriter(nowhere, { batchByWorkspace: isSharded })
      .createVersion(creation("lost"), callerWithTime(600))
      .catch((error) => error);
    expect(failure).toMatchObject({ kind: "unavailable" });
    await nowhere.end();
  });

  it("stores nothing for a caller that gave up, but the rest of the batch", async () => {
    const gone = { deadlineMs: deadlineIn(), isCanceled: () => true };
    const results = await Promise.allSettled([
      writer.createVersion(creation("gone"), gone),
      writer.createVersion(creation("waiting"), callerWithTime()),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(await storedPreset("gone")).toBeUndefined();
  });

  it("stores nothing for a caller that gives up while the preset is locked, but the rest of the batch", async () => {
    await writer.createVersion(creation("held"), callerWithTime());
    const holder = await otherPool.getConnection();
    await holder.query("START TRANSACTION");
    await holder.execute("SELECT id FROM presets WHERE workspace_id = ? AND slug = 'held' FOR UPDATE", [
      idToBytes(workspaceId),
    ]);
    let hasLeft = false;
    const results = Promise.allSettled([
      writer.createVersion(creation("held"), { deadlineMs: deadlineIn(), isCanceled: () => hasLeft }),
      writer.createVersion(creation("held"), callerWithTime()),
    ]);
    await expect.poll(() => waitsForLock(pool), { timeout: 2_500 }).toBe(true);
    hasLeft = true;
    await holder.query("ROLLBACK");
    holder.release();
    expect(await results).toMatchObject([{ status: "rejected" }, { value: { latestVersion: 2 } }]);
  });

  it("reports a repeat whose caller has left as canceled, not as a database error", async () => {
    const request = creation("repeated");
    const first = writer.createVersion(request, callerWithTime());
    const repeat = writer.createVersion(request, { deadlineMs: deadlineIn(), isCanceled: () => true });
    await expect(repeat).rejects.toMatchObject({ kind: "canceled" });
    expect(await first).toMatchObject({ latestVersion: 1 });
  });

  it("does not claim that nothing was stored to a repeat that times out", async () => {
    const request = creation("late");
    const first = writer.createVersion(request, callerWithTime());
    await expect(writer.createVersion(request, callerWithTime(0))).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("did not say whether this was stored"),
    });
    expect(await first).toMatchObject({ latestVersion: 1 });
  });

  it.each([
    ["a new preset", false, 7],
    ["an existing preset", true, 6],
  ])("makes no needless round trip for a creation of %s", async (_name, exists, times) => {
    const proxy = await openDatabaseProxy(database.url);
    const watchedPool = openPool(proxy.url, 1);
    try {
      const watched = new VersionWriter(watchedPool, { batchByWorkspace: isSharded });
      const create = (slug: string) => watched.createVersion(creation(slug), callerWithTime());
      // Opens the connection and prepares the statements.
      await create("first");
      await create("first");
      if (exists) await create("watched");
      const before = proxy.commands;
      await create("watched");
      expect(proxy.commands - before).toBe(times);
    } finally {
      await watchedPool.end();
      await proxy.close();
    }
  });

  it.each([
    ["repeats", "active"],
    ["refuses", "archived"],
  ])("makes as many round trips when it %s many creations as for one", async (_name, status) => {
    const proxy = await openDatabaseProxy(database.url);
    const watchedPool = openPool(proxy.url, 1);
    try {
      const watched = new VersionWriter(watchedPool, { batchByWorkspace: isSharded });
      const commandsOf = async (creations: readonly NewVersion[]) => {
        const before = proxy.commands;
        await Promise.allSettled(creations.map((each) => watched.createVersion(each, callerWithTime())));
        return proxy.commands - before;
      };
      const many = upTo(20).map(() => creation("many"));
      await Promise.all(many.map((each) => writer.createVersion(each, callerWithTime())));
      await pool.execute("UPDATE presets SET status = ? WHERE workspace_id = ?", [status, idToBytes(workspaceId)]);
      const asked = status === "active" ? many : upTo(20).map(() => creation("many"));
      // Opens the connection and prepares the statements.
      for (const each of [asked, asked.slice(0, 1)]) await commandsOf(each);
      expect(await commandsOf(asked)).toBe(await commandsOf(asked.slice(0, 1)));
    } finally {
      await watchedPool.end();
      await proxy.close();
    }
  });

  it("never moves updated_at back if another process's clock is ahead", async () => {
    await writer.createVersion(creation("clock"), callerWithTime());
    const ahead = new Date(Date.now() + 60_000);
    await pool.execute("UPDATE presets SET updated_at = ? WHERE workspace_id = ?", [ahead, idToBytes(workspaceId)]);
    const preset = await writer.createVersion(creation("clock"), callerWithTime());
    expect(preset.updatedAt).toEqual(ahead);
  });
});
