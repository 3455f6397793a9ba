import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../services/platform/domain/ids.ts";
import { administrator, pathsOf, type WorkspaceJson } from "../support/administration-rest.ts";
import type { Answer } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
/** The resources of another organization. */
let theirs: { readonly key: string; readonly id: string; readonly workspace: string; readonly user: string };

beforeAll(async () => {
  stack = await startStack();
  const tenant = await stack.tenants.createOrganization();
  const as = { key: tenant.managementKey };
  const { makeKey, call } = administrator(stack);
  const { data } = await makeKey({}, as);
  const { json } = await call<WorkspaceJson>("POST", "/workspaces", { name: "a", slug: "theirs" }, as);
  theirs = { key: data.hash, id: data.id, workspace: json.data.id, user: tenant.userId };
});

afterAll(() => stack.close());

type Place = (target: string) => readonly [method: string, path: string, body?: unknown];

const keyPlaces: Place[] = [
  (key) => ["GET", `/keys/${key}`],
  (key) => ["PATCH", `/keys/${key}`, { name: "a" }],
  (key) => ["DELETE", `/keys/${key}`],
  (key) => ["POST", `/keys/${key}/rotate`, {}],
];
const workspacePlaces: Place[] = [
  (workspace) => ["GET", `/workspaces/${workspace}`],
  (workspace) => ["PATCH", `/workspaces/${workspace}`, { name: "a" }],
  (workspace) => ["DELETE", `/workspaces/${workspace}`],
  (workspace) => ["GET", `/workspaces/${workspace}/members`],
  (workspace) => ["POST", `/workspaces/${workspace}/members/add`, { user_ids: ["user_nobody"] }],
  (workspace) => ["POST", `/workspaces/${workspace}/members/remove`, { user_ids: ["user_nobody"] }],
];
const memberPlaces: Place[] = [
  (user) => ["PATCH", `/organization/members/${user}`, { role: "org:member" }],
  (user) => ["DELETE", `/organization/members/${user}`],
];
const places: Place[] = [
  ...keyPlaces,
  ...workspacePlaces,
  ...memberPlaces,
  () => ["GET", "/keys"],
  () => ["POST", "/keys", { name: "a" }],
  () => ["GET", "/workspaces"],
  () => ["POST", "/workspaces", { name: "a", slug: "a" }],
  () => ["GET", "/organization/members"],
  () => ["POST", "/organization/members", { email: "a@example.com" }],
  () => ["GET", "/organization/changes"],
];

function send(place: Place, target: string, key: string | undefined): Promise<Answer<unknown>> {
  const [method, path, body] = place(target);
  return stack.request(method, path, { key, ...(body === undefined ? {} : { body }) });
}

describe("administration", () => {
  it.each(places.map((place) => [place("a").slice(0, 2).join(" "), place] as const))(
    "returns 401 without a management key: %s",
    async (_name, place) => {
      expect((await send(place, "a", stack.apiKey)).status).toBe(401);
      expect((await send(place, "a", undefined)).status).toBe(401);
    },
  );

  it.each([
    ...keyPlaces.map((place) => [place("{hash}").slice(0, 2).join(" "), place, "key"] as const),
    ...keyPlaces.map((place) => [place("{id}").slice(0, 2).join(" "), place, "id"] as const),
    ...workspacePlaces.map((place) => [place("{workspace}").slice(0, 2).join(" "), place, "workspace"] as const),
    ...memberPlaces.map((place) => [place("{user_id}").slice(0, 2).join(" "), place, "user"] as const),
  ])(
    "returns the same 404 for another organization's resource as for a missing one: %s",
    async (_name, place, kind) => {
      const nowhere = { key: "0".repeat(64), id: newId(), workspace: "theirs", user: "user_nobody" }[kind];
      const [another, nothing] = [
        await send(place, theirs[kind], stack.managementKey),
        await send(place, nowhere, stack.managementKey),
      ];
      expect([another.status, nothing.status]).toEqual([404, 404]);
      expect(another.json.error.message).toBe(nothing.json.error.message);
    },
  );

  it.each(["%2F", "a%20b", "%00", "x".repeat(2_000), "-", "é"])(
    "returns 404 for the unusable name %s",
    async (name) => {
      for (const path of [`/keys/${name}`, `/workspaces/${name}`]) {
        expect((await stack.request("GET", path, { key: stack.managementKey })).status).toBe(404);
      }
      const path = `/organization/members/${name}`;
      expect((await stack.request("DELETE", path, { key: stack.managementKey })).status).toBe(404);
    },
  );

  it("tolerates a trailing slash", async () => {
    const members = `/workspaces/${stack.workspaceId}/members/`;
    for (const path of ["/keys/", "/workspaces/", "/organization/changes/", "/key/", members]) {
      expect((await stack.request("GET", path, { key: stack.managementKey })).status, path).toBe(200);
    }
    const { status } = await stack.request("POST", "/keys/", { key: stack.managementKey, body: { name: "slash" } });
    expect(status).toBe(201);
  });

  it("checks the key before the body", async () => {
    const { status } = await stack.request("POST", "/keys", { key: stack.apiKey, body: "{" });
    expect(status).toBe(401);
  });

  it("returns 413 for a body over 64 KiB and 415 for one that is not JSON", async () => {
    const key = stack.managementKey;
    const large = { name: "a", more: "x".repeat(70_000) };
    const { status, json } = await stack.request("POST", "/keys", { key, body: large });
    expect([status, json.error.message]).toEqual([413, "The body is too large. Send one of at most 65536 bytes."]);
    const headers = { "content-type": "text/plain" };
    expect((await stack.request("POST", "/keys", { key, body: "name=a", headers })).status).toBe(415);
  });

  it.each(["/keys/none", "/workspaces/none", "/organization/members/none"])(
    "accepts DELETE %s without a body or with an empty object, but not with another content type",
    async (path) => {
      const key = stack.managementKey;
      expect((await stack.request("DELETE", path, { key })).status).toBe(404);
      expect((await stack.request("DELETE", path, { key, body: "{}" })).status).toBe(404);
      const headers = { "content-type": "text/plain" };
      expect((await stack.request("DELETE", path, { key, body: "none", headers })).status).toBe(415);
    },
  );

  it("rejects conditions that it cannot check, and changes nothing", async () => {
    const { call, makeKey, makeMember, makeWorkspace } = administrator(stack);
    const [{ data }, workspace, user] = [
      await makeKey(),
      await makeWorkspace("guarded"),
      await makeMember("guarded@example.com"),
    ];
    const [key, team, member] = [`/keys/${data.hash}`, `/workspaces/${workspace.id}`, `/organization/members/${user}`];
    const changes: [method: string, path: string, body?: object][] = [
      ["PATCH", key, { name: "Changed" }],
      ["PATCH", team, { name: "Changed" }],
      ["PATCH", member, { first_name: "Changed" }],
      ["POST", `${key}/rotate`, {}],
      ["POST", `${team}/members/add`, { user_ids: [user] }],
      ["POST", `${team}/members/remove`, { user_ids: [user] }],
      ["DELETE", key],
      ["DELETE", team],
      ["DELETE", member],
    ];
    const logged = async () => (await call("GET", "/organization/changes")).json.total_count;
    const before = await logged();
    for (const [method, path, body] of changes) {
      for (const header of ["If-Match", "If-None-Match"]) {
        const answer = await call(method, path, body, { headers: { [header]: '"r1"' } });
        expect([answer.status, pathsOf(answer)], `${method} ${path}`).toEqual([400, [header]]);
      }
    }
    expect(await logged()).toBe(before);
    for (const [method, path, body] of changes.slice(0, 3)) {
      expect((await call(method, path, body, { headers: { "if-match": "*" } })).status, path).toBe(200);
    }
  });

  it("rejects a DELETE with fields in its body, and points to the query parameters", async () => {
    const { call, makeKey, makeMember, makeWorkspace } = administrator(stack);
    const [{ data }, workspace, user] = [
      await makeKey(),
      await makeWorkspace("kept"),
      await makeMember("kept@example.com"),
    ];
    const message = "is not a known field: a deletion takes parameters in its query alone";
    for (const path of [`/keys/${data.hash}`, `/workspaces/${workspace.id}`, `/organization/members/${user}`]) {
      const answer = await call("DELETE", path, { dry_run: true, disable_keys: true });
      expect(answer.status, path).toBe(400);
      expect(answer.json.error.metadata.issues).toEqual([
        { path: "dry_run", message },
        { path: "disable_keys", message },
      ]);
      expect((await call("DELETE", path, "{")).status, path).toBe(400);
      expect((await call("DELETE", path, "x".repeat(70_000))).status, path).toBe(413);
      expect((await call("DELETE", path, {})).status, path).toBe(200);
    }
  });

  it("returns 404 if the organization was deleted", async () => {
    const tenant = await stack.tenants.createOrganization();
    await stack.tenants.deleteOrganization(tenant);
    for (const path of ["/keys", "/workspaces", "/organization/changes"]) {
      expect((await stack.request("GET", path, { key: tenant.managementKey })).status).toBe(404);
    }
  });

  it("logs no secret", async () => {
    const { makeKey, call } = administrator(stack);
    const { data, key } = await makeKey({}, { headers: { "idempotency-key": "logged" } });
    const rotated = JSON.parse((await call("POST", `/keys/${data.hash}/rotate`)).text);
    await call("POST", "/keys", { name: "A key" }, { headers: { "idempotency-key": "logged" } });
    for (const secret of [key, rotated.key]) expect(stack.log()).not.toContain(secret);
  });
});
