import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { badPages } from "../support/bad-pages.ts";
import type { ListedPresetJson } from "../support/preset-answers.ts";
import { upTo } from "../support/preset-store.ts";
import type { Answer, PresetJson, RequestParts } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

function get<Data = PresetJson>(path: string, parts: RequestParts): Promise<Answer<Data>> {
  return stack.request("GET", path, parts);
}

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

  it("returns items with every field except designated_version", async () => {
    const { json } = await list("?limit=1");
    const [item] = json.data;
    const { designated_version, ...preset } = (await get(`/presets/${item?.slug}`, { key })).json.data;
    expect(designated_version.id).toBe(item?.designated_version_id);
    expect(item).toEqual(preset);
  });

  it("sorts by most recent update, then by id", async () => {
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
  ])("returns for %j %d items and the total", async (query, length) => {
    const { status, json } = await list(query);
    expect(status).toBe(200);
    expect(json.data).toHaveLength(length);
    expect(json.total_count).toBe(presetCount);
  });

  it("returns every preset exactly once across pages", async () => {
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

  it("adds what each preset serves with include=serving, and changes nothing else", async () => {
    const { apiKey } = await stack.tenants.createOrganization();
    const create = (model: string) => stack.create("serving", { model, messages: [] }, { key: apiKey });
    await create("openai/gpt-4o");
    await create("openai/gpt-5");
    await stack.request("PATCH", "/presets/serving", { key: apiKey, body: { designated_version: 1 } });
    const { data: plain } = (await get<ListedPresetJson[]>("/presets", { key: apiKey })).json;
    const { status, json } = await get<ListedPresetJson[]>("/presets?include=serving", { key: apiKey });
    expect(status).toBe(200);
    const serving = { version: 1, newest_version: 2, model: "openai/gpt-4o" };
    expect(json).toEqual({ data: [{ ...plain[0], serving }], total_count: 1 });
  });

  it("returns an empty page past the end with include=serving", async () => {
    const { status, json } = await list("?include=serving&offset=100");
    expect([status, json.data, json.total_count]).toEqual([200, [], presetCount]);
  });

  it("names the allowed values if include has another", async () => {
    const { status, json } = await list("?include=serving,config");
    expect(status).toBe(400);
    expect(json.error.metadata.issues).toEqual([{ path: "include[1]", message: expect.stringContaining("serving") }]);
  });

  it.each(badPages)("returns 400 for ?%s", async (query, path, message) => {
    const { status, json } = await list(`?${query}`);
    expect(status).toBe(400);
    expect(json.error.metadata.issues).toContainEqual({ path, message });
  });

  it("reports all invalid parameters at once", async () => {
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

    it("pages filtered results exactly", async () => {
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
      [`status=active${",active".repeat(100)}`, "status", "must have at most 100 elements"],
      ["status=active,gone", "status[1]", "must be one of active, disabled, archived"],
      ["q=", "q", "must have at least 1 character"],
      [`q=${"x".repeat(256)}`, "q", "must have at most 255 characters"],
      ["q=a&q=b", "q", "must be given once"],
    ])("returns 400 for ?%s", async (query, path, message) => {
      const { status, json } = await list(`?${query}`);
      expect(status).toBe(400);
      expect(json.error.metadata.issues).toContainEqual({ path, message });
    });

    it("accepts a query of 255 characters regardless of bytes", async () => {
      expect((await list(`?q=${encodeURIComponent("🔥".repeat(255))}`)).json.total_count).toBe(0);
    });
  });
});
