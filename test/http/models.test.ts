import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import { type Stack, startStack } from "../support/stack.ts";

const presetCount = 230;

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
  const slugs = Array.from({ length: presetCount }, (_, index) => `model-${index}`);
  for (let from = 0; from < slugs.length; from += 50) {
    await Promise.all(slugs.slice(from, from + 50).map((slug) => stack.create(slug)));
  }
  // Two that are not active, among those that are.
  for (const [slug, status] of [
    ["model-100", "archived"],
    ["model-150", "disabled"],
  ] as const) {
    await stack.presetPool.execute("UPDATE presets SET status = ? WHERE workspace_id = ? AND slug = ?", [
      status,
      idToBytes(stack.workspaceId),
      slug,
    ]);
  }
});

afterAll(() => stack.close());

const activeCount = presetCount - 2;

interface Model {
  readonly id: string;
}

async function list(query = "", key = stack.apiKey): Promise<{ ids: string[]; total: number; json: unknown }> {
  const { status, json } = await stack.request<Model[]>("GET", `/models${query}`, { key });
  expect(status).toBe(200);
  return { ids: json.data.map(({ id }) => id), total: json.total_count, json };
}

/** The slugs of the active presets, in the order of the preset list. */
async function listActive(): Promise<string[]> {
  const ids: string[] = [];
  for (let offset = 0; offset < activeCount; offset += 100) {
    const path = `/presets?status=active&limit=100&offset=${offset}`;
    const { json } = await stack.request<{ slug: string }[]>("GET", path, { key: stack.apiKey });
    ids.push(...json.data.map(({ slug }) => `@preset/${slug}`));
  }
  return ids;
}

describe("models", () => {
  it("lists all active presets in the order of the preset list", async () => {
    const all = await list();
    expect(all.ids).toEqual(await listActive());
    expect(all.total).toBe(activeCount);
    expect(await list("/user")).toEqual(all);
  });

  it("returns every field that clients require", async () => {
    const body = { name: "For models", description: "Answers." };
    await stack.request("PATCH", "/presets/model-7", { key: stack.apiKey, body });
    const { json } = await stack.request<object[]>("GET", "/models?limit=1", { key: stack.apiKey });
    expect(json.data).toEqual([
      {
        id: "@preset/model-7",
        object: "model",
        type: "model",
        owned_by: "setpoint",
        display_name: "For models",
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        canonical_slug: "@preset/model-7",
        name: "For models",
        created: expect.any(Number),
        description: "Preset For models, version 1: Answers.",
        context_length: null,
        architecture: { modality: null, input_modalities: [], output_modalities: [] },
        pricing: { prompt: "0", completion: "0" },
        top_provider: { is_moderated: false },
        per_request_limits: null,
        default_parameters: null,
        supported_parameters: [],
        supported_voices: null,
        links: { details: "/api/v1/presets/model-7" },
      },
    ]);
    expect(json).toMatchObject({ links: { next: null } });
  });

  it.each([
    ["?limit=1000", 0, 1000],
    ["?limit=150", 0, 150],
    ["?offset=0", 0, 500],
    ["?offset=30&limit=120", 30, 120],
    ["?offset=200&limit=100", 200, 100],
    ["?offset=228", 228, 500],
    ["?offset=1000000&limit=1", 1_000_000, 1],
  ])("is paged: %s", async (query, offset, limit) => {
    const { ids } = await list();
    expect(await list(query)).toMatchObject({ ids: ids.slice(offset, offset + limit), total: activeCount });
  });

  it.each(["?limit=0", "?limit=1001", "?offset=-1", "?offset=x", "?workspace_id=1"])(
    "returns 400: %s",
    async (query) => {
      const { status } = await stack.request("GET", `/models${query}`, { key: stack.apiKey });
      expect(status).toBe(400);
    },
  );

  it("returns the count", async () => {
    const { json } = await stack.request("GET", "/models/count", { key: stack.apiKey });
    expect(json).toEqual({ data: { count: activeCount } });
  });

  it("reads presets only once for a HEAD", async () => {
    const reads = () => stack.log().split("/ListPresets").length;
    const before = reads();
    const { status, text } = await stack.request("HEAD", "/models", { key: stack.apiKey });
    expect([status, text]).toEqual([200, ""]);
    expect(reads() - before).toBe(1);
  });
});

describe("one model", () => {
  const get = (name: string, key = stack.apiKey) =>
    stack.request("GET", `/models/${encodeURIComponent(name)}`, { key });

  it("returns the same as in the list, by full name, encoded or not, and by its parts", async () => {
    const { json } = await stack.request<Model[]>("GET", "/models?offset=3&limit=1", { key: stack.apiKey });
    const [listed] = json.data;
    const byName = await get(listed?.id ?? "");
    expect([byName.status, byName.json]).toEqual([200, listed]);
    const notEncoded = await stack.request("GET", `/models/${listed?.id}`, { key: stack.apiKey });
    expect([notEncoded.status, notEncoded.json]).toEqual([200, listed]);
    const byParts = await stack.request("GET", `/model/${listed?.id}`, { key: stack.apiKey });
    expect([byParts.status, byParts.json]).toEqual([200, { data: listed }]);
  });

  it("returns a pinned version of a preset, which is not in the list", async () => {
    await stack.create("pinned");
    await stack.create("pinned");
    const { json } = await stack.request<object>("GET", "/model/@preset/pinned", { key: stack.apiKey });
    const id = "@preset/pinned@1";
    const pinned = { ...json.data, id, canonical_slug: id, description: "Preset pinned, version 1" };
    expect(await get(id)).toMatchObject({ status: 200, json: pinned });
    const byParts = await stack.request("GET", `/model/${id}`, { key: stack.apiKey });
    expect([byParts.status, byParts.json]).toEqual([200, { data: pinned }]);
    await stack.request("PATCH", "/presets/pinned", { key: stack.apiKey, body: { status: "archived" } });
  });

  it.each([
    ["@preset/model-100", 409, "Restore it first: PATCH /api/v1/presets/model-100"],
    ["@preset/model-150", 409, "is disabled"],
    ["@preset/nowhere", 404, "There is no preset nowhere in this workspace."],
    ["@preset/model-7@2", 404, "The preset model-7 has no version 2."],
    ["@preset/model-7@2147483648", 404, "The preset model-7 has no version 2147483648."],
    ["@preset/model-7@0", 404, "There is no model @preset/model-7@0."],
    ["@preset/model-100@1", 409, "Restore it first: PATCH /api/v1/presets/model-100"],
    ["vendor/one@preset/model-7", 404, "GET /api/v1/models lists what there is."],
    ["@preset/", 404, "There is no model @preset/."],
    ["vendor/one", 404, "There is no model vendor/one."],
  ])("returns an error: %s", async (name, status, message) => {
    const answer = await get(name);
    expect([answer.status, answer.json.error.message]).toEqual([status, expect.stringContaining(message)]);
  });

  it("is visible to an inference-only key, but not to one that may neither read nor use presets", async () => {
    const { secret: using } = await stack.tenants.createKey(stack, { permissions: ["inference"] });
    expect((await get("@preset/model-7", using)).status).toBe(200);
    const { secret: writing } = await stack.tenants.createKey(stack, { permissions: ["presets:write"] });
    expect((await get("@preset/model-7", writing)).status).toBe(403);
    expect((await get("@preset/model-7", "wrong")).status).toBe(401);
  });

  it("is looked up in the workspace that a management key names", async () => {
    const workspaceId = await stack.tenants.createWorkspace(stack);
    const path = "/models/@preset%2Fmodel-7";
    expect((await stack.request("GET", path, { key: stack.managementKey })).status).toBe(200);
    const elsewhere = `${path}?workspace_id=${workspaceId}`;
    expect((await stack.request("GET", elsewhere, { key: stack.managementKey })).status).toBe(404);
  });
});

describe("a key", () => {
  it("for management sees the workspace that it names", async () => {
    expect((await list("", stack.managementKey)).total).toBe(activeCount);
    const workspaceId = await stack.tenants.createWorkspace(stack);
    const query = `workspace_id=${workspaceId}`;
    expect((await list(`?${query}`, stack.managementKey)).total).toBe(0);
    const { json } = await stack.request("GET", `/models/count?${query}`, { key: stack.managementKey });
    expect(json).toEqual({ data: { count: 0 } });
  });

  it("for inference only sees models, in either header", async () => {
    const { secret } = await stack.tenants.createKey(stack, { permissions: ["inference"] });
    expect((await list("", secret)).total).toBe(activeCount);
    const response = await fetch(`${stack.baseUrl}/api/v1/models/count`, { headers: { "x-api-key": secret } });
    expect(await response.json()).toEqual({ data: { count: activeCount } });
    // Caches do not know that this header is a credential.
    expect(response.headers.get("cache-control")).toBe("private, no-cache");
  });

  it("that may neither read nor use presets sees none", async () => {
    const { secret } = await stack.tenants.createKey(stack, { permissions: ["presets:write"] });
    expect(await list("", secret)).toMatchObject({ ids: [], total: 0 });
  });

  it("that is invalid gets 401", async () => {
    expect((await stack.request("GET", "/models", { key: "wrong" })).status).toBe(401);
  });
});
