import { createHash } from "node:crypto";
import type { ClientReadableStream } from "@grpc/grpc-js";
import jwt from "jsonwebtoken";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Dialect } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { mintAccessToken, tokenContent } from "../../services/organization/domain/access-token.ts";
import { parseSigningKeys, type SigningKey } from "../../services/organization/domain/signing-keys.ts";
import type { Principal } from "../../services/platform/auth/principal.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import type { RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { failureOf } from "../support/failures.ts";
import { freshName } from "../support/fresh-name.ts";
import { type CreateVersion, presetClients } from "../support/preset-clients.ts";
import { newSigningKeyPem, type Stack, startStack } from "../support/stack.ts";
import { callStock, stockClient } from "../support/stock-grpc.ts";

const mebibyte = 1024 * 1024;

let stack: Stack;
let clients: ReturnType<typeof presetClients>;
let token: string;

beforeAll(async () => {
  // Health watchers are told about a stop within a second.
  stack = await startStack({ preset: { drainTimeoutMs: 3_000 } });
  clients = presetClients(stack.preset.config);
  const access = stockClient("setpoint.organization.v1.AccessService", stack.organization.config.grpcPort);
  const answer = await callStock<{ accessToken: string }>(access, "ExchangeKey", { key: stack.apiKey });
  token = answer.accessToken;
  access.close();
});

afterAll(() => stack.close());

/** A token for the stack's own principal, with whatever a case changes. */
function mint({
  signingKey = stack.organization.config.signingKeys[0],
  now = new Date(),
  ...change
}: Partial<Principal> & { signingKey?: SigningKey; now?: Date } = {}): string {
  const principal: Principal = {
    keyId: newId(),
    keyKind: "api",
    userId: stack.userId,
    organizationId: stack.organizationId,
    workspaceId: stack.workspaceId,
    permissions: ["presets:read", "presets:write"],
    ...change,
  };
  return mintAccessToken(tokenContent(principal, { now, ttlSeconds: 60, keyExpiresAt: undefined }), signingKey).text;
}

async function storedVersions(slug: string): Promise<RowDataPacket[]> {
  const [rows] = await stack.presetPool.execute<RowDataPacket[]>(
    `SELECT v.config, v.system_prompt, v.dialect FROM preset_versions v
      JOIN presets p ON p.workspace_id = v.workspace_id AND p.id = v.preset_id
      WHERE p.workspace_id = ? AND p.slug = ? ORDER BY v.version`,
    [idToBytes(stack.workspaceId), slug],
  );
  return rows;
}

const names = ["a stock gRPC client", "a Connect client", "a gRPC-Web client", "fetch with JSON"] as const;

describe.each(names)("CreateVersion over %s", (name) => {
  const prefix = name.replaceAll(" ", "-");
  const create: CreateVersion = (request, parts) => clients[name](request, { token, ...parts });
  const good = { slug: `${prefix}-good`, configJson: "{}" };

  it("stores the version as given and returns the preset", async () => {
    const slug = freshName(`${prefix}-first`);
    const configJson = '{ "temperature": 1.0, "logit_bias": {"10": 1, "2": -1e1}, "model": "é🙂" }';
    const request = { slug, configJson, systemPrompt: "Be brief.", dialect: Dialect.MESSAGES };
    const created = await create(request, {});
    expect(created).toMatchObject({
      slug,
      workspaceId: stack.workspaceId,
      designatedVersion: { version: 1, configJson, systemPrompt: "Be brief." },
    });
    const stored = { config: configJson, system_prompt: "Be brief.", dialect: "messages" };
    expect(await storedVersions(slug)).toEqual([stored]);
    expect((await create({ slug, configJson: "{}" }, {})).designatedVersion?.version).toBe(2);
    expect(await storedVersions(slug)).toEqual([stored, { config: "{}", system_prompt: null, dialect: null }]);
  });

  it.each([undefined, ""])("treats the system prompt %j as none", async (systemPrompt) => {
    const created = await create({ ...good, ...(systemPrompt === undefined ? {} : { systemPrompt }) }, {});
    expect(created.designatedVersion?.systemPrompt).toBeUndefined();
    expect((await storedVersions(good.slug)).at(-1)?.system_prompt).toBeNull();
  });

  it.each<[string, Parameters<CreateVersion>[0], string[]]>([
    ["an empty slug", { ...good, slug: "" }, ["slug"]],
    ["a slug with a slash", { ...good, slug: "a/b" }, ["slug"]],
    ["a slug that begins with a dot", { ...good, slug: ".a" }, ["slug"]],
    ["a slug of 129 characters", { ...good, slug: "a".repeat(129) }, ["slug"]],
    ["a slug that ends with a line break", { ...good, slug: "a\n" }, ["slug"]],
    ["no config", { slug: good.slug }, ["config_json"]],
    ["config that is not JSON", { ...good, configJson: "{" }, ["config_json"]],
    ["config that is a list", { ...good, configJson: "[]" }, ["config_json"]],
    ["config that is null", { ...good, configJson: "null" }, ["config_json"]],
    ["an unknown dialect", { ...good, slug: "", dialect: 99 as Dialect }, ["slug", "dialect"]],
    ["an unknown config field", { ...good, configJson: '{"messages":[]}' }, ["config_json.messages"]],
    ["__proto__ as a config field", { ...good, configJson: '{"__proto__":{}}' }, ["config_json.__proto__"]],
    ["two unknown config fields", { ...good, configJson: '{"a":1,"b":2}' }, ["config_json.a", "config_json.b"]],
    [
      "config that no dialect would keep",
      { ...good, configJson: '{"model":"@preset/x","temperature":"hot","max_tokens":-5}' },
      ["config_json.model", "config_json.temperature", "config_json.max_tokens"],
    ],
    ["a duplicate key", { ...good, configJson: '{"provider":{"a":1,"\\u0061":2}}' }, ["config_json.provider.a"]],
    ["config of 65 levels", { ...good, configJson: `{"tools":${"[".repeat(64)}${"]".repeat(64)}}` }, ["config_json"]],
    ["config of more than 1 MiB", { ...good, configJson: configOf(mebibyte + 1) }, ["config_json"]],
    [
      "an integer that a double cannot hold",
      { ...good, configJson: '{"seed":9007199254740993}' },
      ["config_json.seed"],
    ],
    [
      "a number beyond the range of a double",
      { ...good, configJson: '{"provider":{"a":[1e999]}}' },
      ["config_json.provider.a[0]"],
    ],
    ["a system prompt of more than 1 MiB", { ...good, systemPrompt: "é".repeat(mebibyte / 2 + 1) }, ["system_prompt"]],
    ["a request id of 256 characters", { ...good, requestId: "x".repeat(256) }, ["request_id"]],
    ["a non-ASCII request id", { ...good, requestId: "é" }, ["request_id"]],
    ["a request id with a line break", { ...good, requestId: "a\n" }, ["request_id"]],
    ["a digest of 31 bytes", { ...good, requestDigest: new Uint8Array(31) }, ["request_digest"]],
    [
      "every field invalid",
      { slug: "", configJson: '{"a":1}', requestId: "\u0000", requestDigest: new Uint8Array(33) },
      ["slug", "config_json.a", "request_id", "request_digest"],
    ],
  ])("rejects %s and names every invalid field", async (_name, request, fields) => {
    const before = await storedVersions(good.slug);
    const failure = await failureOf(create(request, {}));
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", reason: "INVALID_REQUEST", domain: "setpoint" });
    expect(failure.violations.map(({ field }) => field)).toEqual(fields);
    for (const { description } of failure.violations) expect(description).toMatch(/^(must|is) /);
    expect(await storedVersions(good.slug)).toEqual(before);
  });

  it("stops counting violations at a hundred", async () => {
    const config = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`unknown-${index}`, 1]));
    const failure = await failureOf(create({ ...good, configJson: JSON.stringify(config) }, {}));
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining("(and 99 more)") });
    expect(failure.violations[0]?.field).toBe("config_json.unknown-0");
    expect(failure.violations.length).toBeGreaterThan(30);
  });

  it("accepts values exactly at their limits", async () => {
    const created = await create(
      {
        slug: `${prefix}-${"x".repeat(128)}`.slice(0, 128),
        configJson: configOf(mebibyte),
        systemPrompt: "é".repeat(mebibyte / 2),
        requestId: `${prefix}${"~".repeat(255)}`.slice(0, 255),
      },
      {},
    );
    expect(created.designatedVersion?.version).toBe(1);
    const deep = `{"route":${"[".repeat(63)}${"]".repeat(63)}}`;
    expect((await create({ ...good, configJson: deep }, {})).designatedVersion?.configJson).toBe(deep);
  });

  describe("with a request id", () => {
    const slug = `${prefix}-retried`;
    const request = {
      slug,
      configJson: '{"model":"m"}',
      requestId: `${prefix} retry`,
      dialect: Dialect.RESPONSES,
    };

    it("that was stored before repeats the first answer", async () => {
      const first = await create(request, {});
      await create({ ...request, requestId: "" }, {});
      expect(await create(request, {})).toEqual(first);
    });

    it.each([
      ["config", { ...request, configJson: '{"model":"other"}' }],
      ["system prompt", { ...request, systemPrompt: "Other." }],
      ["slug", { ...request, slug: `${slug}-other` }],
      ["digest", { ...request, requestDigest: new Uint8Array(32) }],
      ["dialect", { ...request, dialect: Dialect.MESSAGES }],
    ])("that was used with another %s is rejected", async (_name, other) => {
      await create(request, {});
      expect(await failureOf(create(other, {}))).toMatchObject({
        code: "ALREADY_EXISTS",
        reason: "REQUEST_ID_REUSED",
        domain: "setpoint",
      });
    });

    it("and a digest compares only the digest", async () => {
      const requestDigest = createHash("sha256").update("what the caller was sent").digest();
      const named = { ...request, requestId: `${prefix} digest`, requestDigest };
      const first = await create(named, {});
      expect(await create({ ...named, configJson: '{"model":"other"}' }, {})).toEqual(first);
    });
  });

  it.each<[string, () => string | undefined, string]>([
    ["no token", () => undefined, "TOKEN_MISSING"],
    ["garbage", () => "garbage", "TOKEN_INVALID"],
    ["a key", () => stack.apiKey, "TOKEN_INVALID"],
    ["an expired token", () => mint({ now: new Date(Date.now() - 121_000) }), "TOKEN_EXPIRED"],
    ["a token with a modified signature", () => token.replace(/.{8}$/, "AAAAAAAA"), "TOKEN_INVALID"],
    ["a token signed by someone else", () => mint({ signingKey: strangersKey() }), "TOKEN_INVALID"],
    ["a token signed by someone else in our name", () => mint({ signingKey: forgedKey() }), "TOKEN_INVALID"],
    ["an unsigned token", () => unsigned(), "TOKEN_INVALID"],
    ["a token of another issuer", () => issuedElsewhere(), "TOKEN_INVALID"],
  ])("rejects %s", async (_name, tokenOf, reason) => {
    expect(await failureOf(clients[name](good, { token: tokenOf() }))).toMatchObject({
      code: "UNAUTHENTICATED",
      reason,
      domain: "setpoint",
      violations: [],
    });
  });

  it("rejects a read-only token", async () => {
    const readOnly = mint({ permissions: ["presets:read"] });
    expect(await failureOf(create(good, { token: readOnly }))).toMatchObject({
      code: "PERMISSION_DENIED",
      reason: "PERMISSION_MISSING",
      domain: "setpoint",
      message: expect.stringContaining("presets:write"),
    });
  });

  it("returns NOT_FOUND if the token has no workspace", async () => {
    expect(await failureOf(create(good, { token: mint({ workspaceId: undefined }) }))).toMatchObject({
      code: "NOT_FOUND",
      reason: "WORKSPACE_NOT_FOUND",
    });
  });

  it("rejects an archived preset", async () => {
    const slug = freshName(`${prefix}-archived`);
    await create({ slug, configJson: "{}" }, {});
    await stack.presetPool.execute("UPDATE presets SET status = 'archived' WHERE slug = ?", [slug]);
    expect(await failureOf(create({ slug, configJson: "{}" }, {}))).toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "PRESET_ARCHIVED",
    });
  });

  it("reveals nothing about an internal error", async () => {
    await stack.presetPool.query("RENAME TABLE preset_versions TO preset_versions_away");
    try {
      expect(await failureOf(create(good, {}))).toEqual({
        code: "INTERNAL",
        message: "internal error",
        reason: undefined,
        domain: undefined,
        violations: [],
      });
    } finally {
      await stack.presetPool.query("RENAME TABLE preset_versions_away TO preset_versions");
    }
  });
});

// Not with fetch, which has no deadline.
describe.each(names.slice(0, 3))("a deadline over %s", (name) => {
  it("is kept, and nothing is stored afterwards", async () => {
    const request = { slug: freshName("late"), configJson: "{}" };
    await clients[name](request, { token });
    const connection = await stack.presetPool.getConnection();
    await connection.query("START TRANSACTION");
    await connection.execute("SELECT slug FROM presets WHERE slug = ? FOR UPDATE", [request.slug]);
    const failure = await failureOf(clients[name](request, { token, timeoutMs: 400 }));
    expect(failure.code).toBe("DEADLINE_EXCEEDED");
    await connection.query("ROLLBACK");
    connection.release();
    expect((await clients[name](request, { token })).designatedVersion?.version).toBe(2);
  });
});

/** A config of exactly this many bytes. */
function configOf(bytes: number): string {
  return `{"model":"${"x".repeat(bytes - '{"model":""}'.length)}"}`;
}

function strangersKey(): SigningKey {
  return parseSigningKeys(newSigningKeyPem(), "test")[0];
}

/** Another private key that claims to be ours. */
function forgedKey(): SigningKey {
  return { ...strangersKey(), jwk: stack.organization.config.signingKeys[0].jwk };
}

function unsigned(): string {
  const [header = "", payload] = token.split(".");
  const { kid } = JSON.parse(Buffer.from(header, "base64url").toString());
  return `${Buffer.from(JSON.stringify({ alg: "none", typ: "JWT", kid })).toString("base64url")}.${payload}.`;
}

function issuedElsewhere(): string {
  const { privateKey, jwk } = stack.organization.config.signingKeys[0];
  const claims = jwt.decode(token) as jwt.JwtPayload;
  return jwt.sign({ ...claims, iss: "elsewhere" }, privateKey, { algorithm: "ES256", keyid: jwk.kid });
}

describe("the HTTP port", () => {
  const url = (path: string) => `http://127.0.0.1:${stack.preset.config.httpPort}${path}`;

  it("answers gRPC-Web with its own content type and the status after the message", async () => {
    const response = await fetch(url("/grpc.health.v1.Health/Check"), {
      method: "POST",
      headers: { "content-type": "application/grpc-web+proto", "x-grpc-web": "1" },
      body: new Uint8Array(5),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/grpc-web+proto");
    expect(await response.text()).toContain("grpc-status: 0");
  });

  it("answers a call in plain JSON", async () => {
    const response = await fetch(url("/grpc.health.v1.Health/Check"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(await response.json()).toEqual({ status: "SERVING" });
  });

  it.each([
    ["/setpoint.preset.v1.PresetService/Nothing", 404],
    ["/setpoint.preset.v1.NoService/CreateVersion", 404],
    ["/nowhere", 404],
  ])("answers %s with %d", async (path, status) => {
    const response = await fetch(url(path), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(response.status).toBe(status);
  });
});

describe("grpc.health.v1", () => {
  const service = "setpoint.preset.v1.PresetService";
  let client: ReturnType<typeof stockClient>;

  beforeAll(() => {
    client = stockClient("grpc.health.v1.Health", stack.preset.config.grpcPort);
  });

  afterAll(() => client.close());

  it.each(["", service])('reports "%s" as serving, without a token', async (name) => {
    expect(await callStock(client, "Check", { service: name })).toEqual({ status: "SERVING" });
  });

  it("returns NOT_FOUND for any other service", async () => {
    await expect(callStock(client, "Check", { service: "x" })).rejects.toMatchObject({ code: 5 });
  });

  it("tells a watcher about an unknown service and about shutdown", async () => {
    const unknown = watch("x");
    const known = watch(service);
    await expect.poll(() => unknown.statuses).toEqual(["SERVICE_UNKNOWN"]);
    await expect.poll(() => known.statuses).toEqual(["SERVING"]);
    await stack.preset.stop();
    await expect.poll(() => known.statuses).toEqual(["SERVING", "NOT_SERVING"]);
    await stack.preset.start();
  });

  function watch(name: string): { readonly statuses: string[] } {
    const statuses: string[] = [];
    const { Watch } = client as unknown as Record<
      "Watch",
      (request: object) => ClientReadableStream<{ status: string }>
    >;
    const stream = Watch.call(client, { service: name });
    stream.on("data", ({ status }) => statuses.push(status));
    stream.on("error", () => {});
    return { statuses };
  }
});
