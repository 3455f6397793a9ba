import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator, pathsOf, type WorkspaceJson } from "../support/administration-rest.ts";
import { freshName } from "../support/fresh-name.ts";
import { isoTime, uuidV7 } from "../support/patterns.ts";
import { type Stack, startStack } from "../support/stack.ts";

interface WorkspaceMemberJson {
  readonly id: string;
  readonly workspace_id: string;
  readonly user_id: string;
  readonly role: string;
}

const uuidV5 = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let stack: Stack;
let admin: ReturnType<typeof administrator>;
let call: typeof admin.call;

beforeAll(async () => {
  stack = await startStack();
  admin = administrator(stack);
  call = admin.call;
});

afterAll(() => stack.close());

describe("a new workspace", () => {
  it("has exactly the documented fields", async () => {
    const slug = freshName("staging");
    const body = { name: "Staging", slug };
    const { status, json } = await call<WorkspaceJson>("POST", "/workspaces", body);
    expect(status).toBe(201);
    expect(json).toEqual({
      data: {
        id: expect.stringMatching(uuidV7),
        ...body,
        description: null,
        default_text_model: null,
        default_image_model: null,
        default_provider_sort: null,
        default_guardrail_id: expect.stringMatching(uuidV5),
        io_logging_api_key_ids: null,
        io_logging_sampling_rate: 1,
        is_data_discount_logging_enabled: false,
        is_observability_broadcast_enabled: false,
        is_observability_io_logging_enabled: false,
        created_at: expect.stringMatching(isoTime),
        created_by: stack.userId,
        updated_at: null,
      },
    });
    for (const name of [json.data.id, slug]) {
      expect((await call("GET", `/workspaces/${name}`)).json).toEqual(json);
    }
  });

  it("keeps the body's fields, and accepts the fixed values of unsupported ones", async () => {
    const slug = freshName("full");
    const fields = {
      description: "For tests",
      default_text_model: "openai/gpt-4.1",
      default_image_model: "openai/gpt-image-1",
      default_provider_sort: "price",
      io_logging_api_key_ids: null,
      io_logging_sampling_rate: 1,
      is_data_discount_logging_enabled: false,
      is_observability_broadcast_enabled: false,
      is_observability_io_logging_enabled: false,
    };
    const { json } = await call("POST", "/workspaces", { name: "Full", slug, ...fields, disabled_server_tools: null });
    expect(json.data).toMatchObject(fields);
  });

  it.each<[string, object, string[]]>([
    ["nothing", {}, ["name", "slug"]],
    ["a name that is too long", { name: "a".repeat(101), slug: "a" }, ["name"]],
    ["a slug with capitals", { name: "a", slug: "Staging" }, ["slug"]],
    ["a slug with two consecutive hyphens", { name: "a", slug: "a--b" }, ["slug"]],
    ["a slug that is too long", { name: "a", slug: "a".repeat(51) }, ["slug"]],
    ["a slug that is a UUID", { name: "a", slug: "0198c2d4-90e7-7b61-b3f8-5c1a7e42d09b" }, ["slug"]],
    ["a description that is too long", { name: "a", slug: "a", description: "a".repeat(501) }, ["description"]],
    [
      "unsupported features",
      { name: "a", slug: "a", is_observability_io_logging_enabled: true, io_logging_api_key_ids: [1] },
      ["io_logging_api_key_ids", "is_observability_io_logging_enabled"],
    ],
    ["an unknown field", { name: "a", slug: "a", color: "red" }, ["color"]],
  ])("with %s returns 400 and names every invalid field", async (_name, body, paths) => {
    const answer = await call("POST", "/workspaces", body);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual(paths);
  });

  it("returns 400 if its slug is taken", async () => {
    const slug = freshName("taken");
    await admin.makeWorkspace(slug);
    const answer = await call("POST", "/workspaces", { name: "Another", slug });
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual(["slug"]);
  });
});

describe("the list of workspaces", () => {
  it("is oldest first, with the total count", async () => {
    const tenant = await stack.tenants.createOrganization();
    const as = { key: tenant.managementKey };
    for (const slug of ["b", "a"]) await call("POST", "/workspaces", { name: slug, slug }, as);
    const { json } = await call<WorkspaceJson[]>("GET", "/workspaces?limit=2", undefined, as);
    expect(json.total_count).toBe(3);
    expect(json.data).toMatchObject([{ id: tenant.workspaceId }, { slug: "b" }]);
    expect((await call("GET", "/workspaces?offset=2", undefined, as)).json).toMatchObject({ data: [{ slug: "a" }] });
  });

  it.each(["?limit=0", "?limit=101", "?offset=-1"])("returns 400 for %s", async (query) => {
    expect((await call("GET", `/workspaces${query}`)).status).toBe(400);
  });
});

describe("a workspace", () => {
  it("is updated with all fields of the body, and null removes a value", async () => {
    const slug = freshName("before");
    const made = await admin.makeWorkspace(slug);
    const change = { name: "After", slug: freshName("after"), description: "New", default_text_model: "m" };
    const { status, json } = await call<WorkspaceJson>("PATCH", `/workspaces/${slug}`, change);
    expect(status).toBe(200);
    expect(json.data).toEqual({ ...made, ...change, updated_at: expect.stringMatching(isoTime) });
    const removed = await call("PATCH", `/workspaces/${change.slug}`, { description: null, default_text_model: null });
    expect(removed.json.data).toMatchObject({ name: "After", description: null, default_text_model: null });
  });

  it("is unchanged by a body with only fixed values", async () => {
    const slug = freshName("same");
    const data = await admin.makeWorkspace(slug);
    const body = { io_logging_sampling_rate: 1, is_data_discount_logging_enabled: false, disabled_server_tools: [] };
    expect((await call("PATCH", `/workspaces/${slug}`, body)).json).toEqual({ data });
  });

  it.each<[object, string[]]>([
    [{}, [""]],
    [{ name: null }, ["name"]],
    [{ slug: "A" }, ["slug"]],
    [{ id: "x", name: "" }, ["id", "name"]],
    [{ io_logging_sampling_rate: 0.5 }, ["io_logging_sampling_rate"]],
    [{ disabled_server_tools: ["openrouter:web_search"] }, ["disabled_server_tools"]],
  ])("rejects the update %j", async (body, paths) => {
    const answer = await call("PATCH", `/workspaces/${stack.workspaceId}`, body);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual(paths);
  });

  it("cannot take another workspace's slug", async () => {
    const { slug } = await admin.makeWorkspace(freshName("first"));
    const second = await admin.makeWorkspace(freshName("second"));
    expect((await call("PATCH", `/workspaces/${second.slug}`, { slug })).status).toBe(400);
  });

  it("is deleted, and its slug can be reused", async () => {
    const slug = freshName("short-lived");
    await admin.makeWorkspace(slug);
    const answer = await call("DELETE", `/workspaces/${slug}`);
    expect([answer.status, answer.text]).toEqual([200, '{"deleted":true}']);
    expect((await call("GET", `/workspaces/${slug}`)).status).toBe(404);
    expect((await call("DELETE", `/workspaces/${slug}`)).status).toBe(404);
    await admin.makeWorkspace(slug);
  });

  it("cannot be deleted if it is the default", async () => {
    const answer = await call("DELETE", `/workspaces/${stack.workspaceId}`);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual(["workspace"]);
  });

  it("cannot be deleted while it has working keys, which are named", async () => {
    const slug = freshName("in-use");
    const { id } = await admin.makeWorkspace(slug);
    const { data } = await admin.makeKey({ name: "In use", workspace_id: id });
    const refused = await call("DELETE", `/workspaces/${slug}`);
    expect(refused.status).toBe(400);
    expect(pathsOf(refused)).toEqual(["workspace"]);
    expect(refused.json.error.message).toContain("In use");
    expect(refused.json.error.message).toContain(data.id);
    await call("PATCH", `/keys/${data.hash}`, { disabled: true });
    expect((await call("DELETE", `/workspaces/${slug}`)).status).toBe(200);
  });
});

describe("workspace members", () => {
  const members = (workspace: string, query = "") =>
    call<WorkspaceMemberJson[]>("GET", `/workspaces/${workspace}/members${query}`);

  it("are the creator, then those added, with all documented fields", async () => {
    const slug = freshName("team");
    const { id } = await admin.makeWorkspace(slug);
    const user = await admin.makeMember(`${slug}@example.com`);
    const body = { user_ids: [user, stack.userId, user] };
    const added = await call<WorkspaceMemberJson[]>("POST", `/workspaces/${id}/members/add`, body);
    expect(added.status).toBe(200);
    const member = (user_id: string, role: string) => ({
      id: expect.stringMatching(uuidV5),
      workspace_id: id,
      user_id,
      role,
      created_at: expect.stringMatching(isoTime),
    });
    const data = [member(stack.userId, "admin"), member(user, "member")];
    expect(added.json).toEqual({ data, added_count: 1 });
    expect((await members(slug)).json).toEqual({ data, total_count: 2 });
    expect((await members(id, "?offset=1&limit=1")).json).toEqual({ data: data.slice(1), total_count: 2 });

    const removed = await call("POST", `/workspaces/${slug}/members/remove`, { user_ids: [user, "user_nobody"] });
    expect([removed.status, removed.text]).toEqual([200, '{"removed_count":1}']);
    expect((await members(slug)).json.total_count).toBe(1);
  });

  it("are all organization members in the default workspace, and cannot be removed there", async () => {
    const tenant = await stack.tenants.createOrganization();
    const as = { key: tenant.managementKey };
    const path = `/workspaces/${tenant.workspaceId}/members`;
    expect((await call("GET", path, undefined, as)).json).toMatchObject({
      data: [{ user_id: tenant.userId, role: "admin" }],
      total_count: 1,
    });
    const answer = await call("POST", `${path}/remove`, { user_ids: [tenant.userId] }, as);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual(["workspace"]);
  });

  it("cannot be removed while they have working keys there", async () => {
    const { id } = await admin.makeWorkspace(freshName("with-keys"));
    const { data: key } = await admin.makeKey({ name: "Busy", workspace_id: id });
    const answer = await call("POST", `/workspaces/${id}/members/remove`, { user_ids: [stack.userId] });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect(answer.json.error).toEqual({
      code: 400,
      message: `Keys of this member still work: "Busy" (${key.id}). Disable or delete them first.`,
      metadata: {
        request_id: expect.any(String),
        issues: [{ path: "user_ids[0]", message: "must be nobody whose keys of the workspace still work" }],
      },
    });
  });

  it.each<[string, object, string[]]>([
    ["nobody", { user_ids: [] }, ["user_ids"]],
    ["too many", { user_ids: Array.from({ length: 101 }, (_, n) => `user_${n}`) }, ["user_ids"]],
    ["a value that is not a list", { user_ids: "user_a" }, ["user_ids"]],
    ["no field", {}, ["user_ids"]],
    ["an unknown field", { user_ids: ["user_a"], role: "admin" }, ["role"]],
  ])("are not changed by %s", async (_name, body, paths) => {
    for (const change of ["add", "remove"]) {
      const answer = await call("POST", `/workspaces/${stack.workspaceId}/members/${change}`, body);
      expect(answer.status).toBe(400);
      expect(pathsOf(answer)).toEqual(paths);
    }
  });

  it("must belong to the organization, and those that do not are named", async () => {
    const { id } = await admin.makeWorkspace(freshName("strangers"));
    const { userId } = await stack.tenants.createOrganization();
    const body = { user_ids: [stack.userId, userId, "user_nobody"] };
    const answer = await call("POST", `/workspaces/${id}/members/add`, body);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual(["user_ids[1]", "user_ids[2]"]);
  });
});
