import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshName } from "../support/fresh-name.ts";
import { isoTime, jsonType } from "../support/patterns.ts";
import { presetLife } from "../support/preset-life.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
const { get, patch, createVersions, stateOf } = presetLife(() => stack);

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

const unknownField = "is not a known field: there are name, description, status, designated_version";

describe("PATCH /presets/{slug}", () => {
  it.each([
    ["name", "New name"],
    ["name", "🙂".repeat(255)],
    ["name", " spaced "],
    ["name", "\u0000 control \u007f"],
    ["description", "What it is for"],
    ["description", ""],
    ["description", "é".repeat(2_000)],
    ["description", null],
  ])("changes %s and nothing else but updated_at", async (field, value) => {
    const slug = "one-field";
    const before = await createVersions(slug, 1);
    await patch(slug, { name: "Before", description: "Before" });
    const other = field === "name" ? "description" : "name";
    const { status, headers, json } = await patch(slug, { [field]: value });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(jsonType);
    expect(json.data).toEqual({
      ...before,
      [other]: "Before",
      [field]: value,
      updated_at: expect.stringMatching(isoTime),
    });
    const after = await get(slug);
    expect(after.json).toEqual(json);
    expect(after.headers.get("etag")).toBe(headers.get("etag"));
  });

  it("rolls back to an older version, and forward again", async () => {
    const before = await createVersions("rolled", 3);
    const { json } = await patch("rolled", { designated_version: 1 });
    expect(json.data).toEqual({
      ...before,
      updated_at: expect.stringMatching(isoTime),
      designated_version_id: json.data.designated_version.id,
      designated_version: { ...json.data.designated_version, version: 1, config: { seed: 1 } },
    });
    const first = await stack.request("GET", "/presets/rolled/versions/1", { key: stack.apiKey });
    expect(json.data.designated_version).toEqual(first.json.data);
    expect((await patch("rolled", { designated_version: 3 })).json.data.designated_version.config).toEqual({ seed: 3 });
  });

  it("numbers a version after a rollback from the newest, and designates it", async () => {
    const slug = freshName("after-rollback");
    await createVersions(slug, 3);
    await patch(slug, { designated_version: 1 });
    const { json } = await stack.create(slug, { messages: [], seed: 4 });
    expect(json.data.designated_version).toMatchObject({ version: 4, config: { seed: 4 } });
  });

  it("changes several fields in one change", async () => {
    const slug = freshName("several");
    await createVersions(slug, 2);
    const body = { name: "Several", description: "D", status: "disabled", designated_version: 1 };
    const { json } = await patch(slug, body);
    expect(json.data).toMatchObject({ ...body, designated_version: { version: 1 } });
    expect(json.data.status_updated_at).toBe(json.data.updated_at);
    const changes = await stack.request<{ changes: unknown[] }[]>("GET", `/presets/${slug}/changes`, {
      key: stack.apiKey,
    });
    expect(changes.json.total_count).toBe(3);
    expect(changes.json.data[0]?.changes).toHaveLength(4);
  });

  it("advances updated_at and keeps created_at", async () => {
    const slug = freshName("times");
    const before = await createVersions(slug, 1);
    await sleep(5);
    const { data } = (await patch(slug, { name: "Later" })).json;
    expect(Date.parse(data.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    expect(data.created_at).toBe(before.created_at);
    expect(data.designated_version.updated_at).toBe(before.designated_version.updated_at);
  });

  it.each([
    ["all current values", { name: "unchanged", description: null, status: "active", designated_version: 2 }],
    ["one current value", { name: "unchanged" }],
  ])("does not touch updated_at, ETag or change log for %s", async (_name, body) => {
    await createVersions("unchanged", 2);
    await patch("unchanged", { designated_version: 2 });
    const before = await stateOf("unchanged");
    await sleep(3);
    const answer = await patch("unchanged", body);
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(before.text);
    expect(answer.headers.get("etag")).toBe(before.etag);
    expect(await stateOf("unchanged")).toEqual(before);
  });

  it.each([
    ["an unknown field", { name: "x", slug: "other" }, [["slug", unknownField]]],
    ["an empty object", {}, [["", "must have at least 1 field"]]],
    ["a list", [], [["", "must be a JSON object"]]],
    ["null", "null", [["", "must be a JSON object"]]],
    ["text that is not JSON", "{name: 1}", [["", "must be valid JSON; the error is at line 1, column 2"]]],
    ["an empty body", "", [["", "is empty; send a JSON object"]]],
    ["null for name", { name: null }, [["name", "must be a string"]]],
    ["null for status", { status: null }, [["status", "must be one of active, disabled, archived"]]],
    ["null for designated_version", { designated_version: null }, [["designated_version", "must be an integer"]]],
    ["an empty name", { name: "" }, [["name", "must have at least 1 character"]]],
    ["a blank name", { name: "  " }, [["name", "must have at least 1 character, not only spaces"]]],
    ["a name of 256 characters", { name: "🙂".repeat(256) }, [["name", "must have at most 255 characters"]]],
    [
      "a description of 2,001 characters",
      { description: "x".repeat(2_001) },
      [["description", "must have at most 2000 characters"]],
    ],
    ["half a surrogate pair", '{"name":"a\\ud83d"}', [["name", "must not contain an unpaired surrogate"]]],
    ["an unknown status", { status: "deleted" }, [["status", "must be one of active, disabled, archived"]]],
    ["version 0", { designated_version: 0 }, [["designated_version", "must be at least 1"]]],
    ["a version as a string", { designated_version: "1" }, [["designated_version", "must be an integer"]]],
    [
      "several errors at once",
      { name: 1, description: 1, status: 1, designated_version: 1.5, extra: 1 },
      [
        ["description", "must be a string"],
        ["designated_version", "must be an integer"],
        ["extra", unknownField],
        ["name", "must be a string"],
        ["status", "must be one of active, disabled, archived"],
      ],
    ],
  ])("rejects %s with 400, reports every error and changes nothing", async (_name, body, issues) => {
    await stack.create("refusing");
    const before = await stateOf("refusing");
    const { status, json } = await patch("refusing", body);
    expect(status).toBe(400);
    const found = json.error.metadata.issues?.map(({ path, message }) => [path, message]) ?? [];
    expect(found.toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1))).toEqual(issues);
    expect(await stateOf("refusing")).toEqual(before);
  });

  it.each([
    ["text/plain", 415],
    ["application/merge-patch+json", 415],
    ["application/json; charset=utf-8", 200],
  ])("answers content type %s with %d", async (type, status) => {
    await stack.create("typed");
    const answer = await patch("typed", '{"name":"typed"}', { headers: { "content-type": type } });
    expect(answer.status).toBe(status);
  });

  it("returns 404 for a missing version, and changes nothing", async () => {
    const slug = freshName("beyond");
    await createVersions(slug, 2);
    const before = await stateOf(slug);
    const { status, json } = await patch(slug, { name: "Not stored", status: "disabled", designated_version: 3 });
    expect(status).toBe(404);
    expect(json.error.message).toBe(`The preset ${slug} has no version 3. List its versions to see which there are.`);
    expect(await stateOf(slug)).toEqual(before);
  });

  it("returns 404 for a missing preset, and does not create it", async () => {
    expect((await patch("nowhere", { name: "x" })).status).toBe(404);
    expect((await get("nowhere")).status).toBe(404);
  });

  it("returns 400 for an invalid slug", async () => {
    const { status, json } = await patch("-a", { name: "x" });
    expect(status).toBe(400);
    expect(json.error.metadata.issues?.map(({ path }) => path)).toEqual(["slug"]);
  });
});

describe("If-Match", () => {
  const tagOf = async (slug: string) => (await get(slug)).headers.get("etag") as string;

  it.each([
    ["the current tag", (tag: string) => tag],
    ["a list that contains it", (tag: string) => `"other", ${tag}`],
    ["the current tag in weak form", (tag: string) => `W/${tag}`],
    ["any", () => "*"],
  ])("allows the change: %s", async (_name, header) => {
    await stack.create("matched");
    const headers = { "if-match": header(await tagOf("matched")) };
    const { status } = await patch("matched", { name: randomUUID() }, { headers });
    expect(status).toBe(200);
  });

  it.each<[string, (tags: { old: string; another: string }) => string]>([
    ["a stale tag", ({ old }) => old],
    ["a list of stale tags", ({ old }) => `"other", ${old}`],
    ["a stale tag in weak form", ({ old }) => `W/${old}`],
    ["the tag of another preset", ({ another }) => another],
    ["an empty tag", () => '""'],
  ])("returns 412 and changes nothing: %s", async (_name, header) => {
    await stack.create("stale");
    await stack.create("another");
    const old = await tagOf("stale");
    await patch("stale", { name: randomUUID() });
    const before = await stateOf("stale");
    const value = header({ old, another: await tagOf("another") });
    const { status, json } = await patch("stale", { name: "Not stored" }, { headers: { "if-match": value } });
    expect(status).toBe(412);
    expect(json.error).toMatchObject({
      code: 412,
      message: "The preset has changed since you read it. Read it again and repeat your change.",
    });
    expect(await stateOf("stale")).toEqual(before);
  });

  it.each(["r1", '"unclosed', "", "*, *", "{}"])("returns 400 if malformed: %j", async (value) => {
    await stack.create("malformed");
    const { status, json } = await patch("malformed", { name: "x" }, { headers: { "if-match": value } });
    expect(status).toBe(400);
    expect(json.error.metadata.issues?.map(({ path }) => path)).toEqual(["If-Match"]);
  });

  it.each(["*", '"r1"'])(
    "returns 400 with If-None-Match, because only a creation can be of something new: %s",
    async (value) => {
      await stack.create("existing");
      const before = await stateOf("existing");
      const { status, json } = await patch("existing", { name: "x" }, { headers: { "if-none-match": value } });
      expect([status, json.error.metadata.issues?.map(({ path }) => path)]).toEqual([400, ["If-None-Match"]]);
      expect(await stateOf("existing")).toEqual(before);
    },
  );

  it("returns 400 with more tags than are compared", async () => {
    await stack.create("crowded");
    const tags = Array.from({ length: 101 }, (_, index) => `"${index}"`).join();
    const { status, json } = await patch("crowded", { name: "x" }, { headers: { "if-match": tags } });
    expect(status).toBe(400);
    expect(json.error.metadata.issues).toEqual([{ path: "If-Match", message: "must have at most 100 elements" }]);
  });

  it("is stale after a new version", async () => {
    const tag = (await stack.create("grown")).headers.get("etag") as string;
    await stack.create("grown");
    expect((await patch("grown", { name: "x" }, { headers: { "if-match": tag } })).status).toBe(412);
  });

  it("is checked even if nothing would change", async () => {
    const slug = freshName("idle");
    const tag = (await stack.create(slug)).headers.get("etag") as string;
    await patch(slug, { name: "x" });
    expect((await patch(slug, { name: "x" }, { headers: { "if-match": tag } })).status).toBe(412);
  });

  it("returns 404, not 412, for a missing preset", async () => {
    expect((await patch("gone", { name: "x" }, { headers: { "if-match": '"r1"' } })).status).toBe(404);
  });
});
