import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isoTime, jsonType, uuidV7 } from "../support/patterns.ts";
import type { ChangeJson, DiffJson, ListedPresetJson, VersionJson } from "../support/preset-answers.ts";
import { upTo } from "../support/preset-store.ts";
import type { Answer, PresetJson, RequestParts } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

function get<Data = PresetJson>(path: string, parts: RequestParts = {}): Promise<Answer<Data>> {
  return stack.request("GET", path, { key: stack.apiKey, ...parts });
}

function patch(slug: string, body: unknown): Promise<Answer> {
  return stack.request("PATCH", `/presets/${slug}`, { key: stack.apiKey, body });
}

/** The parameters that every list takes, and what is wrong with each that it does not. */
const badPages = [
  ["offset=-1", "offset", "must be at least 0"],
  ["offset=2147483648", "offset", "must be at most 2147483647"],
  ["offset=1.5", "offset", "must be an integer"],
  ["offset=", "offset", "must be an integer"],
  ["limit=0", "limit", "must be at least 1"],
  ["limit=-5", "limit", "must be at least 1"],
  ["limit=101", "limit", "must be at most 100"],
  ["limit=1e2", "limit", "must be an integer"],
  ["limit=ten", "limit", "must be an integer"],
  ["limit=1&limit=2", "limit", "must be an integer"],
] as const;

describe("GET /presets/{slug}", () => {
  it("shows the preset with its designated version, every documented field and no other", async () => {
    const created = await stack.create("one", { messages: [{ role: "system", content: "Be brief." }], model: "m" });
    const { status, headers, text, json } = await get("/presets/one");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(jsonType);
    expect(text).toBe(created.text);
    expect(json.data).toEqual({
      id: expect.stringMatching(uuidV7),
      name: "one",
      slug: "one",
      description: null,
      status: "active",
      status_updated_at: null,
      created_at: expect.stringMatching(isoTime),
      updated_at: json.data.created_at,
      creator_user_id: stack.userId,
      workspace_id: stack.workspaceId,
      designated_version_id: json.data.designated_version.id,
      designated_version: {
        id: expect.stringMatching(uuidV7),
        preset_id: json.data.id,
        version: 1,
        config: { model: "m" },
        system_prompt: "Be brief.",
        creator_id: stack.userId,
        created_at: json.data.created_at,
        updated_at: json.data.created_at,
      },
    });
  });

  it("tolerates a trailing slash", async () => {
    expect((await get("/presets/one/")).status).toBe(200);
  });

  it("answers HEAD with the same headers and no body", async () => {
    const head = await stack.request("HEAD", "/presets/one", { key: stack.apiKey });
    expect(head.status).toBe(200);
    expect(head.text).toBe("");
    expect(head.headers.get("etag")).toBe((await get("/presets/one")).headers.get("etag"));
  });

  it("is 404 where there is none, and says what to do", async () => {
    const { status, json } = await get("/presets/none");
    expect(status).toBe(404);
    expect(json.error).toMatchObject({
      code: 404,
      message: "There is no preset none in this workspace. Check the slug, or create it first.",
    });
  });

  it.each(["-a", "a%2Fb", "a%20b", "a".repeat(129)])("is 400 for the slug %s", async (slug) => {
    const { status, json } = await get(`/presets/${slug}`);
    expect(status).toBe(400);
    expect(json.error.metadata.issues?.map(({ path }) => path)).toEqual(["slug"]);
  });

  it("gives each of many readers at once the preset they asked for", async () => {
    await Promise.all(upTo(5).map((n) => stack.create(`crowd-${n}`, { messages: [], seed: n })));
    const answers = await Promise.all(upTo(120).map((n) => get(`/presets/crowd-${n % 6}`)));
    for (const [index, { status, json }] of answers.entries()) {
      const n = (index + 1) % 6;
      expect(status).toBe(n === 0 ? 404 : 200);
      if (n > 0) expect(json.data).toMatchObject({ slug: `crowd-${n}`, designated_version: { config: { seed: n } } });
    }
  });
});

describe("an ETag", () => {
  it("changes with every change, and never comes back", async () => {
    const tags = [(await stack.create("tagged")).headers.get("etag")];
    tags.push((await stack.create("tagged")).headers.get("etag"));
    for (const body of [{ name: "A" }, { name: "tagged" }, { designated_version: 1 }, { designated_version: 2 }]) {
      const { headers } = await patch("tagged", body);
      expect((await get("/presets/tagged")).headers.get("etag")).toBe(headers.get("etag"));
      tags.push(headers.get("etag"));
    }
    expect(new Set(tags).size).toBe(tags.length);
    for (const tag of tags) expect(tag).toMatch(/^"[\x21\x23-\x7e]+"$/);
  });

  it("is not shared by presets of two workspaces that have the same slug and history", async () => {
    const other = await stack.tenants.createOrganization();
    const mine = await stack.create("same-history");
    const theirs = await stack.create("same-history", undefined, { key: other.apiKey });
    expect(theirs.headers.get("etag")).not.toBe(mine.headers.get("etag"));
  });

  it.each([
    ["the tag", (tag: string) => tag],
    ["the tag, weak", (tag: string) => `W/${tag}`],
    ["a list that holds it", (tag: string) => `"other", W/"another", ${tag}`],
    ["any", () => "*"],
  ])("in If-None-Match answers 304 without a body: %s", async (_name, header) => {
    const tag = (await stack.create("cached")).headers.get("etag") as string;
    const answer = await get("/presets/cached", { headers: { "if-none-match": header(tag) } });
    expect(answer.status).toBe(304);
    expect(answer.text).toBe("");
    expect(answer.headers.get("etag")).toBe(tag);
    expect(answer.headers.get("content-type")).toBeNull();
    expect(answer.headers.get("x-request-id")).toBeTruthy();
  });

  it("in If-None-Match answers 200 once the preset has changed", async () => {
    const tag = (await stack.create("changed")).headers.get("etag") as string;
    await patch("changed", { name: "Changed" });
    for (const header of [tag, `W/${tag}`, `"x", ${tag}`]) {
      const answer = await get("/presets/changed", { headers: { "if-none-match": header } });
      expect(answer.status).toBe(200);
      expect(answer.json.data.name).toBe("Changed");
    }
  });

  it.each(["r1", '"unclosed', "W/x", ""])("in If-None-Match is 400 where it is malformed: %j", async (header) => {
    const { status, json } = await get("/presets/one", { headers: { "if-none-match": header } });
    expect(status).toBe(400);
    expect(json.error.metadata.issues?.map(({ path }) => path)).toEqual(["If-None-Match"]);
  });

  it("in If-None-Match does not hide a 404", async () => {
    expect((await get("/presets/none", { headers: { "if-none-match": "*" } })).status).toBe(404);
  });
});

describe("GET /presets", () => {
  const presetCount = 55;
  let key: string;

  const list = (query = "") => get<ListedPresetJson[]>(`/presets${query}`, { key });

  beforeAll(async () => {
    key = (await stack.tenants.createOrganization()).apiKey;
    for (const start of [0, 20, 40]) {
      await Promise.all(
        upTo(Math.min(20, presetCount - start)).map((n) => stack.create(`listed-${start + n}`, undefined, { key })),
      );
    }
  });

  it("shows items without designated_version, with every other field", async () => {
    const { json } = await list("?limit=1");
    const [item] = json.data;
    const { designated_version, ...preset } = (await get(`/presets/${item?.slug}`, { key })).json.data;
    expect(designated_version.id).toBe(item?.designated_version_id);
    expect(item).toEqual(preset);
  });

  it("puts the most recently updated first, then goes by id", async () => {
    const { json } = await list("?limit=100");
    const keys = json.data.map(({ updated_at, id }) => `${9e15 - Date.parse(updated_at)} ${id}`);
    expect(keys).toHaveLength(presetCount);
    expect(keys).toEqual(keys.toSorted());
  });

  it.each([
    ["", 50],
    ["?limit=1", 1],
    ["?limit=100", presetCount],
    ["?offset=50", 5],
    ["?offset=54&limit=100", 1],
    ["?offset=55", 0],
    ["?offset=56", 0],
    ["?offset=2147483647&limit=100", 0],
  ])("returns for %j %d items, and the total", async (query, length) => {
    const { status, json } = await list(query);
    expect(status).toBe(200);
    expect(json.data).toHaveLength(length);
    expect(json.total_count).toBe(presetCount);
  });

  it("walks through all presets page by page, each once", async () => {
    const slugs: string[] = [];
    for (const offset of [0, 10, 20, 30, 40, 50]) {
      slugs.push(...(await list(`?offset=${offset}&limit=10`)).json.data.map(({ slug }) => slug));
    }
    expect(slugs).toEqual((await list("?limit=100")).json.data.map(({ slug }) => slug));
    expect(new Set(slugs).size).toBe(presetCount);
  });

  it("is empty in a workspace without presets", async () => {
    const { apiKey } = await stack.tenants.createOrganization();
    const { status, text } = await get("/presets", { key: apiKey });
    expect([status, text]).toEqual([200, '{"data":[],"total_count":0}']);
  });

  it.each(badPages)("refuses ?%s", async (query, path, message) => {
    const { status, json } = await list(`?${query}`);
    expect(status).toBe(400);
    expect(json.error.metadata.issues).toContainEqual({ path, message });
  });

  it("reports every bad parameter at once", async () => {
    const { json } = await list("?offset=-1&limit=101&status=gone&q=");
    expect(json.error.metadata.issues?.map(({ path }) => path).sort()).toEqual(["limit", "offset", "q", "status[0]"]);
  });

  describe("with filters", () => {
    beforeAll(async () => {
      key = (await stack.tenants.createOrganization()).apiKey;
      const named: Record<string, [name: string, status: string]> = {
        "Alpha-one": ["First", "active"],
        "alpha-two": ["100% Second", "disabled"],
        beta: ["ALPHA in the name", "archived"],
        under_score: ["Straße für Ümlaute", "active"],
        gamma: ["back\\slash 🔥", "disabled"],
      };
      for (const [slug, [name, status]] of Object.entries(named)) {
        await stack.create(slug, undefined, { key });
        await stack.request("PATCH", `/presets/${slug}`, { key, body: { name, status } });
      }
    });

    it.each([
      ["status=active", ["Alpha-one", "under_score"]],
      ["status=disabled&status=archived", ["alpha-two", "beta", "gamma"]],
      ["status=disabled,archived", ["alpha-two", "beta", "gamma"]],
      ["status=active&status=active", ["Alpha-one", "under_score"]],
      ["status=active,disabled,archived", ["Alpha-one", "alpha-two", "beta", "gamma", "under_score"]],
      ["q=alpha", ["Alpha-one", "alpha-two", "beta"]],
      ["q=ALPHA-", ["Alpha-one", "alpha-two"]],
      ["q=%25", ["alpha-two"]],
      ["q=_", ["under_score"]],
      ["q=%5C", ["gamma"]],
      ["q=%C3%BCML", ["under_score"]],
      ["q=%F0%9F%94%A5", ["gamma"]],
      ["q=100%25+sec", ["alpha-two"]],
      ["q='%20OR%201=1--", []],
      ["q=alpha&status=archived", ["beta"]],
      ["q=nothing", []],
    ])("?%s finds %j", async (query, slugs) => {
      const { status, json } = await list(`?${query}`);
      expect(status).toBe(200);
      expect(json.data.map(({ slug }) => slug).sort()).toEqual(slugs.toSorted());
      expect(json.total_count).toBe(slugs.length);
    });

    it("pages exactly", async () => {
      const query = "status=disabled,archived&limit=1";
      const walked = await Promise.all([0, 1, 2, 3].map((offset) => list(`?${query}&offset=${offset}`)));
      expect(walked.map(({ json }) => json.total_count)).toEqual([3, 3, 3, 3]);
      expect(walked.map(({ json }) => json.data.map(({ slug }) => slug))).toEqual([
        ["gamma"],
        ["beta"],
        ["alpha-two"],
        [],
      ]);
    });

    it.each([
      ["status=", "status[0]", "must be one of active, disabled, archived"],
      ["status=ACTIVE", "status[0]", "must be one of active, disabled, archived"],
      ["status=active,gone", "status[1]", "must be one of active, disabled, archived"],
      ["q=", "q", "must have at least 1 character"],
      [`q=${"x".repeat(256)}`, "q", "must have at most 255 characters"],
      ["q=a&q=b", "q", "must be a string"],
    ])("refuses ?%s", async (query, path, message) => {
      const { status, json } = await list(`?${query}`);
      expect(status).toBe(400);
      expect(json.error.metadata.issues).toContainEqual({ path, message });
    });

    it("takes 255 characters, however many bytes they have", async () => {
      expect((await list(`?q=${encodeURIComponent("🔥".repeat(255))}`)).json.total_count).toBe(0);
    });
  });
});

describe("versions", () => {
  const versionCount = 53;

  beforeAll(async () => {
    for (const n of upTo(versionCount)) await stack.create("history", { messages: [], seed: n });
    await patch("history", { designated_version: 2 });
  });

  const list = (query = "") => get<VersionJson[]>(`/presets/history/versions${query}`);

  it("are listed in ascending order, each with every field", async () => {
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
  ])("listed with %j are %d, with the total", async (query, length) => {
    const { json } = await list(query);
    expect(json.data).toHaveLength(length);
    expect(json.total_count).toBe(versionCount);
  });

  it.each(badPages)("are not listed for ?%s", async (query, path, message) => {
    const { status, json } = await list(`?${query}`);
    expect(status).toBe(400);
    expect(json.error.metadata.issues).toContainEqual({ path, message });
  });

  it("are found by their number", async () => {
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
    ["99999999999", 400],
    ["%31", 200],
  ])("numbered %s are %d", async (number, status) => {
    const answer = await get(`/presets/history/versions/${number}`);
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.json.error.metadata.issues?.map(({ path }) => path)).toEqual(["version"]);
  });

  it.each(["/versions", "/versions/1", "/versions/1/diff/1", "/changes"])(
    "of a preset that is not there are 404: %s",
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

  it("tells what was added, removed and changed", async () => {
    const { status, json } = await diff(1, 2);
    expect(status).toBe(200);
    expect(json.data).toEqual({
      from: 1,
      to: 2,
      config: { added: { top_p: 0.5 }, removed: { seed: 1 }, changed: { model: { from: "a", to: "b" } } },
      system_prompt_changed: true,
    });
  });

  it("works backwards, with values as they were sent", async () => {
    const { text, json } = await diff(2, 1);
    expect(json.data.config).toEqual({
      added: { seed: 1 },
      removed: { top_p: 0.5 },
      changed: { model: { from: "b", to: "a" } },
    });
    expect(text).toContain('"top_p":0.50');
  });

  it("finds nothing between a version and itself", async () => {
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
  ])("from %s to %s is %d", async (from, to, status) => {
    expect((await diff(from, to)).status).toBe(status);
  });
});

describe("GET /presets/{slug}/changes", () => {
  const list = (slug: string, query = "") => get<ChangeJson[]>(`/presets/${slug}/changes${query}`);

  it("is, newest first, what was acknowledged, one for one", async () => {
    const acknowledged: { at: string; action: string; changes: ChangeJson["changes"] }[] = [];
    const note = (answer: Answer, action: string, ...changes: ChangeJson["changes"]) => {
      expect(answer.status).toBe(200);
      acknowledged.unshift({ at: answer.json.data.updated_at, action, changes });
    };
    const version = (from: number | null, to: number) => ({ field: "designated_version", from, to });
    note(await stack.create("audited"), "preset_created", version(null, 1));
    await sleep(3);
    note(await stack.create("audited"), "version_created", version(1, 2));
    note(await patch("audited", { name: "Audited" }), "preset_updated", {
      field: "name",
      from: "audited",
      to: "Audited",
    });
    note(await patch("audited", { designated_version: 1 }), "preset_updated", version(2, 1));
    note(await stack.create("audited"), "version_created", version(1, 3));
    // None of these changes anything, so none of them is in the log.
    expect((await patch("audited", { name: "Audited" })).status).toBe(200);
    expect((await patch("audited", { name: "" })).status).toBe(400);
    expect((await patch("audited", { designated_version: 9 })).status).toBe(404);
    expect((await stack.create("audited", { messages: 1 })).status).toBe(400);
    note(
      await patch("audited", { description: "D", status: "archived" }),
      "preset_updated",
      { field: "description", from: null, to: "D" },
      { field: "status", from: "active", to: "archived" },
    );
    expect((await stack.create("audited")).status).toBe(409);
    note(
      await patch("audited", { status: "active", description: null }),
      "preset_updated",
      { field: "description", from: "D", to: null },
      { field: "status", from: "archived", to: "active" },
    );

    const { status, json } = await list("audited");
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
  ])("with %j shows %j, and the total", async (query, revisions) => {
    const { json } = await list("audited", query);
    expect(json.data.map(({ revision }) => revision)).toEqual(revisions);
    expect(json.total_count).toBe(7);
  });

  it.each(badPages)("refuses ?%s", async (query, path, message) => {
    const { status, json } = await list("audited", `?${query}`);
    expect(status).toBe(400);
    expect(json.error.metadata.issues).toContainEqual({ path, message });
  });
});
