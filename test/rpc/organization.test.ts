import { generateKeyPairSync } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { anyUnpack, timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectError } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../proto/gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../proto/gen/google/rpc/status_pb.ts";
import {
  type HealthCheckResponse,
  Health as HealthService,
  HealthCheckResponse_ServingStatus as Serving,
} from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { KeyKind } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { MemberRole } from "../../proto/gen/setpoint/organization/v1/member_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { openOrganizationService, organizationMigrations } from "../../services/organization/app.ts";
import { bootstrap } from "../../services/organization/commands/bootstrap.ts";
import { readOrganizationConfig } from "../../services/organization/config.ts";
import { type NewKey, newApiKey, newManagementKey } from "../../services/organization/domain/keys.ts";
import { findKey, insertKey, updateKeyRevoked } from "../../services/organization/store/keys.ts";
import { findOrInsertUser, insertMembership } from "../../services/organization/store/members.ts";
import { insertWorkspace } from "../../services/organization/store/organizations.ts";
import { AccessTokenVerifier, jwksFrom } from "../../services/platform/access-token.ts";
import { idToBytes, newId } from "../../services/platform/ids.ts";
import { keyFromBytes } from "../../services/platform/key-format.ts";
import { Lifecycle } from "../../services/platform/lifecycle.ts";
import { silentLogger } from "../../services/platform/logger.ts";
import { migrate } from "../../services/platform/mysql/migrate.ts";
import { openPool, type Pool } from "../../services/platform/mysql/pool.ts";
import { inTransaction } from "../../services/platform/mysql/transaction.ts";
import { grpcDefinitionOf } from "../../services/platform/rpc/grpc-definition.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

const [oldPem, newPem] = [newPrivateKeyPem(), newPrivateKeyPem()];
const exchangeKey = AccessService.method.exchangeKey;
const listMembers = OrganizationService.method.listMembers;

let database: TestDatabase;
let pool: Pool;
let service: RunningService;

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url, organizationMigrations, () => {});
  pool = openPool(database.url, 4);
  service = await startService({ ORGANIZATION_DATABASE_URL: database.url, SIGNING_KEY: oldPem });
});

afterAll(async () => {
  await service.close();
  await pool.end();
  await database.drop();
});

describe.each(["gRPC", "Connect"] as const)("over %s", (protocol) => {
  const call: Call = (method, request, token) => service[protocol](method, request, token);

  describe("ExchangeKey", () => {
    let organization: Bootstrapped;
    let owner: { name: string; organizationId: string; creatorUserId: string; expiresAt: Date | undefined };
    let secondWorkspaceId: string;

    beforeAll(async () => {
      organization = await newOrganization();
      const { organization_id: organizationId, admin_user_id: creatorUserId } = organization;
      owner = { name: "Key", organizationId, creatorUserId, expiresAt: undefined };
      secondWorkspaceId = await newWorkspace(organizationId);
    });

    async function store(key: NewKey): Promise<NewKey> {
      await insertKey(pool, key);
      return key;
    }

    it("gives an API key a token for its own workspace", async () => {
      const before = Date.now();
      const { accessToken, expireTime, principal } = await call(exchangeKey, { key: organization.api_key });
      expect(principal).toMatchObject({
        keyKind: KeyKind.API,
        userId: organization.admin_user_id,
        organizationId: organization.organization_id,
        workspaceId: organization.workspace_id,
        permissions: ["presets:read", "presets:write"],
      });
      const lifeMs = timestampDate(expireTime as NonNullable<typeof expireTime>).getTime() - before;
      expect(lifeMs).toBeGreaterThan(58_000);
      expect(lifeMs).toBeLessThan(61_000);
      expect(await service.verifier().authenticate(`Bearer ${accessToken}`)).toEqual({
        keyId: principal?.keyId,
        keyKind: "api",
        userId: organization.admin_user_id,
        organizationId: organization.organization_id,
        workspaceId: organization.workspace_id,
        permissions: ["presets:read", "presets:write"],
      });
    });

    it("gives a read-only key no more than it has", async () => {
      const key = newApiKey(owner, { workspaceId: secondWorkspaceId, permissions: ["presets:read"] });
      const { principal } = await call(exchangeKey, { key: (await store(key)).secret });
      expect(principal).toMatchObject({ workspaceId: secondWorkspaceId, permissions: ["presets:read"] });
    });

    it("gives a management key all permissions in the default workspace", async () => {
      const { principal } = await call(exchangeKey, { key: organization.management_key });
      expect(principal).toMatchObject({
        keyKind: KeyKind.MANAGEMENT,
        organizationId: organization.organization_id,
        workspaceId: organization.workspace_id,
        permissions: ["presets:read", "presets:write"],
      });
    });

    it("ends a token no later than its key", async () => {
      const expiresAt = new Date(Date.now() + 20_000);
      const key = await store(newManagementKey({ ...owner, expiresAt }));
      const { expireTime } = await call(exchangeKey, { key: key.secret });
      expect(Number(expireTime?.seconds)).toBe(Math.floor(expiresAt.getTime() / 1000));
    });

    describe("refuses, with one and the same sentence,", () => {
      const keys: Record<string, () => Promise<string>> = {
        "an empty key": async () => "",
        "a malformed key": async () => "sk-sp-v1-short",
        "a key with a typo": async () => organization.api_key.replace(/.$/, (last) => (last === "x" ? "y" : "x")),
        "an unknown key": async () => keyFromBytes(Buffer.alloc(32, 1)),
        "a disabled key": async () => {
          const key = newManagementKey(owner);
          return (await store({ ...key, key: { ...key.key, disabled: true } })).secret;
        },
        "a revoked key": async () => {
          const { key, secret } = await store(newManagementKey(owner));
          await call(exchangeKey, { key: secret });
          await updateKeyRevoked(pool, key.id, new Date());
          return secret;
        },
        "an expired key": async () =>
          (await store(newManagementKey({ ...owner, expiresAt: new Date(Date.now() - 1) }))).secret,
      };
      it.each(Object.keys(keys))("%s", async (name) => {
        const key = (await keys[name]?.()) as string;
        expect(await failureOf(call(exchangeKey, { key }))).toEqual({
          code: Code.Unauthenticated,
          message: "This key is not valid. Check the key or create a new one.",
          reason: "KEY_INVALID",
          domain: "setpoint",
          violations: [],
        });
      });
    });

    it("takes the workspace that is requested where the key reaches it", async () => {
      const { management_key: management, api_key: api, workspace_id: own } = organization;
      const requested = await call(exchangeKey, { key: management, workspaceId: secondWorkspaceId });
      expect(requested.principal?.workspaceId).toBe(secondWorkspaceId);
      const spelledLoudly = await call(exchangeKey, { key: api, workspaceId: own.toUpperCase() });
      expect(spelledLoudly.principal?.workspaceId).toBe(own);
    });

    it.each([
      ["an API key's request for another workspace of its organization", "api_key", () => secondWorkspaceId],
      ["a management key's request for a workspace that is not there", "management_key", () => newId()],
      [
        "a management key's request for a workspace of another organization",
        "management_key",
        async () => (await newOrganization()).workspace_id,
      ],
      [
        "a management key's request for a deleted workspace",
        "management_key",
        async () => {
          const id = await newWorkspace(organization.organization_id);
          await deleteWorkspace(id);
          return id;
        },
      ],
    ] as const)("hides %s behind NOT_FOUND", async (_name, kind, workspaceIdOf) => {
      const request = { key: organization[kind], workspaceId: await workspaceIdOf() };
      expect(await failureOf(call(exchangeKey, request))).toMatchObject({
        code: Code.NotFound,
        reason: "WORKSPACE_NOT_FOUND",
      });
    });

    it("names the field where the workspace is not a UUID", async () => {
      const request = { key: organization.management_key, workspaceId: "default" };
      expect(await failureOf(call(exchangeKey, request))).toMatchObject({
        code: Code.InvalidArgument,
        reason: "INVALID_REQUEST",
        violations: [{ field: "workspace_id", description: "must be a UUID" }],
      });
    });

    it("leaves a deleted workspace out of the token, and the organization in", async () => {
      const gone = await newOrganization();
      await deleteWorkspace(gone.workspace_id);
      for (const key of [gone.api_key, gone.management_key]) {
        const { principal } = await call(exchangeKey, { key });
        expect(principal).toMatchObject({ organizationId: gone.organization_id, workspaceId: "" });
      }
    });

    it("leaves a deleted organization out of the token, with its workspaces", async () => {
      const gone = await newOrganization();
      await deleteOrganization(gone.organization_id);
      for (const key of [gone.api_key, gone.management_key]) {
        const { principal } = await call(exchangeKey, { key });
        expect(principal).toMatchObject({ organizationId: "", workspaceId: "" });
      }
      const request = { key: gone.management_key, workspaceId: gone.workspace_id };
      expect(await failureOf(call(exchangeKey, request))).toMatchObject({ reason: "WORKSPACE_NOT_FOUND" });
    });

    it("notes when the key was used, and does not wait for it", async () => {
      const { key, secret } = await store(newManagementKey(owner));
      await inTransaction(pool, async (connection) => {
        await connection.execute("SELECT id FROM api_keys WHERE id = ? FOR UPDATE", [idToBytes(key.id)]);
        await call(exchangeKey, { key: secret });
        await call(exchangeKey, { key: secret });
        expect((await findKey(pool, key.id))?.lastUsedAt).toBeUndefined();
      });
      await expect.poll(async () => (await findKey(pool, key.id))?.lastUsedAt).toBeInstanceOf(Date);
    });
  });

  describe("ListMembers", () => {
    const memberCount = 120;
    let organization: Bootstrapped;
    let token: string;

    beforeAll(async () => {
      organization = await newOrganization();
      const start = Date.now() + 1_000;
      // Pairs share a millisecond, and the last members are the oldest but for the admin.
      await addMembers(
        organization.organization_id,
        Array.from({ length: memberCount - 1 }, (_, index) => new Date(start - Math.floor(index / 2))),
      );
      await pool.execute("UPDATE memberships SET created_at = ? WHERE user_id = ?", [
        new Date(0),
        organization.admin_user_id,
      ]);
      token = await tokenFor(organization.management_key);
    });

    const list = (request: { offset?: number; limit?: number }) => call(listMembers, request, token);

    it("shows every field of a member", async () => {
      await pool.execute("UPDATE users SET first_name = 'Ada', last_name = 'Lovelace' WHERE id = ?", [
        organization.admin_user_id,
      ]);
      const { members } = await list({ limit: 2 });
      expect(members).toMatchObject([
        {
          id: organization.admin_user_id,
          firstName: "Ada",
          lastName: "Lovelace",
          role: MemberRole.ADMIN,
          createTime: { seconds: 0n, nanos: 0 },
        },
        { email: expect.stringMatching(/@example\.com$/), role: MemberRole.MEMBER },
      ]);
      expect(members[1]?.firstName).toBeUndefined();
      expect(members[1]?.lastName).toBeUndefined();
    });

    it("lists all members over pages, oldest membership first, then by id", async () => {
      const pages = await Promise.all([0, 50, 100].map((offset) => list({ offset, limit: 50 })));
      const members = pages.flatMap((page) => page.members);
      const keys = members.map(({ createTime, id }) => {
        const time = timestampDate(createTime as NonNullable<typeof createTime>).toISOString();
        return `${time} ${id}`;
      });
      expect(new Set(keys).size).toBe(memberCount);
      expect(keys).toEqual([...keys].sort());
    });

    it.each([
      ["50 by default", {}, 50],
      ["one", { limit: 1 }, 1],
      ["100", { limit: 100 }, 100],
      ["what is left at the end", { offset: 100, limit: 100 }, 20],
      ["the last one", { offset: 119, limit: 100 }, 1],
      ["none at the end", { offset: 120, limit: 100 }, 0],
      ["none far past the end", { offset: 2_147_483_647, limit: 100 }, 0],
    ])("returns %s, with the total", async (_name, request, length) => {
      const page = await list(request);
      expect(page.members).toHaveLength(length);
      expect(page.totalCount).toBe(memberCount);
    });

    it.each([
      [{ offset: -1 }, [{ field: "offset", description: "must be at least 0" }]],
      [{ limit: -1 }, [{ field: "limit", description: "must be at least 1" }]],
      [{ limit: 101 }, [{ field: "limit", description: "must be at most 100" }]],
      [
        { offset: -1, limit: 101 },
        [
          { field: "offset", description: "must be at least 0" },
          { field: "limit", description: "must be at most 100" },
        ],
      ],
    ])("refuses %j and names every field", async (request, violations) => {
      expect(await failureOf(list(request))).toMatchObject({
        code: Code.InvalidArgument,
        reason: "INVALID_REQUEST",
        violations,
      });
    });

    it("is for management keys alone", async () => {
      const apiToken = await tokenFor(organization.api_key);
      expect(await failureOf(call(listMembers, {}, apiToken))).toMatchObject({
        code: Code.PermissionDenied,
        reason: "MANAGEMENT_KEY_REQUIRED",
      });
    });

    it.each([
      ["no token", undefined, "TOKEN_MISSING"],
      ["garbage", "garbage", "TOKEN_INVALID"],
    ])("refuses %s", async (_name, wrongToken, reason) => {
      expect(await failureOf(call(listMembers, {}, wrongToken))).toMatchObject({ code: Code.Unauthenticated, reason });
    });

    it("takes a key for no token", async () => {
      expect(await failureOf(call(listMembers, {}, organization.management_key))).toMatchObject({
        code: Code.Unauthenticated,
        reason: "TOKEN_INVALID",
      });
    });

    it("shows no member of another organization", async () => {
      const other = await newOrganization();
      const page = await call(listMembers, {}, await tokenFor(other.management_key));
      expect(page.members.map(({ id }) => id)).toEqual([other.admin_user_id]);
      expect(page.totalCount).toBe(1);
    });

    it("finds no organization that was deleted, before the exchange or after", async () => {
      const gone = await newOrganization();
      const early = await tokenFor(gone.management_key);
      await deleteOrganization(gone.organization_id);
      const late = await tokenFor(gone.management_key);
      for (const each of [early, late]) {
        expect(await failureOf(call(listMembers, {}, each))).toMatchObject({
          code: Code.NotFound,
          reason: "ORGANIZATION_NOT_FOUND",
        });
      }
    });
  });

  describe("grpc.health.v1", () => {
    it.each(["", "setpoint.organization.v1.AccessService", "setpoint.organization.v1.OrganizationService"])(
      'says that "%s" is serving, without a token',
      async (name) => {
        expect(await call(HealthService.method.check, { service: name })).toMatchObject({ status: Serving.SERVING });
      },
    );

    it("knows no other service", async () => {
      expect(await failureOf(call(HealthService.method.check, { service: "x" }))).toMatchObject({
        code: Code.NotFound,
      });
    });
  });
});

describe("the pages for operators", () => {
  it.each([
    ["/healthz", 200, /"ok"/],
    ["/readyz", 200, /"ready"/],
    ["/metrics", 200, /setpoint_request_seconds_bucket/],
    ["/nowhere", 404, /not found/],
  ])("answers %s with %d", async (path, status, body) => {
    const response = await fetch(service.url + path);
    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(body);
  });

  it("counts calls by method and code", async () => {
    await failureOf(service.gRPC(exchangeKey, { key: "x" }));
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    const operation = "setpoint.organization.v1.AccessService/ExchangeKey";
    expect(metrics).toContain(`operation="${operation}",outcome="UNAUTHENTICATED"`);
  });

  it("publishes the public keys and nothing private", async () => {
    const response = await fetch(`${service.url}/.well-known/jwks.json`);
    expect(response.headers.get("content-type")).toBe("application/json");
    const { keys } = (await response.json()) as { keys: object[] };
    expect(keys).toEqual([
      {
        kty: "EC",
        crv: "P-256",
        x: expect.any(String),
        y: expect.any(String),
        kid: expect.any(String),
        alg: "ES256",
        use: "sig",
      },
    ]);
  });
});

describe("a database out of reach", () => {
  it("makes calls fail with UNAVAILABLE, so that callers try again", async () => {
    const stranded = await startService({
      ORGANIZATION_DATABASE_URL: "mysql://root@127.0.0.1:1/setpoint_organization",
      SIGNING_KEY: oldPem,
    });
    try {
      const failure = await failureOf(stranded.gRPC(exchangeKey, { key: keyFromBytes(Buffer.alloc(32)) }));
      expect(failure).toMatchObject({ code: Code.Unavailable, reason: "UNAVAILABLE" });
      expect((await fetch(`${stranded.url}/readyz`)).status).toBe(503);
    } finally {
      await stranded.close();
    }
  });
});

describe("a database without the schema", () => {
  it("keeps the service from becoming ready until it is migrated, and watchers are told", async () => {
    const empty = await createTestDatabase();
    const waiting = await startService({ ORGANIZATION_DATABASE_URL: empty.url, SIGNING_KEY: oldPem });
    try {
      const readiness = await fetch(`${waiting.url}/readyz`);
      expect(readiness.status).toBe(503);
      expect(await readiness.json()).toMatchObject({ reason: expect.stringContaining("run the migrate command") });
      expect((await fetch(`${waiting.url}/healthz`)).status).toBe(200);

      const statuses = waiting.watchHealth();
      await expect.poll(() => statuses).toEqual([Serving.NOT_SERVING]);
      await migrate(empty.url, organizationMigrations, () => {});
      await expect.poll(() => statuses, { timeout: 5_000 }).toEqual([Serving.NOT_SERVING, Serving.SERVING]);
      expect((await fetch(`${waiting.url}/readyz`)).status).toBe(200);
    } finally {
      await waiting.close();
      await empty.drop();
    }
  });
});

describe("a rotation of the signing key", () => {
  it("loses no token: the services learn the new key, and the old one stays good until it is taken out", async () => {
    const organization = await newOrganization();
    let jwksUrl = `${service.url}/.well-known/jwks.json`;
    const verifier = new AccessTokenVerifier(() => jwksFrom(jwksUrl)());
    const oldToken = await tokenFor(organization.management_key);
    const { keyId } = await verifier.authenticate(`Bearer ${oldToken}`);

    const rotated = await startService({ ORGANIZATION_DATABASE_URL: database.url, SIGNING_KEY: newPem + oldPem });
    try {
      jwksUrl = `${rotated.url}/.well-known/jwks.json`;
      const { accessToken: newToken } = await rotated.gRPC(exchangeKey, { key: organization.management_key });
      // Made-up key ids must not make a service fetch all the time, so it fetches once a second at most.
      await sleep(1_100);
      expect((await verifier.authenticate(`Bearer ${newToken}`)).keyId).toBe(keyId);
      expect((await rotated.verifier().authenticate(`Bearer ${oldToken}`)).keyId).toBe(keyId);
      expect((await rotated.gRPC(listMembers, {}, oldToken)).totalCount).toBe(1);
      expect((await rotated.gRPC(listMembers, {}, newToken)).totalCount).toBe(1);
      // A process that was not rolled out yet does not know the new key: that is why it is published first.
      expect(await failureOf(service.gRPC(listMembers, {}, newToken))).toMatchObject({ reason: "TOKEN_INVALID" });
    } finally {
      await rotated.close();
    }
  });
});

type Call = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  token?: string,
) => Promise<MessageShape<O>>;

/** What a caller learns from an error, whichever protocol brought it. */
interface Failure {
  readonly code: Code;
  readonly message: string;
  readonly reason: string | undefined;
  readonly domain: string | undefined;
  readonly violations: readonly { field: string; description: string }[];
}

interface RunningService {
  readonly url: string;
  readonly gRPC: Call;
  readonly Connect: Call;
  /** A verifier as another service has it. */
  readonly verifier: () => AccessTokenVerifier;
  /** The statuses that a watcher has been told so far. */
  readonly watchHealth: () => Serving[];
  readonly close: () => Promise<void>;
}

async function startService(environment: Record<string, string>): Promise<RunningService> {
  const ports = {
    ORGANIZATION_GRPC_PORT: "0",
    ORGANIZATION_HTTP_PORT: "0",
    HOST: "127.0.0.1",
    DRAIN_TIMEOUT_MS: "500",
  };
  const logger = silentLogger();
  const lifecycle = new Lifecycle(logger);
  const bound = await openOrganizationService(readOrganizationConfig({ ...ports, ...environment }), logger, lifecycle);
  const url = `http://127.0.0.1:${bound.http}`;
  const client = new Client(`127.0.0.1:${bound.grpc}`, credentials.createInsecure());
  return {
    url,
    gRPC: grpcCall(client),
    Connect: connectCall(url),
    verifier: () => new AccessTokenVerifier(jwksFrom(`${url}/.well-known/jwks.json`)),
    watchHealth: () => watchHealth(client),
    close: async () => {
      client.close();
      await lifecycle.close();
    },
  };
}

function grpcCall(client: Client): Call {
  return (method, request, token) => {
    const { path, requestSerialize, responseDeserialize } = grpcDefinitionOf(method);
    const metadata = new Metadata();
    if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
    const message = create(method.input, request);
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, metadata, (error, response) =>
        error ? reject(failureFromGrpc(error)) : resolve(response as MessageShape<typeof method.output>),
      );
    });
  };
}

function connectCall(baseUrl: string): Call {
  const transport = createConnectTransport({ baseUrl, httpVersion: "1.1" });
  return async (method, request, token) => {
    const header = token === undefined ? {} : { authorization: `Bearer ${token}` };
    try {
      return (await transport.unary(method, undefined, undefined, header, request)).message;
    } catch (error) {
      throw failureFromConnect(error as ConnectError);
    }
  };
}

function watchHealth(client: Client): Serving[] {
  const method = HealthService.method.watch;
  const { path, requestSerialize, responseDeserialize } = grpcDefinitionOf(method);
  const statuses: Serving[] = [];
  const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, create(method.input, {}));
  stream.on("data", ({ status }: HealthCheckResponse) => statuses.push(status));
  stream.on("error", () => {});
  return statuses;
}

function failureFromGrpc(error: ServiceError): Failure {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  const { details } = fromBinary(StatusSchema, bytes as Buffer);
  const info = details.map((detail) => anyUnpack(detail, ErrorInfoSchema)).find(Boolean);
  const badRequest = details.map((detail) => anyUnpack(detail, BadRequestSchema)).find(Boolean);
  return failure(error.code as number, error.details, info, badRequest);
}

function failureFromConnect(error: ConnectError): Failure {
  const [info] = error.findDetails(ErrorInfoSchema);
  const [badRequest] = error.findDetails(BadRequestSchema);
  return failure(error.code, error.rawMessage, info, badRequest);
}

function failure(
  code: Code,
  message: string,
  info: MessageShape<typeof ErrorInfoSchema> | undefined,
  badRequest: MessageShape<typeof BadRequestSchema> | undefined,
): Failure {
  const violations = badRequest?.fieldViolations.map(({ field, description }) => ({ field, description })) ?? [];
  return { code, message, reason: info?.reason, domain: info?.domain, violations };
}

function failureOf(call: Promise<unknown>): Promise<Failure> {
  return call.then(
    () => Promise.reject(new Error("the call succeeded")),
    (failure: Failure) => failure,
  );
}

interface Bootstrapped {
  readonly organization_id: string;
  readonly workspace_id: string;
  readonly admin_user_id: string;
  readonly api_key: string;
  readonly management_key: string;
}

async function newOrganization(): Promise<Bootstrapped> {
  const name = newId();
  let printed = "";
  await bootstrap(pool, ["--organization", name, "--admin-email", `${name}@example.com`, "--json"], (text) => {
    printed = text;
  });
  return JSON.parse(printed);
}

async function newWorkspace(organizationId: string): Promise<string> {
  const id = newId();
  await insertWorkspace(pool, { id, organizationId, name: "Another" }, new Date());
  return id;
}

async function addMembers(organizationId: string, times: readonly Date[]): Promise<void> {
  await inTransaction(pool, async (connection) => {
    for (const createdAt of times) {
      const user = { email: `${newId()}@example.com`, firstName: undefined, lastName: undefined, createdAt };
      const userId = await findOrInsertUser(connection, user);
      await insertMembership(connection, { organizationId, userId, role: "org:member", createdAt });
    }
  });
}

async function tokenFor(key: string): Promise<string> {
  return (await service.gRPC(exchangeKey, { key })).accessToken;
}

async function deleteWorkspace(id: string): Promise<void> {
  await pool.execute("UPDATE workspaces SET deleted_at = ? WHERE id = ?", [new Date(), idToBytes(id)]);
}

async function deleteOrganization(id: string): Promise<void> {
  await pool.execute("UPDATE organizations SET deleted_at = ? WHERE id = ?", [new Date(), idToBytes(id)]);
}

function newPrivateKeyPem(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}
