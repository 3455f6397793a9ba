import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../services/platform/domain/ids.ts";
import { openPool, type Pool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import type { ServedPreset } from "../../services/preset/domain/preset.ts";
import { PresetReader } from "../../services/preset/store/preset-reader.ts";
import { isSharded } from "../support/database.ts";
import { callerWithTime, openTestStore, type TestStore, upTo } from "../support/preset-store.ts";

let store: TestStore;
/** With one connection, so that the server's session counters show the cost of all lookups. */
let countedPool: Pool;
let reader: PresetReader;
const workspaceId = newId();
const otherWorkspaceId = newId();

beforeAll(async () => {
  store = await openTestStore();
  countedPool = openPool(store.url, 1);
  reader = new PresetReader(countedPool, { batchByWorkspace: isSharded });
  for (const n of upTo(40)) await store.create(workspaceId, "a", { configJson: `{"seed":${n}}` });
  for (const n of upTo(40)) await store.create(workspaceId, "b", { configJson: `{"seed":${-n}}` });
  await store.create(otherWorkspaceId, "a", { systemPrompt: "Other" });
});

afterAll(async () => {
  await countedPool.end();
  await store.close();
});

/** How many statements the work ran, and how many index entries it scanned in addition to key lookups. */
async function costOf(work: () => Promise<unknown>): Promise<{ statements: number; walked: number }> {
  const counters = async () => {
    const [rows] = await countedPool.query<RowDataPacket[]>(
      "SHOW SESSION STATUS WHERE Variable_name IN ('Com_select', 'Handler_read_next')",
    );
    return new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Number(Value)]));
  };
  await work();
  const before = await counters();
  await work();
  const after = await counters();
  const since = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  return { statements: since("Com_select"), walked: since("Handler_read_next") };
}

describe("PresetReader", () => {
  it("finds a preset with its current designated version", async () => {
    const created = await store.create(workspaceId, "found", { systemPrompt: "Be brief.", dialect: "messages" });
    expect(created.designatedVersion.dialect).toBe("messages");
    expect(await reader.findPreset(workspaceId, "found", callerWithTime())).toEqual(created);
    await store.create(workspaceId, "found");
    const rolledBack = await store.update(workspaceId, "found", { designatedVersion: 1, status: "archived" });
    expect(await reader.findPreset(workspaceId, "found", callerWithTime())).toEqual(rolledBack);
  });

  it("returns each of many simultaneous readers their own preset", async () => {
    const keys = [
      [workspaceId, "a"],
      [otherWorkspaceId, "a"],
      [workspaceId, "b"],
      [workspaceId, "A"],
      [otherWorkspaceId, "b"],
      [newId(), "a"],
      [workspaceId, "a"],
    ] as const;
    const found = await Promise.all(
      keys.map(([workspace, slug]) => reader.findPreset(workspace, slug, callerWithTime())),
    );
    expect(found.map((preset) => preset && [preset.workspaceId, preset.slug])).toEqual([
      [workspaceId, "a"],
      [otherWorkspaceId, "a"],
      [workspaceId, "b"],
      undefined,
      undefined,
      undefined,
      [workspaceId, "a"],
    ]);
    expect(found[1]?.designatedVersion.systemPrompt).toBe("Other");
  });

  it("returns each of many simultaneous readers their own version", async () => {
    const keys = [
      [workspaceId, "a", 1],
      [workspaceId, "b", 40],
      [workspaceId, "a", 40],
      [workspaceId, "a", 41],
      [otherWorkspaceId, "a", 1],
      [otherWorkspaceId, "a", 2],
      [workspaceId, "none", 1],
    ] as const;
    const found = await Promise.all(
      keys.map(([workspace, slug, version]) => reader.findVersion(workspace, slug, version, callerWithTime())),
    );
    expect(found.map((version) => version && [version.version, version.configJson])).toEqual([
      [1, '{"seed":1}'],
      [40, '{"seed":-40}'],
      [40, '{"seed":40}'],
      undefined,
      [1, '{"model":"m","temperature":1.0}'],
      undefined,
      undefined,
    ]);
  });

  it("batches many simultaneous reads into few statements", async () => {
    const cost = await costOf(() =>
      Promise.all(upTo(128).map((n) => reader.findPreset(workspaceId, n % 2 ? "a" : `x-${n}`, callerWithTime()))),
    );
    expect(cost.statements).toBeGreaterThan(0);
    expect(cost.statements).toBeLessThanOrEqual(3);
  });

  it("reads only the requested versions", async () => {
    const cost = await costOf(() =>
      Promise.all([
        reader.findVersion(workspaceId, "a", 5, callerWithTime()),
        reader.findVersion(workspaceId, "b", 6, callerWithTime()),
        reader.findVersion(otherWorkspaceId, "a", 1, callerWithTime()),
      ]),
    );
    // With shards, one for each workspace.
    expect(cost).toEqual({ statements: isSharded ? 2 : 1, walked: 0 });
  });

  it("sees everything stored before the read began, under concurrent reads and writes", async () => {
    const preset = (await reader.findPreset(workspaceId, "b", callerWithTime())) as ServedPreset;
    let last = preset.revision;
    let writing = true;
    const write = async () => {
      for (const n of upTo(30)) last = (await store.update(workspaceId, "b", { name: `Name ${n}` })).revision;
      writing = false;
    };
    const read = async () => {
      while (writing) {
        const before = last;
        const found = await reader.findPreset(workspaceId, "b", callerWithTime());
        expect(found?.revision).toBeGreaterThanOrEqual(before);
      }
    };
    await Promise.all([write(), ...upTo(8).map(read)]);
  });
});

describe("PresetReader with large content", () => {
  const large = (letter: string) => ({ configJson: `{"model":"${letter.repeat(1_000_000)}"}` });

  beforeAll(async () => {
    for (const letter of ["p", "q", "r", "s", "t"]) await store.create(workspaceId, letter, large(letter));
  });

  it("finds it together with small content", async () => {
    const found = await Promise.all(
      ["p", "a", "q"].map((slug) => reader.findPreset(workspaceId, slug, callerWithTime())),
    );
    expect(found.map((preset) => preset?.designatedVersion.configJson)).toEqual([
      large("p").configJson,
      '{"seed":40}',
      large("q").configJson,
    ]);
    const version = await reader.findVersion(workspaceId, "p", 1, callerWithTime());
    expect(version?.configJson).toBe(large("p").configJson);
  });

  it("reads each once for many callers, a few at a time", async () => {
    const slugs = ["p", "q", "r", "s", "t"];
    const cost = await costOf(() =>
      Promise.all(upTo(60).map((n) => reader.findPreset(workspaceId, slugs[n % 5] as string, callerWithTime()))),
    );
    // One that measures all, one for as many as fit into 4 MiB, one for the rest.
    expect(cost.statements).toBe(3);
  });

  it("checks that a preset exists without reading it", async () => {
    expect(await reader.hasPreset(workspaceId, "none", callerWithTime())).toBe(false);
    expect(await reader.hasPreset(workspaceId, "p", callerWithTime())).toBe(true);
    expect((await costOf(() => reader.hasPreset(workspaceId, "p", callerWithTime()))).statements).toBe(1);
  });

  it("skips content that the caller has, unless another version is designated", async () => {
    const admitted: number[] = [];
    const find = (knownVersionId: string) =>
      reader.findPreset(workspaceId, "p", callerWithTime(), (bytes) => admitted.push(bytes), knownVersionId);
    const preset = (await find(newId())) as ServedPreset;
    expect(preset.designatedVersion.configJson).toBe(large("p").configJson);
    expect(admitted).toEqual([large("p").configJson.length]);

    const bare = { ...preset, designatedVersion: { ...preset.designatedVersion, configJson: "" } };
    expect(await find(preset.designatedVersionId)).toEqual(bare);
    expect((await costOf(() => find(preset.designatedVersionId))).statements).toBe(1);
    expect(admitted).toHaveLength(1);
  });

  it("reads nothing that the caller does not admit", async () => {
    const admit = (bytes: number) => {
      throw new Error(`not ${bytes}`);
    };
    const finding = reader.findPreset(workspaceId, "p", callerWithTime(), admit);
    await expect(finding).rejects.toThrow(`not ${large("p").configJson.length}`);
    expect(await reader.findPreset(workspaceId, "a", callerWithTime(), admit)).toBeDefined();
  });
});
