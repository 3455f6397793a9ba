import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { badPages } from "../support/bad-pages.ts";
import { freshName } from "../support/fresh-name.ts";
import { uuidV7 } from "../support/patterns.ts";
import type { ChangeJson, DiffJson, VersionJson } from "../support/preset-answers.ts";
import { upTo } from "../support/preset-store.ts";
import type { Answer, PresetJson } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

function get<Data = PresetJson>(path: string): Promise<Answer<Data>> {
  return stack.request("GET", path, { key: stack.apiKey });
}

function patch(slug: string, body: unknown): Promise<Answer> {
  return stack.request("PATCH", `/presets/${slug}`, { key: stack.apiKey, body });
}

describe("versions", () => {
  const versionCount = 53;

  beforeAll(async () => {
    for (const n of upTo(versionCount)) await stack.create("history", { messages: [], seed: n });
    await patch("history", { designated_version: 2 });
  });

  const list = (query = "") => get<VersionJson[]>(`/presets/history/versions${query}`);

  it("are listed in ascending order with all fields", async () => {
    const { json } = await list("?limit=2&offset=1");
    expect(json.total_count).toBe(versionCount);
    expect(json.data.map(({ version, config }) => [version, config])).toEqual([
      [2, { seed: 2 }],
      [3, { seed: 3 }],
    ]);
    expect(json.data[0]).toEqual((await get("/presets/history")).json.data.designated_version);
    expect(json.data[0]?.system_prompt).toBeNull();
  });

  it.each([
    ["", 50],
    ["?limit=1", 1],
    ["?limit=100", versionCount],
    ["?offset=52&limit=100", 1],
    ["?offset=53", 0],
    ["?offset=2147483647&limit=100", 0],
  ])("listed with %j return %d items and the total", async (query, length) => {
    const { json } = await list(query);
    expect(json.data).toHaveLength(length);
    expect(json.total_count).toBe(versionCount);
  });

  it.each(badPages)("are not listed for ?%s", async (query, path, message) => {
    const { status, json } = await list(`?${query}`);
    expect(status).toBe(400);
    expect(json.error.metadata.issues).toContainEqual({ path, message });
  });

  it("can be read by number", async () => {
    const { status, json } = await get<VersionJson>("/presets/history/versions/7");
    expect(status).toBe(200);
    expect(json.data).toEqual((await list("?offset=6&limit=1")).json.data[0]);
  });

  it.each([
    ["54", 404],
    ["2147483647", 404],
    ["2147483648", 404],
    ["9999999999", 404],
    ["0", 400],
    ["-1", 400],
    ["01", 400],
    ["1.0", 400],
    ["latest", 400],
    ["99999999999", 404],
    ["9999999999999999", 400],
    ["%31", 200],
  ])("numbered %s return %d", async (number, status) => {
    const answer = await get(`/presets/history/versions/${number}`);
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.json.error.metadata.issues?.map(({ path }) => path)).toEqual(["version"]);
  });

  it.each(["/versions", "/versions/1", "/versions/1/diff/1", "/changes"])(
    "of a missing preset return 404: %s",
    async (path) => {
      const { status, json } = await get(`/presets/none${path}`);
      expect(status).toBe(404);
      expect(json.error.message).toContain("There is no preset none");
    },
  );

  it("never change", async () => {
    const before = (await get("/presets/history/versions/3")).text;
    await patch("history", { name: "Renamed", status: "disabled", designated_version: 3 });
    await stack.create("history", { messages: [], seed: 3 });
    expect((await get("/presets/history/versions/3")).text).toBe(before);
    await patch("history", { name: "history", status: "active" });
  });
});

describe("GET /presets/{slug}/versions/{from}/diff/{to}", () => {
  const diff = (from: number | string, to: number | string) =>
    get<DiffJson>(`/presets/compared/versions/${from}/diff/${to}`);

  beforeAll(async () => {
    await stack.create("compared", '{"messages":[],"model":"a","seed":1,"provider":{"a":1,"b":2}}');
    await stack.create(
      "compared",
      '{"messages":[{"role":"system","content":"New."}],"top_p":0.50,"provider":{"b":2,"a":1},"model":"b"}',
    );
  });

  it("returns what was added, removed and changed", async () => {
    const { status, json } = await diff(1, 2);
    expect(status).toBe(200);
    expect(json.data).toEqual({
      from: 1,
      to: 2,
      config: { added: { top_p: 0.5 }, removed: { seed: 1 }, changed: { model: { from: "a", to: "b" } } },
      system_prompt_changed: true,
    });
  });

  it("works backwards and keeps values verbatim", async () => {
    const { text, json } = await diff(2, 1);
    expect(json.data.config).toEqual({
      added: { seed: 1 },
      removed: { top_p: 0.5 },
      changed: { model: { from: "b", to: "a" } },
    });
    expect(text).toContain('"top_p":0.50');
  });

  it("is empty between a version and itself", async () => {
    expect((await diff(1, 1)).json.data).toEqual({
      from: 1,
      to: 1,
      config: { added: {}, removed: {}, changed: {} },
      system_prompt_changed: false,
    });
  });

  it.each([
    [1, 3, 404],
    [3, 1, 404],
    [1, "9999999999", 404],
    [0, 1, 400],
    [1, "x", 400],
  ])("from %s to %s returns %d", async (from, to, status) => {
    expect((await diff(from, to)).status).toBe(status);
  });
});

describe("GET /presets/{slug}/changes", () => {
  const list = (slug: string, query = "") => get<ChangeJson[]>(`/presets/${slug}/changes${query}`);

  let audited: string;

  it("lists exactly the acknowledged changes, newest first", async () => {
    audited = freshName("audited");
    const acknowledged: { at: string; action: string; changes: ChangeJson["changes"] }[] = [];
    const note = (answer: Answer, action: string, ...changes: ChangeJson["changes"]) => {
      expect(answer.status).toBe(200);
      acknowledged.unshift({ at: answer.json.data.updated_at, action, changes });
    };
    const version = (from: number | null, to: number) => ({ field: "designated_version", from, to });
    note(await stack.create(audited), "preset_created", version(null, 1));
    await sleep(3);
    note(await stack.create(audited), "version_created", version(1, 2));
    note(await patch(audited, { name: "Audited" }), "preset_updated", {
      field: "name",
      from: audited,
      to: "Audited",
    });
    note(await patch(audited, { designated_version: 1 }), "preset_updated", version(2, 1));
    note(await stack.create(audited), "version_created", version(1, 3));
    // None of these changes anything, so none of them is in the log.
    expect((await patch(audited, { name: "Audited" })).status).toBe(200);
    expect((await patch(audited, { name: "" })).status).toBe(400);
    expect((await patch(audited, { designated_version: 9 })).status).toBe(404);
    expect((await stack.create(audited, { messages: 1 })).status).toBe(400);
    note(
      await patch(audited, { description: "D", status: "archived" }),
      "preset_updated",
      { field: "description", from: null, to: "D" },
      { field: "status", from: "active", to: "archived" },
    );
    expect((await stack.create(audited)).status).toBe(409);
    note(
      await patch(audited, { status: "active", description: null }),
      "preset_updated",
      { field: "description", from: "D", to: null },
      { field: "status", from: "archived", to: "active" },
    );

    const { status, json } = await list(audited);
    expect(status).toBe(200);
    expect(json.total_count).toBe(acknowledged.length);
    expect(json.data.map(({ created_at, action, changes }) => ({ at: created_at, action, changes }))).toEqual(
      acknowledged,
    );
    expect(json.data.map(({ revision }) => revision)).toEqual(upTo(acknowledged.length).toReversed());
    for (const { user_id, key_id } of json.data) {
      expect(user_id).toBe(stack.userId);
      expect(key_id).toMatch(uuidV7);
    }
    expect(Object.keys(json.data[0] ?? {}).sort()).toEqual([
      "action",
      "changes",
      "created_at",
      "key_id",
      "revision",
      "user_id",
    ]);
  });

  it("names the key that made each change", async () => {
    await stack.create("two-keys");
    await stack.request("PATCH", "/presets/two-keys", { key: stack.managementKey, body: { name: "By another" } });
    const keys = (await list("two-keys")).json.data.map(({ key_id }) => key_id);
    expect(new Set(keys).size).toBe(2);
  });

  it.each([
    ["", [7, 6, 5, 4, 3, 2, 1]],
    ["?limit=2", [7, 6]],
    ["?offset=5&limit=2", [2, 1]],
    ["?offset=6", [1]],
    ["?offset=7", []],
    ["?offset=2147483647", []],
  ])("with %j returns revisions %j and the total", async (query, revisions) => {
    const { json } = await list(audited, query);
    expect(json.data.map(({ revision }) => revision)).toEqual(revisions);
    expect(json.total_count).toBe(7);
  });

  it.each(badPages)("returns 400 for ?%s", async (query, path, message) => {
    const { status, json } = await list(audited, `?${query}`);
    expect(status).toBe(400);
    expect(json.error.metadata.issues).toContainEqual({ path, message });
  });
});
