import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseSigningKeys } from "../../services/organization/domain/signing-keys.ts";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import type { RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { inTransaction } from "../../services/platform/mysql/transaction.ts";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { expectError } from "../support/error-answers.ts";
import { freshName } from "../support/fresh-name.ts";
import { type Answer, request } from "../support/rest.ts";
import { openSecondGateway } from "../support/second-processes.ts";
import { newSigningKeyPem, type Stack, startStack } from "../support/stack.ts";

/** Short, because the gateway retries until the timeout of a request. */
const gateway = { requestTimeoutMs: 2_500 };
let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ gateway });
});

afterAll(() => stack.close());

function expectTerseError(answer: Answer<unknown>, code: number): void {
  expectError(answer, code);
  expect(answer.headers.get("retry-after")).toBe(code === 503 ? "1" : null);
  // Nothing about what is behind the gateway.
  expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONN|mysql|SQL|table|stack|grpc|UNAVAILABLE/i);
}

function listMembers(key: string) {
  return stack.request("GET", "/organization/members", { key });
}

async function versionCount(slug: string): Promise<number> {
  const [rows] = await stack.presetPool.execute<RowDataPacket[]>(
    `SELECT COUNT(*) AS count FROM preset_versions v JOIN presets p ON p.workspace_id = v.workspace_id AND p.id = v.preset_id
      WHERE p.workspace_id = ? AND p.slug = ?`,
    [idToBytes(stack.workspaceId), slug],
  );
  return rows[0]?.count;
}

describe("a new gateway", () => {
  it.each([
    ["preset", "presetTarget"],
    ["organization", "organizationTarget"],
  ] as const)("is not ready before the %s service has been", async (name, target) => {
    const lifecycle = new Lifecycle(silentLogger());
    try {
      // Nobody listens there.
      const baseUrl = await openSecondGateway(stack, lifecycle, { [target]: "127.0.0.1:1" });
      const readiness = () => request("GET", `${baseUrl}/readyz`);
      await expect.poll(async () => (await readiness()).text).toContain(`the ${name} service is not ready`);
      expect((await readiness()).status).toBe(503);
    } finally {
      await lifecycle.shutDown(0);
    }
  });
});

describe("without the preset service", () => {
  it("returns 503 with Retry-After for creations only, until it is back", async () => {
    await expect.poll(async () => (await request("GET", `${stack.baseUrl}/readyz`)).status).toBe(200);
    await stack.preset.stop();
    try {
      expectTerseError(await stack.create("preset-gone"), 503);
      expect((await listMembers(stack.managementKey)).status).toBe(200);
      await expect.poll(async () => (await request("GET", `${stack.baseUrl}/readyz`)).status).toBe(200);
    } finally {
      await stack.preset.start();
    }
    await expect.poll(async () => (await stack.create("preset-gone")).status).toBe(200);
  });

  it("holds a creation until the service is back, within its timeout", async () => {
    const slug = freshName("waited");
    await stack.gateway.stop();
    await stack.gateway.start({ requestTimeoutMs: 30_000 });
    await stack.preset.stop();
    const creation = stack.create(slug);
    await stack.preset.start();
    expect((await creation).status).toBe(200);
    expect(await versionCount(slug)).toBe(1);
    await stack.gateway.stop();
    await stack.gateway.start(gateway);
  });

  it("returns 409 for a locked preset even if the service was away at first, so that nothing was sent", async () => {
    const slug = freshName("locked");
    await stack.create(slug);
    await stack.gateway.stop();
    await stack.gateway.start({ requestTimeoutMs: 30_000 });
    await stack.preset.stop();
    const lock = "SELECT slug FROM presets WHERE workspace_id = ? AND slug = ? FOR UPDATE";
    const answer = await inTransaction(stack.presetPool, async (connection) => {
      await connection.execute(lock, [idToBytes(stack.workspaceId), slug]);
      const creation = stack.create(slug);
      await stack.preset.start();
      return creation;
    });
    await stack.gateway.stop();
    await stack.gateway.start(gateway);
    expectTerseError(answer, 409);
  });
});

describe("without the organization service", () => {
  it("serves keys with a cached token, and returns 503 (not 401) for others", async () => {
    const warm = await stack.tenants.createKey(stack);
    const cold = await stack.tenants.createKey(stack, { kind: "management" });
    expect((await stack.create("organization-gone", undefined, { key: warm.secret })).status).toBe(200);
    await stack.organization.stop();
    try {
      expect((await stack.create("organization-gone", undefined, { key: warm.secret })).status).toBe(200);
      expectTerseError(await stack.create("organization-gone", undefined, { key: cold.secret }), 503);
      expectTerseError(await listMembers(cold.secret), 503);
      // A malformed key is rejected without asking anyone.
      expectTerseError(await stack.create("organization-gone", undefined, { key: "x" }), 401);
    } finally {
      await stack.organization.start();
    }
    await expect.poll(async () => (await listMembers(cold.secret)).status).toBe(200);
  });
});

describe("a preset locked by another transaction", () => {
  it("makes a creation fail in time, without being stored later", async () => {
    const slug = freshName("locked");
    await stack.create(slug);
    const connection = await stack.presetPool.getConnection();
    await connection.query("START TRANSACTION");
    await connection.query("SELECT slug FROM presets WHERE slug = ? FOR UPDATE", [slug]);
    const startedAt = Date.now();
    expectTerseError(await stack.create(slug), 503);
    expect(Date.now() - startedAt).toBeLessThan(2 * gateway.requestTimeoutMs);
    await connection.query("ROLLBACK");
    connection.release();
    // Had the first been stored, this one would follow it.
    expect((await stack.create(slug)).json.data.designated_version.version).toBe(2);
    expect(await versionCount(slug)).toBe(2);
  });
});

describe("an internal error", () => {
  it("returns 500 with only the request id, and logs the details", async () => {
    const slug = freshName("fault");
    await stack.presetPool.query("RENAME TABLE preset_versions TO preset_versions_away");
    let answer: Answer;
    try {
      answer = await stack.create(slug);
      expectTerseError(answer, 500);
    } finally {
      await stack.presetPool.query("RENAME TABLE preset_versions_away TO preset_versions");
    }
    const requestId = answer.json.error.metadata.request_id;
    const lines = stack
      .log()
      .split("\n")
      .filter((line) => line.includes(requestId));
    expect(lines.join("\n")).toMatch(/preset_versions' doesn't exist/);
    expect((await stack.create(slug)).json.data.designated_version.version).toBe(1);
  });
});

describe("a service that rejects the gateway's tokens", () => {
  let jwksServer: Server;
  let estranged: Stack;

  beforeAll(async () => {
    const [{ jwk }] = parseSigningKeys(newSigningKeyPem(), "test");
    jwksServer = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] }))).listen(0, "127.0.0.1");
    await new Promise((resolve) => jwksServer.once("listening", resolve));
    const { port } = jwksServer.address() as AddressInfo;
    estranged = await startStack({
      gateway,
      preset: { organizationTarget: undefined, jwksUrl: `http://127.0.0.1:${port}` },
    });
  });

  afterAll(async () => {
    await estranged.close();
    jwksServer.close();
  });

  it("makes a creation return 503, not 401", async () => {
    expectTerseError(await estranged.create("estranged"), 503);
    expectTerseError(await estranged.create("estranged", undefined, { key: "wrong" }), 401);
  });
});

describe("a service that cannot fetch the token keys", () => {
  it("makes a creation return 503", async () => {
    const deaf = await startStack({ gateway, preset: { organizationTarget: "127.0.0.1:1" } });
    expectTerseError(await deaf.create("deaf"), 503);
    await deaf.close();
  });
});
