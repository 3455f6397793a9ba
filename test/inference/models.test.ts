import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { unknownOfModel } from "../../gateway/json/model.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

let stack: InferenceStack;

/** More than a page has by default. */
const names = Array.from({ length: 600 }, (_, index) => `vendor/model-${index}`);
const presets = ["@preset/second", "@preset/first"];
const everything = [...presets, ...names, "other/model"];

beforeAll(async () => {
  // Nothing is sent to them.
  const nowhere = { url: "http://127.0.0.1:9" };
  stack = await startInferenceStack({
    upstreams: [
      entryOf(nowhere, { name: "one", models: [...names, "pattern/*"] }),
      entryOf(nowhere, { name: "two", models: ["vendor/model-0", "other/model"] }),
    ],
  });
  for (const slug of ["disabled", "first", "second"]) await stack.create(slug);
  await stack.request("PATCH", "/presets/disabled", { key: stack.apiKey, body: { status: "disabled" } });
});

afterAll(() => stack.close());

const get = <Data>(path: string) => stack.request<Data>("GET", path, { key: stack.apiKey });

async function list(query: string) {
  const { json } = await get<{ readonly id: string }[]>(`/models${query}`);
  return { ids: json.data.map(({ id }) => id), total: json.total_count };
}

describe("models", () => {
  it("are the active presets, then what the upstreams list by name, each once", async () => {
    expect(await list("")).toEqual({ ids: everything, total: everything.length });
    expect((await get("/models/count")).json).toEqual({ data: { count: everything.length } });
  });

  it.each([
    ["?offset=0", 0, 500],
    ["?offset=1", 1, 500],
    ["?limit=1000", 0, 1_000],
    ["?limit=1", 0, 1],
    ["?offset=1&limit=3", 1, 3],
    ["?offset=2&limit=1", 2, 1],
    ["?offset=601&limit=10", 601, 10],
    ["?offset=603&limit=10", 603, 10],
  ])("are paged across both: %s", async (query, offset, limit) => {
    expect(await list(query)).toEqual({ ids: everything.slice(offset, offset + limit), total: everything.length });
  });

  it.each([
    ["?limit=1", 0, 1, true],
    ["?after_id=@preset/second&limit=1", 1, 1, true],
    ["?after_id=@preset/second", 1, 500, true],
    ["?after_id=@preset/first&limit=2", 2, 2, true],
    ["?after_id=vendor/model-9&limit=591", 12, 591, false],
    ["?after_id=other/model&limit=2", 603, 2, false],
    ["?before_id=vendor/model-1&limit=2", 1, 2, true],
    ["?before_id=vendor/model-1&limit=3", 0, 3, false],
    ["?before_id=vendor/model-1", 0, 3, false],
    ["?before_id=@preset/second&limit=2", 0, 0, false],
  ])("are paged by id, as clients of Anthropic do: %s", async (query, offset, limit, hasMore) => {
    const ids = everything.slice(offset, offset + limit);
    expect(await list(query)).toEqual({ ids, total: everything.length });
    const ends = { first_id: ids.at(0) ?? null, last_id: ids.at(-1) ?? null, has_more: hasMore };
    expect((await get(`/models${query}`)).json).toMatchObject(ends);
  });

  it.each(["?after_id=@preset/disabled", "?before_id=", "?after_id=@preset/first&offset=1", "?before_id=b&after_id=a"])(
    "are not paged by what does not say where: %s",
    async (query) => {
      const { status, json } = await get(`/models${query}`);
      const issues = json.error?.metadata.issues;
      expect([status, issues]).toEqual([400, [{ path: query.slice(1).split("=")[0], message: expect.any(String) }]]);
    },
  );

  it("of an upstream have every field that clients require", async () => {
    const { json } = await get<object[]>("/models?offset=2&limit=1");
    expect(json.data).toEqual([
      {
        id: "vendor/model-0",
        object: "model",
        type: "model",
        owned_by: "upstream",
        canonical_slug: "vendor/model-0",
        name: "vendor/model-0",
        display_name: "vendor/model-0",
        created: 0,
        created_at: "1970-01-01T00:00:00.000Z",
        description: expect.any(String),
        ...unknownOfModel,
        links: { details: "/api/v1/models" },
      },
    ]);
    expect((await get("/models/vendor%2Fmodel-0")).json).toEqual(json.data[0]);
    expect((await get("/model/vendor/model-0")).json).toEqual({ data: json.data[0] });
  });

  it.each([
    ["pattern/anything", 200],
    ["vendor/model-600", 404],
    ["pattern/anything@preset/first", 404],
    ["@preset/disabled", 409],
  ])("are found by name or by a pattern of an upstream, but not as part of a reference: %s", async (name, status) => {
    expect((await get(`/models/${encodeURIComponent(name)}`)).status).toBe(status);
  });
});
