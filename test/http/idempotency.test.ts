import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { administrator, type KeyJson, pathsOf } from "../support/administration-rest.ts";
import { freshName } from "../support/fresh-name.ts";
import { presetLife } from "../support/preset-life.ts";
import { upTo } from "../support/preset-store.ts";
import { shiftClock } from "../support/shifted-clock.ts";
import { type CreationParts, type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
const { get, patch, stateOf, storedVersions } = presetLife(() => stack);

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

describe("an Idempotency-Key", () => {
  const body = { messages: [], model: "m" };
  const withKey = (idempotencyKey: string, parts: CreationParts = {}): CreationParts => ({
    ...parts,
    headers: { "idempotency-key": idempotencyKey },
  });

  it("repeats the first answer to the same request, even after newer versions", async () => {
    const slug = freshName("retried");
    const first = await stack.create(slug, body, withKey(slug));
    await stack.create(slug, body);
    const again = await stack.create(slug, body, withKey(slug));
    expect(again.status).toBe(200);
    expect(again.text).toBe(first.text);
    expect(await storedVersions(slug)).toHaveLength(2);
  });

  it("turns simultaneous duplicates into one version and one answer", async () => {
    const answers = await Promise.all(upTo(20).map(() => stack.create("twins", body, withKey("twins"))));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await storedVersions("twins")).toHaveLength(1);
  });

  it("can be reused after a rejected request", async () => {
    expect((await stack.create("mended", { messages: 1 }, withKey("mended"))).status).toBe(400);
    expect((await stack.create("mended", body, withKey("mended"))).status).toBe(200);
  });

  it("is scoped to its workspace", async () => {
    const other = await stack.tenants.createOrganization();
    const first = await stack.create("shared", body, withKey("shared"));
    const second = await stack.create("shared", body, withKey("shared", { key: other.apiKey }));
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.json.data.id).not.toBe(first.json.data.id);
  });

  it.each([
    ["another body", "used", { ...body, model: "other" }, {}],
    ["another slug", "used-elsewhere", body, {}],
    ["another dialect", "used", body, { dialect: "messages" }],
  ] as const)("used with %s returns 409 and stores nothing", async (_name, slug, otherBody, parts) => {
    await stack.create("used", body, withKey("used"));
    const { status, json } = await stack.create(slug, otherBody, withKey("used", parts));
    expect(status).toBe(409);
    expect(json.error).toMatchObject({ code: 409, message: expect.stringContaining("another request") });
    expect(await storedVersions("used")).toHaveLength(1);
    expect(await storedVersions("used-elsewhere")).toHaveLength(0);
  });

  it.each([
    ["one character", "x"],
    ["255 characters", "x".repeat(255)],
    ["every printable ASCII character", Array.from({ length: 94 }, (_, n) => String.fromCharCode(33 + n)).join("")],
    ["a space inside", "a b"],
  ])("may have %s", async (_name, key) => {
    const answers = [
      await stack.create("good-keys", body, withKey(key)),
      await stack.create("good-keys", body, withKey(key)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[1]?.text).toBe(answers[0]?.text);
  });

  it.each([
    ["no characters", ""],
    ["256 characters", "x".repeat(256)],
    ["a non-ASCII character", "é"],
    ["a tab inside", "a\tb"],
  ])("with %s returns 400", async (_name, key) => {
    const { status, json } = await stack.create("bad-keys", body, withKey(key));
    expect(status).toBe(400);
    expect(json.error.metadata.issues).toEqual([
      { path: "Idempotency-Key", message: "must be 1 to 255 printable ASCII characters" },
    ]);
  });
});

describe("an Idempotency-Key on a preset that changes", () => {
  const body = { messages: [{ role: "system", content: "Be brief." }], model: "m" };
  const keyed = (key: string): CreationParts => ({ headers: { "idempotency-key": key } });

  it("repeats the first answer byte for byte after any change to the preset", async () => {
    const slug = freshName("replayed");
    const first = await stack.create(slug, body, keyed(slug));
    const again = async () => {
      const answer = await stack.create(slug, body, keyed(slug));
      expect([answer.status, answer.text, answer.headers.get("etag")]).toEqual([
        200,
        first.text,
        first.headers.get("etag"),
      ]);
    };
    await again();
    await stack.create(slug, body);
    await again();
    await patch(slug, { name: "Renamed", description: "Described" });
    await again();
    await patch(slug, { designated_version: 2 });
    await again();
    await patch(slug, { status: "archived" });
    await again();
    const before = await stateOf(slug);
    await stack.preset.stop();
    await stack.preset.start();
    await again();
    expect(await stateOf(slug)).toEqual(before);
  });

  it("repeats the preset as it was when a version was added to it", async () => {
    const slug = freshName("replayed-later");
    await stack.create(slug, body);
    await patch(slug, { name: "Näme 🙂", description: "D", status: "disabled" });
    const first = await stack.create(slug, body, keyed(slug));
    expect(first.json.data).toMatchObject({ name: "Näme 🙂", description: "D", status: "disabled" });
    await patch(slug, { name: "Other", description: null, status: "active" });
    const again = await stack.create(slug, body, keyed(slug));
    expect(again.text).toBe(first.text);
  });

  it("turns simultaneous duplicates into one version amid other creations and changes", async () => {
    const slug = freshName("busy");
    await stack.create(slug, body);
    const answers = await Promise.all(
      upTo(60).map((n) => {
        if (n % 3 === 0) return patch(slug, { name: `Name ${n}` });
        return stack.create(slug, body, n % 3 === 1 ? keyed(slug) : {});
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const duplicates = answers.filter((_, index) => (index + 1) % 3 === 1);
    expect(new Set(duplicates.map(({ text }) => text)).size).toBe(1);
    const { json } = await stack.request("GET", `/presets/${slug}/versions`, { key: stack.apiKey });
    expect(json.total_count).toBe(1 + 20 + 1);
  });

  it("returns 409 for another body, even if the preset is archived", async () => {
    const slug = freshName("reused");
    await stack.create(slug, body, keyed(slug));
    await patch(slug, { status: "archived" });
    const { status, json } = await stack.create(slug, { ...body, model: "n" }, keyed(slug));
    expect(status).toBe(409);
    expect(json.error.message).toContain("used for another request");
  });
});

describe("an Idempotency-Key on a PATCH", () => {
  const body = { messages: [], model: "m" };
  const withKey = (idempotencyKey: string) => ({ headers: { "idempotency-key": idempotencyKey } });

  it("repeats the first answer with its ETag, even after newer changes", async () => {
    const slug = freshName("patched");
    await stack.create(slug, body);
    const first = await patch(slug, { name: "One" }, withKey(slug));
    expect(first.status).toBe(200);
    await patch(slug, { name: "Two" });
    const again = await patch(slug, { name: "One" }, withKey(slug));
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([200, first.text, first.headers.get("etag")]);
    expect((await get(slug)).json.data.name).toBe("Two");
  });

  it("turns simultaneous duplicates into one change and one answer", async () => {
    const slug = freshName("patched-twins");
    await stack.create(slug, body);
    const answers = await Promise.all(upTo(20).map(() => patch(slug, { description: "Once" }, withKey(slug))));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const changes = await stack.request("GET", `/presets/${slug}/changes`, { key: stack.apiKey });
    expect(changes.json.total_count).toBe(2);
  });

  it("used with another body, another preset or a creation returns 409 and stores nothing", async () => {
    const b = freshName("patched-b");
    const a = freshName("patched-a");
    await stack.create(a, body);
    await stack.create(b, body, withKey(b));
    await patch(a, { name: "A" }, withKey(a));
    const refused = [
      await patch(a, { name: "Other" }, withKey(a)),
      await patch(b, { name: "A" }, withKey(a)),
      await patch(a, { name: "A" }, withKey(b)),
      await stack.create(a, body, withKey(a)),
    ];
    expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409]);
    expect(await storedVersions(a)).toHaveLength(1);
    expect((await get(b)).json.data.name).toBe(b);
  });

  it("returns 400 for more than 255 characters", async () => {
    await stack.create("patched-c", body);
    const { status, json } = await patch("patched-c", { name: "C" }, withKey("x".repeat(256)));
    expect(status).toBe(400);
    expect(json.error.metadata.issues).toMatchObject([{ path: "Idempotency-Key" }]);
  });
});

describe("an Idempotency-Key of an administration call", () => {
  interface Changed {
    readonly id: string;
    readonly hash: string;
    readonly slug: string;
  }
  interface Call {
    readonly method: string;
    readonly path: string;
    readonly body?: object;
  }
  const made = async ({ method, path, body }: Call): Promise<Changed> =>
    (await administrator(stack).call<Changed>(method, path, body)).json.data;
  const newKey: Call = { method: "POST", path: "/keys", body: { name: "A key" } };
  const newMember = (): Call => ({
    method: "POST",
    path: "/organization/members",
    body: { email: `${freshName("m")}@example.com` },
  });
  const newWorkspace = (): Call => ({
    method: "POST",
    path: "/workspaces",
    body: { name: "W", slug: freshName("w") },
  });

  it.each<[string, () => Promise<Call>]>([
    ["adds a member", async () => newMember()],
    [
      "changes one",
      async () => {
        const { id } = await made(newMember());
        return { method: "PATCH", path: `/organization/members/${id}`, body: { first_name: "Ada" } };
      },
    ],
    ["removes one", async () => ({ method: "DELETE", path: `/organization/members/${(await made(newMember())).id}` })],
    ["creates a workspace", async () => newWorkspace()],
    [
      "changes one of them",
      async () => ({ method: "PATCH", path: `/workspaces/${(await made(newWorkspace())).id}`, body: { name: "X" } }),
    ],
    [
      "deletes one of them",
      async () => ({ method: "DELETE", path: `/workspaces/${(await made(newWorkspace())).slug}` }),
    ],
    [
      "adds members to a workspace",
      async () => {
        const body = { user_ids: [(await made(newMember())).id] };
        return { method: "POST", path: `/workspaces/${(await made(newWorkspace())).id}/members/add`, body };
      },
    ],
    [
      "removes members of a workspace",
      async () => {
        const [{ id }, body] = [await made(newWorkspace()), { user_ids: [stack.userId] }];
        return { method: "POST", path: `/workspaces/${id}/members/remove`, body };
      },
    ],
    [
      "changes a key",
      async () => ({ method: "PATCH", path: `/keys/${(await made(newKey)).hash}`, body: { name: "B" } }),
    ],
    ["deletes a key", async () => ({ method: "DELETE", path: `/keys/${(await made(newKey)).hash}` })],
  ])("that %s repeats the first answer, and is bound to its request", async (_name, prepare) => {
    const { method, path, body } = await prepare();
    const { call } = administrator(stack);
    const once = { headers: { "idempotency-key": freshName("once") } };
    const changes = async () => (await call("GET", "/organization/changes?limit=1")).json.total_count;
    const first = await call(method, path, body, once);
    expect(first.status).toBeLessThan(300);
    const count = await changes();
    const again = await call(method, path, body, once);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    const other = await call("POST", "/workspaces", { name: "Other", slug: freshName("other") }, once);
    expect(other.status).toBe(409);
    expect(await changes()).toBe(count);
  });

  it("keeps a late first attempt from undoing what came after its repetition", async () => {
    const { call } = administrator(stack);
    const { path, body } = newMember();
    const once = { headers: { "idempotency-key": freshName("late") } };
    const { json } = await call<Changed>("POST", path, body, once);
    expect((await call("DELETE", `${path}/${json.data.id}`)).status).toBe(200);
    expect((await call("POST", path, body, once)).status).toBe(201);
    const { text } = await call("GET", `${path}?limit=100`);
    expect(text).not.toContain(json.data.id);
  });

  it("keeps a retry of what changed nothing from undoing what came after it", async () => {
    const { call, makeKey } = administrator(stack);
    const path = `/keys/${(await makeKey()).data.hash}`;
    const once = { headers: { "idempotency-key": freshName("unchanged") } };
    const first = await call("PATCH", path, { disabled: false }, once);
    await call("PATCH", path, { disabled: true });
    expect((await call("PATCH", path, { disabled: false }, once)).text).toBe(first.text);
    expect((await call<KeyJson>("GET", path)).json.data.disabled).toBe(true);
    expect((await call("PATCH", path, { name: "Other" }, once)).status).toBe(409);
  });

  describe("whose expires_at is over when it is repeated", () => {
    const expires_at = () => new Date(Date.now() + 20_000).toISOString();
    const pass = () => shiftClock(21_000);
    const issues = [{ path: "expires_at", message: "must be in the future" }];

    afterEach(() => shiftClock(0));

    it("repeats the first answer of a change, and refuses a new request without storing anything", async () => {
      const { call, makeKey } = administrator(stack);
      const path = `/keys/${(await makeKey()).data.hash}`;
      const body = { expires_at: expires_at() };
      const once = { headers: { "idempotency-key": freshName("expired") } };
      const first = await call("PATCH", path, body, once);
      expect(first.status).toBe(200);
      pass();
      const again = await call("PATCH", path, body, once);
      expect([again.status, again.text]).toEqual([200, first.text]);
      const changes = async () => (await call("GET", "/organization/changes?limit=1")).json.total_count;
      const count = await changes();
      const another = { headers: { "idempotency-key": freshName("expired") } };
      const refused = await call("PATCH", path, body, another);
      expect(refused.status).toBe(400);
      expect(refused.json.error).toMatchObject({ message: "expires_at must be in the future", metadata: { issues } });
      expect(await changes()).toBe(count);
      // The refused request has not used up its key.
      expect((await call("PATCH", path, { name: "Another" }, another)).status).toBe(200);
    });

    it("says that the key is already made, and refuses a new request without storing anything", async () => {
      const { call } = administrator(stack);
      const body = { name: "Short-lived", expires_at: expires_at() };
      const once = { headers: { "idempotency-key": freshName("expired") } };
      expect((await call("POST", "/keys", body, once)).status).toBe(201);
      const second = await call("POST", "/keys", body, once);
      expect(second.status).toBe(409);
      pass();
      const third = await call("POST", "/keys", body, once);
      expect([third.status, third.json.error.message]).toEqual([409, second.json.error.message]);
      const keys = async () => (await call("GET", "/keys?limit=1&include_disabled=true")).json.total_count;
      const count = await keys();
      const another = { headers: { "idempotency-key": freshName("expired") } };
      const refused = await call("POST", "/keys", body, another);
      expect(refused.status).toBe(400);
      expect(refused.json.error).toMatchObject({ message: "expires_at must be in the future", metadata: { issues } });
      expect(await keys()).toBe(count);
      expect((await call("POST", "/keys", { name: "Lasting" }, another)).status).toBe(201);
    });
  });

  it.each<[string, Call, object]>([
    ["a key", newKey, { limit: null }],
    ["a workspace", newWorkspace(), { is_data_discount_logging_enabled: false }],
  ])("is bound to a change of %s with only fields that change nothing", async (_name, creation, body) => {
    const { call } = administrator(stack);
    const path = `${creation.path}/${(await made(creation)).id}`;
    const changes = async () => (await call("GET", "/organization/changes?limit=1")).json.total_count;
    const count = await changes();
    const once = { headers: { "idempotency-key": freshName("nothing") } };
    const first = await call("PATCH", path, body, once);
    expect(first.status).toBe(200);
    expect(await changes()).toBe(count);
    expect((await call("PATCH", path, { name: "Other" }, once)).status).toBe(409);
    expect((await call("PATCH", path, { name: "Renamed" })).status).toBe(200);
    const again = await call("PATCH", path, body, once);
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  it("is bound to its request even if one of two creates a secret", async () => {
    const { call, makeKey } = administrator(stack);
    const { id } = (await makeKey()).data;
    const calls: readonly Call[] = [newKey, { method: "POST", path: `/keys/${id}/rotate` }];
    for (const secret of calls) {
      for (const [one, other] of [
        [secret, newMember()],
        [newMember(), secret],
      ] as const) {
        const once = { headers: { "idempotency-key": freshName("either") } };
        expect((await call(one.method, one.path, one.body, once)).status).toBe(201);
        const refused = await call(other.method, other.path, other.body, once);
        expect([refused.status, refused.json.error.message]).toEqual([409, expect.stringContaining("another request")]);
      }
    }
  });

  it("repeats the first answer if the fields of a change come in another order", async () => {
    const { call, makeMember, makeWorkspace } = administrator(stack);
    const member = await makeMember(`${freshName("ordered")}@example.com`);
    const { id } = await makeWorkspace(freshName("ordered"));
    for (const [path, fields] of [
      [`/organization/members/${member}`, { first_name: "Ada", last_name: "Lovelace" }],
      [`/workspaces/${id}`, { description: "D", default_text_model: "m" }],
    ] as const) {
      const once = { headers: { "idempotency-key": freshName("ordered") } };
      const first = await call("PATCH", path, fields, once);
      const again = await call("PATCH", path, Object.fromEntries(Object.entries(fields).reverse()), once);
      expect([again.status, again.text]).toEqual([200, first.text]);
    }
  });

  it.each(["", "é", "a".repeat(256)])("is rejected if it is invalid: %j", async (key) => {
    const { path, body } = newMember();
    const answer = await administrator(stack).call("POST", path, body, { headers: { "idempotency-key": key } });
    expect([answer.status, pathsOf(answer)]).toEqual([400, ["Idempotency-Key"]]);
  });
});
