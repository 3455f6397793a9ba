import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type HealthCheckResponse,
  Health as HealthService,
  HealthCheckResponse_ServingStatus as Serving,
} from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { openOrganizationService, organizationMigrations } from "../../services/organization/app.ts";
import { readOrganizationConfig } from "../../services/organization/config.ts";
import { AccessTokenVerifier } from "../../services/platform/auth/access-token.ts";
import { keyFromBytes } from "../../services/platform/auth/key-format.ts";
import { jwksFrom } from "../../services/platform/auth/key-set.ts";
import { migrate } from "../../services/platform/mysql/migrate.ts";
import { openPool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { createTestDatabase, isSharded, type TestDatabase } from "../support/database.ts";
import { failureOf } from "../support/failures.ts";
import { grpcDefinitionOf } from "../support/grpc-definition.ts";
import { createOrganizationDatabase } from "../support/organization-database.ts";
import { openRpcCalls, type RpcCalls } from "../support/rpc-calls.ts";
import { newSigningKeyPem } from "../support/stack.ts";
import { Tenants } from "../support/tenants.ts";

const [oldPem, newPem] = [newSigningKeyPem(), newSigningKeyPem()];
const { exchangeKey } = AccessService.method;
const { listMembers } = OrganizationService.method;

let database: TestDatabase;
let service: RunningService;

beforeAll(async () => {
  database = await createOrganizationDatabase();
  service = await startService(database.url, oldPem);
});

afterAll(async () => {
  await service.close();
  await database.drop();
});

describe.each(["gRPC", "Connect"] as const)("grpc.health.v1 over %s", (protocol) => {
  const check = (name: string) => service.calls[protocol](HealthService.method.check, { service: name });

  it.each(["", "setpoint.organization.v1.AccessService", "setpoint.organization.v1.OrganizationService"])(
    'reports "%s" as serving, without a token',
    async (name) => {
      expect(await check(name)).toMatchObject({ status: Serving.SERVING });
    },
  );

  it("returns NOT_FOUND for any other service", async () => {
    expect(await failureOf(check("x"))).toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("the HTTP port", () => {
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
    await failureOf(service.calls.gRPC(exchangeKey, { key: "x" }));
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    const operation = "setpoint.organization.v1.AccessService/ExchangeKey";
    expect(metrics).toContain(`operation="${operation}",outcome="UNAUTHENTICATED"`);
  });

  it("publishes the public signing keys and nothing private", async () => {
    const response = await fetch(service.jwksUrl);
    expect(response.headers.get("content-type")).toBe("application/json");
    const { keys } = (await response.json()) as { keys: object[] };
    const text = expect.any(String);
    expect(keys).toEqual([{ kty: "EC", crv: "P-256", x: text, y: text, kid: text, alg: "ES256", use: "sig" }]);
  });
});

describe("an unreachable database", () => {
  it("makes calls fail with UNAVAILABLE, so that callers retry", async () => {
    const stranded = await startService("mysql://root@127.0.0.1:1/setpoint_organization", oldPem);
    try {
      const failure = await failureOf(stranded.calls.gRPC(exchangeKey, { key: keyFromBytes(Buffer.alloc(32)) }));
      expect(failure).toMatchObject({ code: "UNAVAILABLE", reason: "UNAVAILABLE" });
      expect((await fetch(`${stranded.url}/readyz`)).status).toBe(503);
    } finally {
      await stranded.close();
    }
  });
});

describe("a slow database", () => {
  it.skipIf(isSharded)("aborts a read that nobody waits for any more", async () => {
    const slow = await createOrganizationDatabase();
    const pool = openPool(slow.url, 1);
    const waiting = await startService(slow.url, oldPem);
    const running = async () => {
      const [rows] = await pool.query<RowDataPacket[]>("SHOW FULL PROCESSLIST");
      return rows.filter(({ db, Info }) => db === slow.name && Info?.includes("api_keys")).map(({ Id }) => Number(Id));
    };
    try {
      const { managementKey: key } = await new Tenants(pool).createOrganization();
      await pool.query("CREATE TABLE hundred (n INT PRIMARY KEY)");
      await pool.query(`INSERT INTO hundred VALUES ${Array.from({ length: 100 }, (_, n) => `(${n})`).join(", ")}`);
      await pool.query("RENAME TABLE api_keys TO stored_keys");
      // It counts ten billion rows first.
      const hundreds = ["a", "b", "c", "d", "e"].map((name) => `hundred ${name}`).join(", ");
      await pool.query(
        `CREATE VIEW api_keys AS SELECT * FROM stored_keys WHERE (SELECT SUM(a.n) FROM ${hundreds}) > 0`,
      );
      const failure = failureOf(waiting.calls.gRPC(exchangeKey, { key }));
      await expect.poll(running, { interval: 20 }).toHaveLength(1);
      expect(await failure).toMatchObject({ code: "UNAVAILABLE" });
      await expect.poll(running).toEqual([]);
    } finally {
      for (const id of await running()) await pool.query("KILL ?", [id]);
      await waiting.close();
      await pool.end();
      await slow.drop();
    }
  });
});

describe("a database without the schema", () => {
  it("keeps the service not ready until it is migrated, and watchers are notified", async () => {
    const empty = await createTestDatabase();
    const waiting = await startService(empty.url, oldPem);
    const client = new Client(`127.0.0.1:${waiting.grpcPort}`, credentials.createInsecure());
    try {
      const readiness = await fetch(`${waiting.url}/readyz`);
      expect(readiness.status).toBe(503);
      expect(await readiness.json()).toMatchObject({ reason: expect.stringContaining("run the migrate command") });
      expect((await fetch(`${waiting.url}/healthz`)).status).toBe(200);

      const statuses = watchHealth(client);
      await expect.poll(() => statuses).toEqual([Serving.NOT_SERVING]);
      await migrate(empty.url, organizationMigrations, () => {});
      await expect.poll(() => statuses).toEqual([Serving.NOT_SERVING, Serving.SERVING]);
      expect((await fetch(`${waiting.url}/readyz`)).status).toBe(200);
    } finally {
      client.close();
      await waiting.close();
      await empty.drop();
    }
  });
});

describe("a signing key rotation", () => {
  it("invalidates no token until the old key is removed", async () => {
    const pool = openPool(database.url, 1);
    const { managementKey: key } = await new Tenants(pool).createOrganization();
    await pool.end();
    let { jwksUrl } = service;
    const verifier = new AccessTokenVerifier(() => jwksFrom(jwksUrl)());
    const { accessToken: oldToken } = await service.calls.gRPC(exchangeKey, { key });
    const { keyId } = await verifier.authenticate(`Bearer ${oldToken}`);

    const rotated = await startService(database.url, newPem + oldPem);
    try {
      jwksUrl = rotated.jwksUrl;
      const { accessToken: newToken } = await rotated.calls.gRPC(exchangeKey, { key });
      // Made-up key ids must not make a service fetch constantly, so it fetches at most once a second.
      await sleep(1_100);
      expect((await verifier.authenticate(`Bearer ${newToken}`)).keyId).toBe(keyId);
      const fresh = new AccessTokenVerifier(jwksFrom(jwksUrl));
      expect((await fresh.authenticate(`Bearer ${oldToken}`)).keyId).toBe(keyId);
      for (const token of [oldToken, newToken]) {
        expect((await rotated.calls.gRPC(listMembers, {}, token)).totalCount).toBe(1);
      }
      // A process that was not rolled out yet does not know the new key, which is why it is published first.
      expect(await failureOf(service.calls.gRPC(listMembers, {}, newToken))).toMatchObject({ reason: "TOKEN_INVALID" });
    } finally {
      await rotated.close();
    }
  });
});

interface RunningService {
  readonly url: string;
  readonly jwksUrl: string;
  readonly grpcPort: number;
  readonly calls: RpcCalls;
  readonly close: () => Promise<void>;
}

async function startService(databaseUrl: string, signingKey: string): Promise<RunningService> {
  const config = readOrganizationConfig({
    ORGANIZATION_DATABASE_URL: databaseUrl,
    SIGNING_KEY: signingKey,
    ORGANIZATION_GRPC_PORT: "0",
    ORGANIZATION_HTTP_PORT: "0",
    HOST: "127.0.0.1",
    DRAIN_TIMEOUT_MS: "500",
  });
  const logger = silentLogger();
  const lifecycle = new Lifecycle(logger);
  const { grpc: grpcPort, http: httpPort } = await openOrganizationService(config, logger, lifecycle);
  const url = `http://127.0.0.1:${httpPort}`;
  const calls = openRpcCalls({ grpcPort, httpPort });
  return {
    url,
    jwksUrl: `${url}/.well-known/jwks.json`,
    grpcPort,
    calls,
    close: async () => {
      calls.close();
      await lifecycle.close();
    },
  };
}

/** The statuses that a watcher has received so far. */
function watchHealth(client: Client): Serving[] {
  const method = HealthService.method.watch;
  const { path, requestSerialize, responseDeserialize } = grpcDefinitionOf(method);
  const statuses: Serving[] = [];
  const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, create(method.input, {}));
  stream.on("data", ({ status }: HealthCheckResponse) => statuses.push(status));
  stream.on("error", () => {});
  return statuses;
}
