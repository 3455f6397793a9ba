import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keyFromBytes } from "../../services/platform/auth/key-format.ts";
import type { KeyKind } from "../../services/platform/auth/principal.ts";
import { newId } from "../../services/platform/domain/ids.ts";
import { expectError } from "../support/error-answers.ts";
import type { Answer } from "../support/rest.ts";
import { type CreationParts, type Stack, startStack } from "../support/stack.ts";
import type { Tenant } from "../support/tenants.ts";

let stack: Stack;
let secondWorkspaceId: string;

beforeAll(async () => {
  stack = await startStack();
  secondWorkspaceId = await stack.tenants.createWorkspace(stack);
  await stack.create("guarded");
});

afterAll(() => stack.close());

const dialects = ["chat/completions", "messages", "responses"] as const;
const body = { model: "m", messages: [] };

type Send = (headers: Record<string, string>) => Promise<Answer<unknown>>;

/** Operations of each kind, and the kind of key that they need. */
const operations: [string, KeyKind, Send][] = [
  ...dialects.map((dialect): [string, KeyKind, Send] => [
    dialect,
    "api",
    (headers) => stack.create("guarded", body, { dialect, headers, key: undefined }),
  ]),
  ...[
    "/presets",
    "/presets/guarded",
    "/presets/guarded/versions",
    "/presets/guarded/versions/1",
    "/presets/guarded/versions/1/diff/1",
    "/presets/guarded/changes",
  ].map((path): [string, KeyKind, Send] => [
    `GET ${path}`,
    "api",
    (headers) => stack.request("GET", path, { headers }),
  ]),
  [
    "PATCH /presets/guarded",
    "api",
    (headers) => stack.request("PATCH", "/presets/guarded", { headers, body: { name: "Guarded" } }),
  ],
  ["members", "management", (headers) => stack.request("GET", "/organization/members", { headers })],
];

describe.each(operations)("%s", (_operation, kind, send) => {
  const goodKey = () => (kind === "api" ? stack.apiKey : stack.managementKey);

  const badHeaders: Record<string, () => string | Promise<string>> = {
    "an empty header": () => "",
    "no key": () => "Bearer",
    "another scheme": () => `Basic ${Buffer.from(goodKey()).toString("base64")}`,
    "no scheme": () => goodKey(),
    "two keys": () => `Bearer ${goodKey()} ${goodKey()}`,
    "a key of another system": () => `Bearer sk-or-v1-${"0".repeat(64)}`,
    "a truncated key": () => `Bearer ${goodKey().slice(0, -1)}`,
    "a key with a wrong checksum": () => `Bearer ${goodKey().replace(/.$/, (last) => (last === "x" ? "y" : "x"))}`,
    "an unknown key": () => `Bearer ${keyFromBytes(Buffer.alloc(32, 7))}`,
    "a disabled key": async () => bearer(await stack.tenants.createKey(stack, { kind, disabled: true })),
    "an expired key": async () =>
      bearer(await stack.tenants.createKey(stack, { kind, expiresAt: new Date(Date.now() - 1_000) })),
    "a revoked key": async () => {
      const key = await stack.tenants.createKey(stack, { kind });
      await stack.tenants.revokeKey(key);
      return bearer(key);
    },
  };

  it("accepts a valid key with any casing of the scheme", async () => {
    for (const scheme of ["Bearer", "bearer", "BEARER "]) {
      expect((await send({ authorization: `${scheme} ${goodKey()}` })).status).toBe(200);
    }
  });

  it("returns 401 without an Authorization header", async () => {
    expectError(await send({}), 401);
  });

  it.each(Object.keys(badHeaders))("returns 401 for %s and does not echo it", async (name) => {
    const authorization = (await badHeaders[name]?.()) as string;
    const answer = await send({ authorization });
    expectError(answer, 401);
    // Everything except the name of a scheme.
    for (const word of authorization.split(" ").filter(({ length }) => length > 6)) {
      expect(answer.text).not.toContain(word);
    }
  });
});

function bearer({ secret }: { readonly secret: string }): string {
  return `Bearer ${secret}`;
}

describe("the credential", () => {
  const unknownKey = keyFromBytes(Buffer.alloc(32, 8));

  it.each<[string, unknown, CreationParts["headers"]]>([
    ["malformed JSON", "{", {}],
    ["another content type", "hello", { "content-type": "text/plain" }],
    ["a compressed body", "hello", { "content-encoding": "gzip" }],
    ["a body over the limit", "x".repeat(11 * 1024 * 1024), {}],
    ["a bad idempotency key", body, { "idempotency-key": "" }],
  ])("is checked before %s", async (_name, badBody, headers = {}) => {
    const readOnly = await stack.tenants.createKey(stack, { permissions: ["presets:read"] });
    expectError(await stack.create("guarded", badBody, { key: unknownKey, headers }), 401);
    expectError(await stack.create("guarded", badBody, { key: readOnly.secret, headers }), 403);
  });

  it.each([
    ["a bad slug", "-bad", ""],
    ["a bad workspace id", "good", "?workspace_id=bad"],
  ])("is required before %s is reported", async (_name, slug, query) => {
    expectError(await stack.create(slug, body, { key: undefined, query }), 401);
  });
});

describe("an API key", () => {
  it("returns 401 on members, which need a management key", async () => {
    const answer = await stack.request("GET", "/organization/members", { key: stack.apiKey });
    expectError(answer, 401);
    expect(answer.json.error.message).toContain("management key");
  });

  it("creates in its own workspace", async () => {
    const { secret } = await stack.tenants.createKey(stack, { workspaceId: secondWorkspaceId });
    const { json } = await stack.create("mine", body, { key: secret });
    expect(json.data.workspace_id).toBe(secondWorkspaceId);
  });
});

describe("a management key", () => {
  it("creates in the organization's default workspace", async () => {
    const { status, json } = await stack.create("managed", body, { key: stack.managementKey });
    expect(status).toBe(200);
    expect(json.data).toMatchObject({ workspace_id: stack.workspaceId, creator_user_id: stack.userId });
  });
});

describe("workspace_id", () => {
  const create = (key: string, query: string) => stack.create("placed", body, { key, query });

  it("after a thousand other parameters returns 400", async () => {
    const { status, json } = await create(
      stack.managementKey,
      `?${"a&".repeat(1_000)}workspace_id=${secondWorkspaceId}`,
    );
    expect(status).toBe(400);
    expect(json.error.message).toBe("query must have at most 1000 parameters");
  });

  it("selects any workspace of the organization for a management key", async () => {
    for (const id of [stack.workspaceId, secondWorkspaceId, secondWorkspaceId.toUpperCase()]) {
      const { status, json } = await create(stack.managementKey, `?workspace_id=${id}`);
      expect(status).toBe(200);
      expect(json.data.workspace_id).toBe(id.toLowerCase());
    }
  });

  it("is not read from text after the key", async () => {
    expect((await create(stack.managementKey, `?workspace_id=${secondWorkspaceId}`)).status).toBe(200);
    expectError(await create(`${stack.managementKey} ${secondWorkspaceId}`, ""), 401);
  });

  it("may name an API key's own workspace", async () => {
    const { json } = await create(stack.apiKey, `?workspace_id=${stack.workspaceId}`);
    expect(json.data.workspace_id).toBe(stack.workspaceId);
  });

  it.each<[string, "apiKey" | "managementKey", () => string | Promise<string>]>([
    ["the organization's other workspaces from an API key", "apiKey", () => secondWorkspaceId],
    ["a workspace of another organization", "managementKey", async () => (await newTenant()).workspaceId],
    ["a workspace that never existed", "managementKey", () => newId()],
    [
      "a deleted workspace",
      "managementKey",
      async () => {
        const id = await stack.tenants.createWorkspace(stack);
        await stack.tenants.deleteWorkspace(id);
        return id;
      },
    ],
  ])("hides %s behind 404", async (_name, key, idOf) => {
    expectError(await create(stack[key], `?workspace_id=${await idOf()}`), 404);
  });

  it.each([
    ["malformed", "?workspace_id=default"],
    ["empty", "?workspace_id="],
    ["given twice", `?workspace_id=${newId()}&workspace_id=${newId()}`],
    ["not quite a UUID", `?workspace_id=${newId()}0`],
  ])("returns 400 if %s", async (_name, query) => {
    const issues = [{ path: "workspace_id", message: expect.any(String) }];
    expectError(await create(stack.managementKey, query), 400, { issues });
  });
});

describe("a key whose workspace or organization was deleted", () => {
  const create = (key: string) => stack.create("orphan", body, { key });
  const listMembers = (key: string) => stack.request("GET", "/organization/members", { key });

  it("returns 404 on creation if its workspace was deleted, and still lists members", async () => {
    const tenant = await newTenant();
    await stack.tenants.deleteWorkspace(tenant.workspaceId);
    expectError(await create(tenant.apiKey), 404);
    expectError(await create(tenant.managementKey), 404);
    expect((await listMembers(tenant.managementKey)).status).toBe(200);
  });

  it("returns 404 everywhere if its organization was deleted", async () => {
    const tenant = await newTenant();
    await stack.tenants.deleteOrganization(tenant);
    expectError(await create(tenant.apiKey), 404);
    expectError(await create(tenant.managementKey), 404);
    expectError(await listMembers(tenant.managementKey), 404);
  });
});

function newTenant(): Promise<Tenant> {
  return stack.tenants.createOrganization();
}
