import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { openPool } from "../../services/platform/mysql/pool.ts";
import type { PresetFilter } from "../../services/preset/domain/preset-filter.ts";
import { listPresets } from "../../services/preset/store/list-presets.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import { openTestStore, type TestStore, upTo } from "../support/preset-store.ts";

const all: PresetFilter = { statuses: [], text: "" };
const presetCount = 30;

let store: TestStore;
let workspaceId: string;

beforeAll(async () => {
  store = await openTestStore();
  workspaceId = newId();
  await Promise.all(upTo(presetCount).map((n) => store.create(workspaceId, `preset-${n}`)));
  // Few times and many presets, so that most share theirs.
  await store.pool.execute(
    "UPDATE presets SET updated_at = FROM_UNIXTIME(1700000000 + CONV(RIGHT(HEX(id), 4), 16, 10) % 4) WHERE workspace_id = ?",
    [idToBytes(workspaceId)],
  );
});

afterAll(() => store.close());

function list(filter: Partial<PresetFilter>, offset = 0, limit = 100, workspace = workspaceId) {
  return listPresets(store.pool, workspace, { ...all, ...filter }, { offset, limit });
}

describe("listPresets", () => {
  it("takes one round trip for a page near the front with its count", async () => {
    const proxy = await openDatabaseProxy(store.url);
    const watched = openPool(proxy.url, 1);
    try {
      const page = () => listPresets(watched, workspaceId, all, { offset: 10, limit: 10 });
      await page();
      const before = proxy.commands;
      expect(await page()).toMatchObject({ totalCount: presetCount, presets: { length: 10 } });
      expect(proxy.commands - before).toBe(1);
    } finally {
      await watched.end();
      await proxy.close();
    }
  });

  it("sorts by most recent update, then by id", async () => {
    const { presets } = await list({});
    const keys = presets.map(({ updatedAt, id }) => `${9e15 - updatedAt.getTime()} ${id}`);
    expect(keys).toHaveLength(presetCount);
    expect(keys).toEqual(keys.toSorted());
  });

  it.each([
    ["from the front", {}],
    ["from either end", { statuses: ["active"] }],
  ] satisfies [string, Partial<PresetFilter>][])(
    "keeps the same order for any page size, %s",
    async (_name, filter) => {
      const whole = (await list({})).presets.map(({ slug }) => slug);
      for (const limit of [1, 7, 13, 29]) {
        const walked: string[] = [];
        for (let offset = 0; offset < presetCount; offset += limit) {
          const { presets, totalCount } = await list(filter, offset, limit);
          expect(totalCount).toBe(presetCount);
          walked.push(...presets.map(({ slug }) => slug));
        }
        expect(walked).toEqual(whole);
      }
    },
  );

  it.each([
    ["the last one", 29, 1, 1],
    ["the rest", 25, 100, 5],
    ["none at the end", 30, 10, 0],
    ["none past the end", 31, 10, 0],
    ["none far past the end", 2_147_483_647, 100, 0],
  ])("returns %s, with the total", async (_name, offset, limit, length) => {
    const page = await list({}, offset, limit);
    expect(page.presets).toHaveLength(length);
    expect(page.totalCount).toBe(presetCount);
  });

  it("is empty for a workspace without presets", async () => {
    expect(await list({}, 0, 10, newId())).toEqual({ presets: [], totalCount: 0 });
  });

  it("counts only presets that were actually created", async () => {
    const workspace = newId();
    await store.create(workspace, "once");
    await store.create(workspace, "once");
    await Promise.allSettled([
      store.create(workspace, "bad", { actor: { userId: "x".repeat(100), keyId: newId() } }),
      ...upTo(5).map((n) => store.create(workspace, `good-${n}`)),
    ]);
    expect((await list({}, 0, 1, workspace)).totalCount).toBe(6);
  });

  it("moves a preset to the front when its name or designated version changes", async () => {
    const workspace = newId();
    for (const slug of ["a", "b", "c"]) {
      await store.create(workspace, slug);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const slugs = async () => (await list({}, 0, 10, workspace)).presets.map(({ slug }) => slug);
    expect(await slugs()).toEqual(["c", "b", "a"]);
    await store.update(workspace, "a", { name: "Changed" });
    expect(await slugs()).toEqual(["a", "c", "b"]);
    await new Promise((resolve) => setTimeout(resolve, 2));
    await store.create(workspace, "b");
    expect(await slugs()).toEqual(["b", "a", "c"]);
  });

  it("never returns a page that contradicts its count while presets are created", async () => {
    const workspace = newId();
    let making = true;
    const make = Promise.all(upTo(150).map((n) => store.create(workspace, `new-${n}`))).then(() => {
      making = false;
    });
    while (making) {
      const { presets, totalCount } = await list({}, 0, 100, workspace);
      expect(presets).toHaveLength(Math.min(100, totalCount));
      expect(new Set(presets.map(({ id }) => id)).size).toBe(presets.length);
    }
    await make;
    expect((await list({}, 0, 1, workspace)).totalCount).toBe(150);
  });
});

describe("a filter", () => {
  const named: Record<string, string> = {
    Mixed: "Mixed Case",
    "percent-100": "100% sure",
    under_score: "snake_case",
    back: "C:\\temp",
    umlaut: "ÜBERSICHT für Köln",
    cyrillic: "Привет МИР",
    greek: "ΑΒΓ",
    emoji: "Fire 🔥 brigade",
    space: "two  spaces",
  };
  let filtered: string;

  beforeAll(async () => {
    filtered = newId();
    for (const [slug, name] of Object.entries(named)) {
      await store.create(filtered, slug);
      await store.update(filtered, slug, { name });
    }
    await store.update(filtered, "greek", { description: "Answers a Chargeback" });
    await store.update(filtered, "emoji", { status: "archived" });
    await store.update(filtered, "space", { status: "disabled" });
  });

  async function matching(filter: Partial<PresetFilter>): Promise<string[]> {
    const { presets, totalCount } = await list(filter, 0, 100, filtered);
    expect(totalCount).toBe(presets.length);
    return presets.map(({ slug }) => slug).sort();
  }

  it.each([
    ["part of a slug", "ix", ["Mixed"]],
    ["part of a slug, in upper case", "UMLA", ["umlaut"]],
    ["part of a name, in lower case", "mixed case", ["Mixed"]],
    ["part of a description, in lower case", "a chargeback", ["greek"]],
    ["a percent sign", "%", ["percent-100"]],
    ["an underscore", "_", ["under_score"]],
    ["a backslash", "\\", ["back"]],
    ["non-ASCII letters in the other case", "übersicht FÜR", ["umlaut"]],
    ["Cyrillic, in the other case", "привет мир", ["cyrillic"]],
    ["Greek, in the other case", "αβ", ["greek"]],
    ["an emoji", "🔥", ["emoji"]],
    ["two spaces", "  ", ["space"]],
    ["nothing for a trailing space", "case ", []],
    ["nothing for a missing accent", "ubersicht", []],
    ["nothing for a wildcard pattern", ".*", []],
    ["nothing for a quote", "'", []],
    ["several matches", "case", ["Mixed", "under_score"]],
  ])("finds %s", async (_name, text, slugs) => {
    expect(await matching({ text })).toEqual(slugs);
  });

  it.each([
    [["active"], 7],
    [["disabled"], 1],
    [["archived"], 1],
    [["disabled", "archived"], 2],
    [["active", "disabled", "archived"], 9],
  ] as const)("finds the statuses %j", async (statuses, count) => {
    expect(await matching({ statuses })).toHaveLength(count);
  });

  it("combines status and text", async () => {
    expect(await matching({ statuses: ["archived"], text: "e" })).toEqual(["emoji"]);
    expect(await matching({ statuses: ["disabled"], text: "emoji" })).toEqual([]);
  });

  it("pages exactly from either end", async () => {
    const filter: PresetFilter = { statuses: ["active"], text: "" };
    const whole = (await list(filter, 0, 100, filtered)).presets.map(({ slug }) => slug);
    const walked: string[] = [];
    for (const offset of [0, 2, 4, 6, 8]) {
      const page = await list(filter, offset, 2, filtered);
      expect(page.totalCount).toBe(7);
      walked.push(...page.presets.map(({ slug }) => slug));
    }
    expect(walked).toEqual(whole);
  });
});
