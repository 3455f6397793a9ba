import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator, type KeyJson, pathsOf } from "../support/administration-rest.ts";
import { freshName } from "../support/fresh-name.ts";
import { isoTime, uuidV7 } from "../support/patterns.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let call: ReturnType<typeof administrator>["call"];
let makeKey: ReturnType<typeof administrator>["makeKey"];
let makeWorkspace: ReturnType<typeof administrator>["makeWorkspace"];

beforeAll(async () => {
  stack = await startStack();
  ({ call, makeKey, makeWorkspace } = administrator(stack));
});

afterAll(() => stack.close());

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

const unmetered = {
  external_user: null,
  limit: null,
  limit_remaining: null,
  limit_reset: null,
  include_byok_in_limit: false,
  usage: 0,
  usage_daily: 0,
  usage_weekly: 0,
  usage_monthly: 0,
  byok_usage: 0,
  byok_usage_daily: 0,
  byok_usage_weekly: 0,
  byok_usage_monthly: 0,
};

describe("a new key", () => {
  it("has exactly the documented fields, and its secret is returned once with no-store", async () => {
    const answer = await call<KeyJson>("POST", "/keys", { name: "ci" });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { data, key, ...rest } = JSON.parse(answer.text);
    expect(rest).toEqual({});
    expect(data).toEqual({
      id: expect.stringMatching(uuidV7),
      hash: createHash("sha256").update(key).digest("hex"),
      name: "ci",
      label: `${key.slice(0, 12)}…${key.slice(-3)}`,
      kind: "api",
      permissions: ["presets:read", "presets:write", "inference"],
      workspace_id: stack.workspaceId,
      disabled: false,
      creator_user_id: stack.userId,
      created_at: expect.stringMatching(isoTime),
      updated_at: null,
      last_used_at: null,
      expires_at: null,
      previous_expires_at: null,
      ...unmetered,
    });
    expect((await stack.create("made", undefined, { key })).status).toBe(200);
  });

  it("takes its fields from the body", async () => {
    const workspace = await makeWorkspace(freshName("for-keys"));
    const { makeMember } = administrator(stack);
    const creator_user_id = await makeMember(`${workspace.slug}@example.com`);
    const expires_at = inAnHour();
    const body = { workspace_id: workspace.id, creator_user_id, expires_at, permissions: ["presets:read"] };
    const { data, key } = await makeKey(body);
    expect(data).toMatchObject({ ...body, name: "A key", kind: "api" });
    expect((await stack.create("made", undefined, { key })).status).toBe(403);
  });

  it("accepts the slug of its workspace", async () => {
    const workspace = await makeWorkspace(freshName("by-slug"));
    expect((await makeKey({ workspace_id: workspace.slug })).data.workspace_id).toBe(workspace.id);
  });

  it("of kind management can administer and belongs to the default workspace", async () => {
    const { data, key } = await makeKey({ kind: "management" });
    expect(data).toMatchObject({
      kind: "management",
      permissions: ["presets:read", "presets:write"],
      workspace_id: stack.workspaceId,
    });
    expect((await call("GET", "/keys", undefined, { key })).status).toBe(200);
  });

  it("accepts null and the only supported value for fields that are not metered", async () => {
    const body = {
      creator_user_id: null,
      expires_at: null,
      limit: null,
      limit_reset: null,
      include_byok_in_limit: false,
    };
    expect((await makeKey(body)).data).toMatchObject({ creator_user_id: stack.userId, expires_at: null });
  });

  it.each<[string, object, string[]]>([
    ["no name", {}, ["name"]],
    ["an empty name", { name: "" }, ["name"]],
    ["a name of spaces", { name: "  " }, ["name"]],
    ["a name with a line break", { name: "a\nb" }, ["name"]],
    ["a name that is too long", { name: "🙂".repeat(256) }, ["name"]],
    ["a name that is not a string", { name: 5 }, ["name"]],
    ["half a surrogate pair", { name: "\ud83d" }, ["name"]],
    ["unknown fields", { name: "a", external: {}, mode: 1 }, ["external", "mode"]],
    ["an unknown kind", { name: "a", kind: "admin" }, ["kind"]],
    ["no permissions", { name: "a", permissions: [] }, ["permissions"]],
    ["an unknown permission", { name: "a", permissions: ["presets:read", "all"] }, ["permissions[1]"]],
    ["an unknown workspace", { name: "a", workspace_id: "nowhere" }, ["workspace_id"]],
    ["an empty workspace", { name: "a", workspace_id: "" }, ["workspace_id"]],
    ["an unknown creator", { name: "a", creator_user_id: "user_nobody" }, ["creator_user_id"]],
    ["an expiry in the past", { name: "a", expires_at: "2020-01-01T00:00:00Z" }, ["expires_at"]],
    ["an expiry on a day that does not exist", { name: "a", expires_at: "2031-02-30T00:00:00Z" }, ["expires_at"]],
    ["an expiry in another time zone", { name: "a", expires_at: "2031-01-01T00:00:00+01:00" }, ["expires_at"]],
    ["an expiry that is not a time", { name: "a", expires_at: "tomorrow" }, ["expires_at"]],
    ["a workspace for a management key", { name: "a", kind: "management", workspace_id: "default" }, ["workspace_id"]],
    [
      "every field invalid",
      { name: "", limit: 1, expires_at: "2020-01-01T00:00:00Z", kind: 1, permissions: [], colour: "red" },
      ["colour", "expires_at", "kind", "limit", "name", "permissions"],
    ],
    [
      "every field invalid and an expiry on a day that does not exist",
      { name: "", limit: 1, expires_at: "2020-02-30T00:00:00Z", kind: 1, permissions: [], colour: "red" },
      ["colour", "expires_at", "kind", "limit", "name", "permissions"],
    ],
  ])("with %s returns 400 and names every invalid field", async (_name, body, paths) => {
    const answer = await call("POST", "/keys", body);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual(paths);
  });

  it.each(['{"name":"a","name":"b"}', "[]", "{", '"a"'])("returns 400 for the body %s", async (body) => {
    expect((await call("POST", "/keys", body)).status).toBe(400);
  });

  it("returns 400 without a body", async () => {
    expect((await call("POST", "/keys")).status).toBe(400);
  });

  it.each([{ limit: 10 }, { limit: 0 }, { limit_reset: "daily" }, { include_byok_in_limit: true }])(
    "with %j returns 400 and explains that spending is not metered",
    async (limit) => {
      const answer = await call("POST", "/keys", { name: "a", ...limit });
      expect(answer.status).toBe(400);
      expect(answer.json.error.message).toContain("spending is not metered");
      expect(pathsOf(answer)).toEqual(Object.keys(limit));
    },
  );
});

describe("a retry with the same Idempotency-Key", () => {
  const once = (name: string) => ({ headers: { "idempotency-key": name } });

  it("creates no second key and returns 409 with the hash of the first", async () => {
    const name = freshName("once");
    const { data } = await makeKey({ name }, once(name));
    const again = await call<KeyJson>("POST", "/keys", { name }, once(name));
    expect(again.status).toBe(409);
    expect(again.json.error.message).toContain(`already made the key with the hash ${data.hash}`);
    expect(again.json.error.metadata).toMatchObject({ hash: data.hash });
    const { json } = await call<KeyJson[]>("GET", "/keys");
    expect(json.data.filter((each) => each.name === name)).toHaveLength(1);
  });

  it("returns 409 for another body", async () => {
    const parts = once(freshName("other"));
    await makeKey({ name: "one" }, parts);
    expect((await call("POST", "/keys", { name: "two" }, parts)).status).toBe(409);
  });

  it("rotates only once", async () => {
    const { data } = await makeKey();
    const path = `/keys/${data.hash}/rotate`;
    const parts = once(freshName("rotate"));
    const rotated = await call<KeyJson>("POST", path, undefined, parts);
    expect(rotated.status).toBe(201);
    const again = await call("POST", path, undefined, parts);
    expect(again.status).toBe(409);
    expect(again.json.error.message).toContain(rotated.json.data.hash);
    const after = await call<KeyJson>("GET", `/keys/${data.id}`);
    expect(after.json.data.hash).toBe(rotated.json.data.hash);
  });

  it("returns 400 for a malformed Idempotency-Key", async () => {
    const answer = await call("POST", "/keys", { name: "a" }, once("é"));
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual(["Idempotency-Key"]);
  });
});

describe("the list of keys", () => {
  it("is newest first, has management keys in the default workspace and disabled keys on request", async () => {
    const tenant = await stack.tenants.createOrganization();
    const as = { key: tenant.managementKey };
    const { data } = await makeKey({ name: "newest" }, as);
    const list = (query = "") => call<KeyJson[]>("GET", `/keys${query}`, undefined, as);
    const { json, status } = await list();
    expect(status).toBe(200);
    expect(Object.keys(json).sort()).toEqual(["data", "total_count"]);
    expect(json.total_count).toBe(3);
    expect(json.data[0]).toEqual(data);
    expect(json.data.map(({ kind }) => kind).sort()).toEqual(["api", "api", "management"]);
    await call("PATCH", `/keys/${data.hash}`, { disabled: true }, as);
    expect((await list()).json.total_count).toBe(2);
    expect((await list("?include_disabled=false")).json.total_count).toBe(2);
    expect((await list("?include_disabled=true")).json.data[0]).toMatchObject({ name: "newest", disabled: true });
    expect((await list("?offset=1&limit=1&include_disabled=true")).json).toMatchObject({ total_count: 3 });
  });

  it("returns a hundred keys by default", async () => {
    const tenant = await stack.tenants.createOrganization();
    for (let n = 0; n < 100; n += 1) await stack.tenants.createKey(tenant);
    const { json } = await call<KeyJson[]>("GET", "/keys", undefined, { key: tenant.managementKey });
    expect(json.data).toHaveLength(100);
    expect(json.total_count).toBe(102);
  });

  it("is limited to the workspace in the query, by id or slug", async () => {
    const workspace = await makeWorkspace(freshName("listed"));
    const { data } = await makeKey({ workspace_id: workspace.id });
    for (const name of [workspace.id, workspace.slug]) {
      expect((await call("GET", `/keys?workspace_id=${name}`)).json).toMatchObject({ data: [data], total_count: 1 });
    }
  });

  it.each([
    ["?limit=101", "limit"],
    ["?limit=0", "limit"],
    ["?offset=-1", "offset"],
    ["?include_disabled=yes", "include_disabled"],
    ["?include_disabled=", "include_disabled"],
    ["?include_disabled=true&include_disabled=true", "include_disabled"],
    ["?workspace_id=", "workspace_id"],
    ["?workspace_id=nowhere", "workspace_id"],
    ["?workspace_id=0198c2d4-90e7-7b61-b3f8-5c1a7e42d09b", "workspace_id"],
  ])("returns 400 for %s", async (query, path) => {
    const answer = await call("GET", `/keys${query}`);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual([path]);
  });
});

describe("a key", () => {
  it("is found by hash or id in any case", async () => {
    const { data } = await makeKey();
    for (const name of [data.hash, data.id, data.hash.toUpperCase(), data.id.toUpperCase()]) {
      expect((await call("GET", `/keys/${name}`)).json).toEqual({ data });
    }
  });

  it("is updated with all fields of the body", async () => {
    const { data } = await makeKey();
    const change = {
      name: "Renamed",
      disabled: true,
      expires_at: inAnHour(),
      permissions: ["inference", "presets:read"],
    };
    const { status, json } = await call<KeyJson>("PATCH", `/keys/${data.hash}`, change);
    expect(status).toBe(200);
    expect(json.data).toEqual({
      ...data,
      ...change,
      permissions: ["presets:read", "inference"],
      updated_at: expect.stringMatching(isoTime),
    });
    const back = await call<KeyJson>("PATCH", `/keys/${data.id}`, { expires_at: null, disabled: false });
    expect(back.json.data).toMatchObject({ name: "Renamed", expires_at: null, disabled: false });
  });

  it("is unchanged by a body with only unmetered fields", async () => {
    const { data } = await makeKey();
    const body = { limit: null, limit_reset: null, include_byok_in_limit: false };
    expect((await call("PATCH", `/keys/${data.hash}`, body)).json).toEqual({ data });
  });

  it.each<[object, string[]]>([
    [{}, [""]],
    [{ name: "" }, ["name"]],
    [{ name: null }, ["name"]],
    [{ disabled: "yes", hash: "x" }, ["disabled", "hash"]],
    [{ permissions: [] }, ["permissions"]],
    [{ limit: 5, limit_reset: "weekly" }, ["limit", "limit_reset"]],
    [{ expires_at: "2020-01-01T00:00:00Z" }, ["expires_at"]],
    [{ expires_at: "2020-01-01T00:00:00Z", name: "" }, ["expires_at", "name"]],
    [{ workspace_id: "default" }, ["workspace_id"]],
  ])("rejects the update %j", async (body, paths) => {
    const { data } = await makeKey();
    const answer = await call("PATCH", `/keys/${data.hash}`, body);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual(paths);
    expect((await call("GET", `/keys/${data.hash}`)).json).toEqual({ data });
  });

  it("that is the last management key cannot be disabled, deleted or made to expire", async () => {
    const tenant = await stack.tenants.createOrganization();
    const as = { key: tenant.managementKey };
    const hash = createHash("sha256").update(tenant.managementKey).digest("hex");
    expect((await call("PATCH", `/keys/${hash}`, { disabled: true }, as)).status).toBe(409);
    expect((await call("PATCH", `/keys/${hash}`, { expires_at: inAnHour() }, as)).status).toBe(409);
    expect((await call("DELETE", `/keys/${hash}`, undefined, as)).status).toBe(409);
    expect((await call("GET", `/keys/${hash}`, undefined, as)).status).toBe(200);
  });

  it("is deleted permanently", async () => {
    const { data, key } = await makeKey();
    const answer = await call("DELETE", `/keys/${data.hash}`);
    expect([answer.status, answer.text]).toEqual([200, '{"deleted":true}']);
    expect((await call("GET", `/keys/${data.hash}`)).status).toBe(404);
    expect((await call("DELETE", `/keys/${data.hash}`)).status).toBe(404);
    expect((await stack.create("deleted", undefined, { key })).status).toBe(401);
  });

  it("gets a new secret on rotation, and the old one works until the grace period ends", async () => {
    const { data, key: old } = await makeKey();
    const answer = await call<KeyJson>("POST", `/keys/${data.hash}/rotate`, { grace_seconds: 3_600 });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { key } = JSON.parse(answer.text);
    expect(answer.json.data).toEqual({
      ...data,
      hash: createHash("sha256").update(key).digest("hex"),
      label: expect.stringContaining("…"),
      updated_at: expect.stringMatching(isoTime),
      previous_expires_at: expect.stringMatching(isoTime),
    });
    const { previous_expires_at, updated_at } = answer.json.data;
    expect(Date.parse(previous_expires_at ?? "") - Date.parse(updated_at ?? "")).toBe(3_600_000);
    expect((await call<KeyJson>("GET", `/keys/${data.id}`)).json.data).toMatchObject({ previous_expires_at });
    for (const each of [old, key]) expect((await stack.create("rotated", undefined, { key: each })).status).toBe(200);
    // Without grace, the previous secret ends at once, and so does the one before it.
    const again = await call<KeyJson>("POST", `/keys/${data.id}/rotate`);
    expect([again.status, again.json.data.previous_expires_at]).toEqual([201, null]);
    for (const each of [old, key]) expect((await stack.create("rotated", undefined, { key: each })).status).toBe(401);
  });

  it.each<[object, string[]]>([
    [{ grace_seconds: -1 }, ["grace_seconds"]],
    [{ grace_seconds: 604_801 }, ["grace_seconds"]],
    [{ grace_seconds: 1.5 }, ["grace_seconds"]],
    [{ grace_seconds: "1", name: "x" }, ["grace_seconds", "name"]],
  ])("rejects the rotation %j", async (body, paths) => {
    const { data } = await makeKey();
    const answer = await call("POST", `/keys/${data.hash}/rotate`, body);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual(paths);
  });
});

describe("the caller's own key", () => {
  const current = (key: string) => stack.request<object>("GET", "/key", { key });

  it("has exactly the documented fields", async () => {
    const { status, json } = await current(stack.apiKey);
    const { external_user: _, ...spending } = unmetered;
    expect(status).toBe(200);
    expect(json).toEqual({
      data: {
        label: `${stack.apiKey.slice(0, 12)}…${stack.apiKey.slice(-3)}`,
        creator_user_id: stack.userId,
        expires_at: null,
        organization_id: stack.organizationId,
        workspace_id: stack.workspaceId,
        is_management_key: false,
        is_provisioning_key: false,
        is_free_tier: false,
        allowed_data_regions: ["global"],
        free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
        rate_limit: { requests: -1, interval: "1s", note: "There is no limit." },
        ...spending,
      },
    });
  });

  it("tells whether it is a management key", async () => {
    const { json } = await current(stack.managementKey);
    expect(json.data).toMatchObject({ is_management_key: true, is_provisioning_key: true });
  });

  it("tells its rate limit", async () => {
    const { secret } = await stack.tenants.createKey(stack, { rateLimit: { perSecond: 50, burst: 200 } });
    const { json } = await current(secret);
    expect(json.data).toMatchObject({ rate_limit: { requests: 50, interval: "1s", note: "200 may come at once." } });
  });

  it("has no workspace if that was deleted", async () => {
    const workspaceId = await stack.tenants.createWorkspace(stack);
    const { secret } = await stack.tenants.createKey(stack, { workspaceId });
    await stack.tenants.deleteWorkspace(workspaceId);
    expect((await current(secret)).json.data).toMatchObject({ workspace_id: null });
  });
});
