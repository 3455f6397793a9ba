import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import { administrator, type KeyJson, pathsOf } from "../support/administration-rest.ts";
import { freshName } from "../support/fresh-name.ts";
import { isoTime, userId, uuidV7 } from "../support/patterns.ts";
import { type Stack, startStack } from "../support/stack.ts";

interface ChangeJson {
  readonly id: string;
  readonly action: string;
  readonly user_id: string | null;
  readonly key_id: string | null;
  readonly target: { readonly kind: string; readonly id: string; readonly name: string };
  readonly changes: readonly { readonly field: string; readonly from: unknown; readonly to: unknown }[];
}

let stack: Stack;
let admin: ReturnType<typeof administrator>;
let call: typeof admin.call;

beforeAll(async () => {
  stack = await startStack();
  admin = administrator(stack);
  call = admin.call;
});

afterAll(() => stack.close());

function freshEmail(name: string): string {
  return `${freshName(name)}@example.com`;
}

describe("a new member", () => {
  it("takes their fields from the body", async () => {
    const body = { email: freshEmail("grace"), first_name: "Grace", last_name: "Hopper", role: "org:admin" };
    const { status, json } = await call("POST", "/organization/members", body);
    expect(status).toBe(201);
    expect(json).toEqual({ data: { id: expect.stringMatching(userId), ...body } });
  });

  it("has no names and the role org:member by default", async () => {
    const body = { email: freshEmail("plain"), first_name: null };
    const { json } = await call("POST", "/organization/members", body);
    expect(json.data).toMatchObject({ first_name: null, last_name: null, role: "org:member" });
  });

  it("returns 409 if they already are a member, in any casing of the email", async () => {
    const email = freshEmail("twice");
    await admin.makeMember(email);
    const again = { email: email.replace("twice", "Twice") };
    expect((await call("POST", "/organization/members", again)).status).toBe(409);
  });

  it.each<[object, string[]]>([
    [{}, ["email"]],
    [{ email: "nobody" }, ["email"]],
    [{ email: `${"a".repeat(310)}@example.com` }, ["email"]],
    [{ email: "a@b", role: "owner", first_name: "", age: 5 }, ["age", "first_name", "role"]],
    [{ email: "a@b", last_name: "a\tb" }, ["last_name"]],
  ])("with the body %j returns 400 and names every invalid field", async (body, paths) => {
    const answer = await call("POST", "/organization/members", body);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual(paths);
  });
});

describe("a member", () => {
  it("is updated with all fields of the body, and null removes a name", async () => {
    const email = freshEmail("changed");
    const id = await admin.makeMember(email);
    const change = { role: "org:admin", first_name: "Ada", last_name: "Lovelace" };
    const { status, json } = await call("PATCH", `/organization/members/${id}`, change);
    expect(status).toBe(200);
    expect(json.data).toEqual({ id, email, ...change });
    const removed = await call("PATCH", `/organization/members/${id}`, { last_name: null });
    expect(removed.json.data).toMatchObject({ first_name: "Ada", last_name: null });
  });

  it.each<[object, string[]]>([
    [{}, [""]],
    [{ role: null }, ["role"]],
    [{ email: "new@example.com" }, ["email"]],
    [{ first_name: "" }, ["first_name"]],
  ])("rejects the update %j", async (body, paths) => {
    const answer = await call("PATCH", `/organization/members/${stack.userId}`, body);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual(paths);
  });

  it("who is the last admin cannot be demoted or removed", async () => {
    const tenant = await stack.tenants.createOrganization();
    const as = { key: tenant.managementKey };
    const path = `/organization/members/${tenant.userId}`;
    expect((await call("PATCH", path, { role: "org:member" }, as)).status).toBe(409);
    expect((await call("DELETE", `${path}?disable_keys=true`, undefined, as)).status).toBe(409);
  });

  it("is removed", async () => {
    const id = await admin.makeMember(freshEmail("gone"));
    const answer = await call("DELETE", `/organization/members/${id}`);
    expect([answer.status, answer.text]).toEqual([200, '{"deleted":true}']);
    expect((await call("DELETE", `/organization/members/${id}`)).status).toBe(404);
    expect((await call("PATCH", `/organization/members/${id}`, { role: "org:admin" })).status).toBe(404);
  });

  it("with working keys is removed only if these are disabled too, else 409", async () => {
    const id = await admin.makeMember(freshEmail("keys"));
    const { data, key } = await admin.makeKey({ name: "Theirs", creator_user_id: id });
    expect((await stack.create("theirs", undefined, { key })).status).toBe(200);
    for (const query of ["", "?disable_keys=false"]) {
      const refused = await call("DELETE", `/organization/members/${id}${query}`);
      expect(refused.status).toBe(409);
      expect(refused.json.error.message).toContain("Theirs");
      expect(refused.json.error.message).toContain("disable_keys");
    }
    expect((await call("DELETE", `/organization/members/${id}?disable_keys=true`)).status).toBe(200);
    expect((await stack.create("theirs", undefined, { key })).status).toBe(401);
    expect((await call<KeyJson>("GET", `/keys/${data.hash}`)).json.data.disabled).toBe(true);
  });

  it("who was removed cannot have their keys reactivated (409) until they are back", async () => {
    const email = freshEmail("revived");
    const id = await admin.makeMember(email);
    const { data, key } = await admin.makeKey({ kind: "management", creator_user_id: id });
    const { data: expired } = await admin.makeKey({ creator_user_id: id });
    await stack.organizationPool.execute("UPDATE api_keys SET expires_at = ? WHERE id = ?", [
      new Date(Date.now() - 1_000),
      idToBytes(expired.id),
    ]);
    expect((await call("DELETE", `/organization/members/${id}?disable_keys=true`)).status).toBe(200);
    const revive = async () => [
      (await call("PATCH", `/keys/${data.hash}`, { disabled: false })).status,
      (await call("PATCH", `/keys/${expired.hash}`, { expires_at: null })).status,
    ];
    expect(await revive()).toEqual([409, 409]);
    expect((await call("GET", "/key", undefined, { key })).status).toBe(401);
    expect((await call("PATCH", `/keys/${data.hash}`, { name: "Kept for the record" })).status).toBe(200);
    await admin.makeMember(email);
    expect(await revive()).toEqual([200, 200]);
  });

  it("is not removed if a query parameter is invalid", async () => {
    const answer = await call("DELETE", `/organization/members/${stack.userId}?disable_keys=1`);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual(["disable_keys"]);
  });
});

describe("the change log", () => {
  const changes = (query = "") => call<ChangeJson[]>("GET", `/organization/changes${query}`);

  it("lists who changed what, newest first, with exactly the documented fields", async () => {
    const { data } = await admin.makeKey({ name: "logged" });
    await call("PATCH", `/keys/${data.hash}`, { name: "renamed" });
    await call("DELETE", `/keys/${data.hash}`);
    const { status, json } = await changes(`?target_id=${data.id}`);
    expect(status).toBe(200);
    expect(json.total_count).toBe(3);
    const entry = (action: string, name: string, fields: unknown) => ({
      id: expect.stringMatching(uuidV7),
      action,
      user_id: stack.userId,
      key_id: expect.stringMatching(uuidV7),
      target: { kind: "key", id: data.id, name },
      changes: fields,
      created_at: expect.stringMatching(isoTime),
    });
    expect(json.data).toEqual([
      entry("key_deleted", "renamed", []),
      entry("key_updated", "renamed", [{ field: "name", from: "logged", to: "renamed" }]),
      entry("key_created", "logged", expect.arrayContaining([{ field: "name", from: null, to: "logged" }])),
    ]);
  });

  it("can be filtered by action and user, and paged", async () => {
    const { id, slug: name } = await admin.makeWorkspace(freshName("logged"));
    const made = await changes("?action=workspace_created&limit=1");
    expect(made.json.data.map(({ target }) => target)).toEqual([{ kind: "workspace", id, name }]);
    const all = await changes(`?user_id=${stack.userId}&limit=100`);
    const page = await changes(`?user_id=${stack.userId}&offset=1&limit=1`);
    expect(page.json).toEqual({ data: [all.json.data[1]], total_count: all.json.total_count });
    expect((await changes("?user_id=user_nobody")).json).toEqual({ data: [], total_count: 0 });
  });

  it("never contains a secret or its hash", async () => {
    const { data, key } = await admin.makeKey();
    const rotated = await call<KeyJson>("POST", `/keys/${data.id}/rotate`);
    const { text } = await changes(`?target_id=${data.id}`);
    expect(text).toContain("key_rotated");
    for (const hidden of [key, data.hash, rotated.json.data.hash]) expect(text).not.toContain(hidden);
  });

  it.each([
    ["?action=unknown", "action"],
    ["?action=", "action"],
    ["?user_id=", "user_id"],
    ["?target_id=%20", "target_id"],
    ["?limit=101", "limit"],
  ])("returns 400 for %s", async (query, path) => {
    const answer = await changes(query);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual([path]);
  });
});
