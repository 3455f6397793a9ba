import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../services/platform/domain/ids.ts";
import { openPool, type Pool } from "../../services/platform/mysql/pool.ts";
import { retryTransient } from "../../services/platform/mysql/transaction.ts";
import type { NewVersion } from "../../services/preset/domain/new-version.ts";
import type { PresetUpdate } from "../../services/preset/domain/update-preset.ts";
import { updatePreset } from "../../services/preset/store/update-preset.ts";
import { VersionWriter } from "../../services/preset/store/version-writer.ts";
import { isSharded } from "../support/database.ts";
import { type DatabaseProxy, type Fault, openDatabaseProxy } from "../support/database-proxy.ts";
import { actor, creation, openTestStore, patient, presetUpdate, type TestStore } from "../support/preset-store.ts";

// A COMMIT that is sent and not answered: it was lost, or it stalls and is carried out later, whoever has given up by then.

let store: TestStore;
let proxy: DatabaseProxy;
let pool: Pool;
let writer: VersionWriter;
let workspaceId: string;

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(() => store.close());

beforeEach(async () => {
  workspaceId = newId();
  proxy = await openDatabaseProxy(store.url);
  pool = openPool(proxy.url, 4, { statementTimeoutMs: 1_300, lockTimeoutSeconds: 1 });
  writer = new VersionWriter(pool, { batchByWorkspace: isSharded });
});

afterEach(async () => {
  proxy.letGo();
  await pool.end();
  await proxy.close();
});

/** By the way that knows nothing of the proxy. */
async function versionsOf(slug: string): Promise<number[]> {
  const preset = await store.reader.findPreset(workspaceId, slug, patient());
  return preset ? (await store.versions(preset)).map(({ version }) => version) : [];
}

function change(update: PresetUpdate, ms: number) {
  const caller = patient(ms);
  return retryTransient(caller.deadlineMs, () => updatePreset(pool, workspaceId, actor, update, caller));
}

const faults: readonly [string, Fault][] = [
  ["was lost", "silence"],
  ["was carried out, and its answer was lost", "deaf"],
  ["broke off", "reset"],
];

describe("a creation whose COMMIT is not answered", () => {
  it.each(faults)("is stored once and answered where the commit %s", async (_name, fault) => {
    proxy.fail("commit", fault, 1);
    const answer = await writer.createVersion(creation(workspaceId, "new"), patient());
    expect(answer.designatedVersion.version).toBe(1);
    expect(await versionsOf("new")).toEqual([1]);
    proxy.fail("commit", fault, 1);
    const answers = await Promise.all(
      ["new", "new", "other"].map((slug) => writer.createVersion(creation(workspaceId, slug), patient())),
    );
    expect(answers.map(({ designatedVersion }) => designatedVersion.version)).toEqual([2, 3, 1]);
    expect(await versionsOf("new")).toEqual([1, 2, 3]);
  });

  it.each(["a new preset", "one that exists"])("waits until the commit is settled, of %s", async (kind) => {
    if (kind !== "a new preset") await store.create(workspaceId, "stalled");
    const before = await versionsOf("stalled");
    proxy.fail("commit", "hold", 1);
    const creating = writer.createVersion(creation(workspaceId, "stalled"), patient());
    // The commit has been given up, and what it locked is waited for.
    await expect.poll(() => proxy.accepted).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    proxy.letGo();
    const answer = await creating;
    expect(answer.designatedVersion.version).toBe(before.length + 1);
    expect(await versionsOf("stalled")).toEqual([...before, before.length + 1]);
  });

  it("never claims that nothing was stored, where the time is up before that is known", async () => {
    await store.create(workspaceId, "unknown");
    proxy.fail("commit", "hold", 1);
    const request: NewVersion = creation(workspaceId, "unknown");
    const failure = await writer.createVersion(request, patient(5_000)).catch((error) => error);
    expect(failure).toMatchObject({ kind: "unavailable" });
    expect(failure.message).not.toContain("nothing was stored");
    expect(proxy.held).toBe(1);
    proxy.letGo();
    await expect.poll(() => versionsOf("unknown")).toEqual([1, 2]);
    const retried = await writer.createVersion(request, patient());
    expect(retried.designatedVersion.version).toBe(2);
    expect(await versionsOf("unknown")).toEqual([1, 2]);
  });
});

describe("an update whose COMMIT is not answered", () => {
  beforeEach(() => store.create(workspaceId, "changed"));

  const revisions = async () => {
    const preset = await store.reader.findPreset(workspaceId, "changed", patient());
    return preset ? store.revisions(preset) : [];
  };

  it.each(faults)("is made once and answered where the commit %s", async (_name, fault) => {
    proxy.fail("commit", fault, 1);
    expect(await change(presetUpdate("changed", { name: "New" }), 10_000)).toMatchObject({ name: "New", revision: 2 });
    expect(await revisions()).toEqual([1, 2]);
  });

  it("never claims that nothing was stored, where the time is up before that is known", async () => {
    proxy.fail("commit", "hold", 1);
    const update = presetUpdate("changed", { name: "New" });
    const failure = await change(update, 5_000).catch((error) => error);
    expect(failure).toMatchObject({ kind: "unavailable" });
    expect(failure.message).not.toContain("nothing was stored");
    proxy.letGo();
    await expect.poll(revisions).toEqual([1, 2]);
    expect(await change(update, 10_000)).toMatchObject({ name: "New", revision: 2 });
    expect(await revisions()).toEqual([1, 2]);
  });
});
