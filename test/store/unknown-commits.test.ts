import { afterAll, beforeAll, describe, it, type TestContext } from "vitest";
import { newId } from "../../services/platform/domain/ids.ts";
import { openPool } from "../../services/platform/mysql/pool.ts";
import { retryTransient } from "../../services/platform/mysql/transaction.ts";
import type { NewVersion } from "../../services/preset/domain/new-version.ts";
import type { PresetUpdate } from "../../services/preset/domain/update-preset.ts";
import { updatePreset } from "../../services/preset/store/update-preset.ts";
import { VersionWriter } from "../../services/preset/store/version-writer.ts";
import { isSharded } from "../support/database.ts";
import { type Fault, openDatabaseProxy } from "../support/database-proxy.ts";
import {
  actor,
  callerWithTime,
  creation,
  openTestStore,
  presetUpdate,
  type TestStore,
} from "../support/preset-store.ts";

// A COMMIT that is sent and not answered: it was lost, or it stalls and is carried out later, whoever has given up by then.

let store: TestStore;

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(() => store.close());

/** The test's own workspace, and a connection to the database that can fail. */
async function openWorkspace({ onTestFinished }: Pick<TestContext, "onTestFinished">) {
  const workspaceId = newId();
  const proxy = await openDatabaseProxy(store.url);
  const pool = openPool(proxy.url, 4, { statementTimeoutMs: 1_300, lockTimeoutSeconds: 1 });
  const writer = new VersionWriter(pool, { batchByWorkspace: isSharded });
  onTestFinished(async () => {
    proxy.letGo();
    await pool.end();
    await proxy.close();
  });
  /** Directly, not through the proxy. */
  const find = (slug: string) => store.reader.findPreset(workspaceId, slug, callerWithTime());
  return {
    workspaceId,
    proxy,
    create: (request: NewVersion, ms?: number) => writer.createVersion(request, callerWithTime(ms)),
    change: (update: PresetUpdate, ms: number) => {
      const caller = callerWithTime(ms);
      return retryTransient(caller.deadlineMs, () => updatePreset(pool, workspaceId, actor, update, caller));
    },
    versionsOf: async (slug: string): Promise<number[]> => {
      const preset = await find(slug);
      return preset ? (await store.versions(preset)).map(({ version }) => version) : [];
    },
    revisionsOf: async (slug: string) => {
      const preset = await find(slug);
      return preset ? store.revisions(preset) : [];
    },
  };
}

const faults: readonly [string, Fault][] = [
  ["is lost", "silence"],
  ["is applied but its answer is lost", "deaf"],
  ["is cut off", "reset"],
];

// Concurrently, because they mostly wait.
describe.concurrent("a creation whose COMMIT is not answered", () => {
  it.for(faults)("is stored once and answered if the commit %s", async ([_name, fault], context) => {
    const { expect } = context;
    const { workspaceId, proxy, create, versionsOf } = await openWorkspace(context);
    proxy.fail("commit", fault, 1);
    const answer = await create(creation(workspaceId, "new"));
    expect(answer.designatedVersion.version).toBe(1);
    expect(await versionsOf("new")).toEqual([1]);
    proxy.fail("commit", fault, 1);
    const answers = await Promise.all(["new", "new", "other"].map((slug) => create(creation(workspaceId, slug))));
    expect(answers.map(({ designatedVersion }) => designatedVersion.version)).toEqual([2, 3, 1]);
    expect(await versionsOf("new")).toEqual([1, 2, 3]);
  });

  it.for(["a new preset", "one that exists"])("waits until the commit is settled, for %s", async (kind, context) => {
    const { expect } = context;
    const { workspaceId, proxy, create, versionsOf } = await openWorkspace(context);
    if (kind !== "a new preset") await store.create(workspaceId, "stalled");
    const before = await versionsOf("stalled");
    proxy.fail("commit", "hold", 1);
    const creating = create(creation(workspaceId, "stalled"));
    // The commit has been given up, and its locks are waited for.
    await expect.poll(() => proxy.accepted).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    proxy.letGo();
    const answer = await creating;
    expect(answer.designatedVersion.version).toBe(before.length + 1);
    expect(await versionsOf("stalled")).toEqual([...before, before.length + 1]);
  });

  it("is answered with what is stored even if the database is away for long afterwards", async (context) => {
    const { expect } = context;
    const { workspaceId, proxy, create, versionsOf } = await openWorkspace(context);
    proxy.fail("commit", "deaf", 1);
    const creating = create(creation(workspaceId, "away"));
    await expect.poll(() => versionsOf("away")).toEqual([1]);
    await proxy.refuse();
    // Longer than a creation waits for a database that has got nothing from it.
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    await proxy.heal();
    expect((await creating).designatedVersion.version).toBe(1);
    expect(await versionsOf("away")).toEqual([1]);
  });

  it("does not claim that nothing was stored if time runs out first", async (context) => {
    const { expect } = context;
    const { workspaceId, proxy, create, versionsOf } = await openWorkspace(context);
    await store.create(workspaceId, "unknown");
    proxy.fail("commit", "hold", 1);
    const request: NewVersion = creation(workspaceId, "unknown");
    const failure = await create(request, 5_000).catch((error) => error);
    expect(failure).toMatchObject({ kind: "unavailable" });
    expect(failure.message).not.toContain("nothing was stored");
    expect(proxy.held).toBe(1);
    proxy.letGo();
    await expect.poll(() => versionsOf("unknown")).toEqual([1, 2]);
    const retried = await create(request);
    expect(retried.designatedVersion.version).toBe(2);
    expect(await versionsOf("unknown")).toEqual([1, 2]);
  });

  it("is no conflict for a repeat that came meanwhile, and finds what the commit has locked", async (context) => {
    const { expect } = context;
    const { workspaceId, proxy, create, versionsOf } = await openWorkspace(context);
    await store.create(workspaceId, "repeated");
    proxy.fail("commit", "hold", 1);
    const request: NewVersion = creation(workspaceId, "repeated");
    const first = create(request, 3_000).catch((error) => error);
    const repeat = create(request, 10_000).catch((error) => error);
    expect(await first).toMatchObject({ kind: "unavailable" });
    expect(await repeat).toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("did not say whether this was stored"),
    });
    proxy.letGo();
    await expect.poll(() => versionsOf("repeated")).toEqual([1, 2]);
  });
});

describe.concurrent("an update whose COMMIT is not answered", () => {
  it.for(faults)("is made once and answered if the commit %s", async ([_name, fault], context) => {
    const { expect } = context;
    const { workspaceId, proxy, change, revisionsOf } = await openWorkspace(context);
    await store.create(workspaceId, "changed");
    proxy.fail("commit", fault, 1);
    expect(await change(presetUpdate("changed", { name: "New" }), 10_000)).toMatchObject({ name: "New", revision: 2 });
    expect(await revisionsOf("changed")).toEqual([1, 2]);
  });

  it("does not claim that nothing was stored if time runs out first", async (context) => {
    const { expect } = context;
    const { workspaceId, proxy, change, revisionsOf } = await openWorkspace(context);
    await store.create(workspaceId, "changed");
    proxy.fail("commit", "hold", 1);
    const update = presetUpdate("changed", { name: "New" });
    const failure = await change(update, 5_000).catch((error) => error);
    expect(failure).toMatchObject({ kind: "unavailable" });
    expect(failure.message).not.toContain("nothing was stored");
    proxy.letGo();
    await expect.poll(() => revisionsOf("changed")).toEqual([1, 2]);
    expect(await change(update, 10_000)).toMatchObject({ name: "New", revision: 2 });
    expect(await revisionsOf("changed")).toEqual([1, 2]);
  });
});
