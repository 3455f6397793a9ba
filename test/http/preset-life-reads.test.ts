import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isoTime, jsonType, uuidV7 } from "../support/patterns.ts";
import { upTo } from "../support/preset-store.ts";
import type { Answer, RequestParts } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

function get(path: string, parts: RequestParts = {}): Promise<Answer> {
  return stack.request("GET", path, { key: stack.apiKey, ...parts });
}

function patch(slug: string, body: unknown): Promise<Answer> {
  return stack.request("PATCH", `/presets/${slug}`, { key: stack.apiKey, body });
}

describe("GET /presets/{slug}", () => {
  it("returns the preset and its designated version with exactly the documented fields", async () => {
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
        dialect: "chat/completions",
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

  it("returns 404 for a missing preset, and says what to do", async () => {
    const { status, json } = await get("/presets/none");
    expect(status).toBe(404);
    expect(json.error).toMatchObject({
      code: 404,
      message: "There is no preset none in this workspace. Check the slug, or create it first.",
    });
  });

  it.each(["-a", "a%2Fb", "a%20b", "a".repeat(129)])("returns 400 for the slug %s", async (slug) => {
    const { status, json } = await get(`/presets/${slug}`);
    expect(status).toBe(400);
    expect(json.error.metadata.issues?.map(({ path }) => path)).toEqual(["slug"]);
  });

  it("returns each of many simultaneous readers the preset they asked for", async () => {
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
  it("changes with every change and never repeats", async () => {
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

  it("differs between workspaces with the same slug and history", async () => {
    const other = await stack.tenants.createOrganization();
    const mine = await stack.create("same-history");
    const theirs = await stack.create("same-history", undefined, { key: other.apiKey });
    expect(theirs.headers.get("etag")).not.toBe(mine.headers.get("etag"));
  });

  it.each([
    ["the tag", (tag: string) => tag],
    ["the tag in weak form", (tag: string) => `W/${tag}`],
    ["a list that contains it", (tag: string) => `"other", W/"another", ${tag}`],
    ["any", () => "*"],
  ])("in If-None-Match returns 304 without a body: %s", async (_name, header) => {
    const tag = (await stack.create("cached")).headers.get("etag") as string;
    const answer = await get("/presets/cached", { headers: { "if-none-match": header(tag) } });
    expect(answer.status).toBe(304);
    expect(answer.text).toBe("");
    expect(answer.headers.get("etag")).toBe(tag);
    expect(answer.headers.get("content-type")).toBeNull();
    expect(answer.headers.get("x-request-id")).toMatch(uuidV7);
  });

  it("in If-None-Match returns 200 once the preset has changed", async () => {
    const tag = (await stack.create("changed")).headers.get("etag") as string;
    await patch("changed", { name: "Changed" });
    for (const header of [tag, `W/${tag}`, `"x", ${tag}`]) {
      const answer = await get("/presets/changed", { headers: { "if-none-match": header } });
      expect(answer.status).toBe(200);
      expect(answer.json.data.name).toBe("Changed");
    }
  });

  it.each(["r1", '"unclosed', "W/x", ""])("in If-None-Match returns 400 if malformed: %j", async (header) => {
    const { status, headers, json } = await get("/presets/one", { headers: { "if-none-match": header } });
    expect(status).toBe(400);
    expect(headers.get("etag")).toBeNull();
    expect(json.error.metadata.issues?.map(({ path }) => path)).toEqual(["If-None-Match"]);
  });

  it("in If-None-Match does not hide a 404", async () => {
    expect((await get("/presets/none", { headers: { "if-none-match": "*" } })).status).toBe(404);
  });
});
