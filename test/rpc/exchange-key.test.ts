import { timestampMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KeyKind } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { findKeyAnywhere } from "../../services/organization/store/keys.ts";
import { AccessTokenVerifier } from "../../services/platform/auth/access-token.ts";
import { keyFromBytes } from "../../services/platform/auth/key-format.ts";
import { jwksFrom } from "../../services/platform/auth/key-set.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { inTransaction } from "../../services/platform/mysql/transaction.ts";
import { failureOf } from "../support/failures.ts";
import { openRpcCalls, type RpcCalls } from "../support/rpc-calls.ts";
import { type Stack, startStack } from "../support/stack.ts";

const { exchangeKey, getWorkspaceState } = AccessService.method;

let stack: Stack;
let calls: RpcCalls;
let secondWorkspaceId: string;

beforeAll(async () => {
  stack = await startStack();
  calls = openRpcCalls(stack.organization.config);
  secondWorkspaceId = await stack.tenants.createWorkspace(stack);
});

afterAll(async () => {
  calls.close();
  await stack.close();
});

describe.each(["gRPC", "Connect"] as const)("ExchangeKey over %s", (protocol) => {
  const exchange = (key: string, workspaceId?: string) =>
    calls[protocol](exchangeKey, workspaceId === undefined ? { key } : { key, workspaceId });

  it("returns a token for an API key's own workspace", async () => {
    const before = Date.now();
    const { accessToken, expireTime, expiresInSeconds, principal } = await exchange(stack.apiKey);
    expect(expiresInSeconds).toBe(60);
    const { userId, organizationId, workspaceId } = stack;
    const permissions = ["presets:read", "presets:write", "inference"];
    expect(principal).toMatchObject({ keyKind: KeyKind.API, userId, organizationId, workspaceId, permissions });
    const expiresAtMs = timestampMs(expireTime as NonNullable<typeof expireTime>);
    expect(expiresAtMs - before).toBeGreaterThan(58_000);
    expect(expiresAtMs - Date.now()).toBeLessThan(61_000);
    const jwksUrl = `http://127.0.0.1:${stack.organization.config.httpPort}/.well-known/jwks.json`;
    expect(await new AccessTokenVerifier(jwksFrom(jwksUrl)).authenticate(`Bearer ${accessToken}`)).toEqual({
      keyId: principal?.keyId,
      keyKind: "api",
      userId,
      organizationId,
      workspaceId,
      permissions,
    });
  });

  it("returns only the permissions of a read-only key", async () => {
    const reach = { workspaceId: secondWorkspaceId, permissions: ["presets:read"] } as const;
    const { principal } = await exchange((await stack.tenants.createKey(stack, reach)).secret);
    expect(principal).toMatchObject(reach);
  });

  it("returns all permissions but inference for a management key, in the default workspace", async () => {
    const { principal } = await exchange(stack.managementKey);
    expect(principal).toMatchObject({
      keyKind: KeyKind.MANAGEMENT,
      organizationId: stack.organizationId,
      workspaceId: stack.workspaceId,
      permissions: ["presets:read", "presets:write"],
    });
  });

  it("does not let a token outlive its key", async () => {
    const expiresAt = new Date(Date.now() + 20_000);
    const { expireTime } = await exchange((await stack.tenants.createKey(stack, { expiresAt })).secret);
    expect(Number(expireTime?.seconds)).toBe(Math.floor(expiresAt.getTime() / 1000));
  });

  it("returns the remaining lifetime of a key that expires", async () => {
    expect((await exchange(stack.apiKey)).keyExpiresInSeconds).toBeUndefined();
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { keyExpiresInSeconds } = await exchange((await stack.tenants.createKey(stack, { expiresAt })).secret);
    expect(keyExpiresInSeconds).toBeGreaterThan(3_590);
    expect(keyExpiresInSeconds).toBeLessThanOrEqual(3_600);
  });

  describe("returns the same error for", () => {
    const keys: Record<string, () => Promise<string>> = {
      "an empty key": async () => "",
      "a malformed key": async () => "sk-sp-v1-short",
      "a key with a typo": async () => stack.apiKey.replace(/.$/, (last) => (last === "x" ? "y" : "x")),
      "an unknown key": async () => keyFromBytes(Buffer.alloc(32, 1)),
      "a disabled key": async () => (await stack.tenants.createKey(stack, { disabled: true })).secret,
      "a revoked key": async () => {
        const key = await stack.tenants.createKey(stack);
        await exchange(key.secret);
        await stack.tenants.revokeKey(key);
        return key.secret;
      },
      "an expired key": async () =>
        (await stack.tenants.createKey(stack, { expiresAt: new Date(Date.now() - 1) })).secret,
    };
    it.each(Object.keys(keys))("%s", async (name) => {
      const key = (await keys[name]?.()) as string;
      expect(await failureOf(exchange(key))).toEqual({
        code: "UNAUTHENTICATED",
        message: "This key is not valid. Check the key or create a new one.",
        reason: "KEY_INVALID",
        domain: "setpoint",
        violations: [],
      });
    });
  });

  it("uses the requested workspace if the key has access to it", async () => {
    const requested = await exchange(stack.managementKey, secondWorkspaceId);
    expect(requested.principal?.workspaceId).toBe(secondWorkspaceId);
    const spelledLoudly = await exchange(stack.apiKey, stack.workspaceId.toUpperCase());
    expect(spelledLoudly.principal?.workspaceId).toBe(stack.workspaceId);
  });

  it.each([
    ["an API key's request for another workspace of its organization", "apiKey", () => secondWorkspaceId],
    ["a management key's request for a missing workspace", "managementKey", () => newId()],
    [
      "a management key's request for a workspace of another organization",
      "managementKey",
      async () => (await stack.tenants.createOrganization()).workspaceId,
    ],
    [
      "a management key's request for a deleted workspace",
      "managementKey",
      async () => {
        const id = await stack.tenants.createWorkspace(stack);
        await stack.tenants.deleteWorkspace(id);
        return id;
      },
    ],
  ] as const)("hides %s behind NOT_FOUND", async (_name, kind, workspaceIdOf) => {
    expect(await failureOf(exchange(stack[kind], await workspaceIdOf()))).toMatchObject({
      code: "NOT_FOUND",
      reason: "WORKSPACE_NOT_FOUND",
    });
  });

  it("names the field if the workspace is not a UUID", async () => {
    expect(await failureOf(exchange(stack.managementKey, "default"))).toMatchObject({
      code: "INVALID_ARGUMENT",
      reason: "INVALID_REQUEST",
      violations: [{ field: "workspace_id", description: "must be a UUID" }],
    });
  });

  it("omits a deleted workspace from the token but keeps the organization", async () => {
    const gone = await stack.tenants.createOrganization();
    await stack.tenants.deleteWorkspace(gone.workspaceId);
    for (const key of [gone.apiKey, gone.managementKey]) {
      const { principal } = await exchange(key);
      expect(principal).toMatchObject({ organizationId: gone.organizationId, workspaceId: "" });
    }
  });

  it("omits a deleted organization and its workspaces from the token", async () => {
    const gone = await stack.tenants.createOrganization();
    await stack.tenants.deleteOrganization(gone);
    for (const key of [gone.apiKey, gone.managementKey]) {
      const { principal } = await exchange(key);
      expect(principal).toMatchObject({ organizationId: "", workspaceId: "" });
    }
    expect(await failureOf(exchange(gone.managementKey, gone.workspaceId))).toMatchObject({
      reason: "WORKSPACE_NOT_FOUND",
    });
  });

  it("records when the key was used, without waiting for the write", async () => {
    const { key, secret } = await stack.tenants.createKey(stack);
    const lastUse = async () => (await findKeyAnywhere(stack.organizationPool, key.id))?.lastUsedAt;
    await inTransaction(stack.organizationPool, async (connection) => {
      await connection.execute("SELECT id FROM api_keys WHERE id = ? FOR UPDATE", [idToBytes(key.id)]);
      await exchange(secret);
      await exchange(secret);
      expect(await lastUse()).toBeUndefined();
    });
    await expect.poll(lastUse).toBeInstanceOf(Date);
  });
});

describe("GetWorkspaceState", () => {
  const state = (workspaceId: string) => calls.gRPC(getWorkspaceState, { workspaceId });

  it("tells whether a workspace or its organization was deleted", async () => {
    const tenant = await stack.tenants.createOrganization();
    const workspaceId = await stack.tenants.createWorkspace(tenant);
    expect(await state(workspaceId)).toMatchObject({ isDeleted: false });
    await stack.tenants.deleteWorkspace(workspaceId);
    expect(await state(workspaceId.toUpperCase())).toMatchObject({ isDeleted: true });
    expect(await state(tenant.workspaceId)).toMatchObject({ isDeleted: false });
    await stack.tenants.deleteOrganization(tenant);
    expect(await state(tenant.workspaceId)).toMatchObject({ isDeleted: true });
  });

  it("returns NOT_FOUND for a workspace that never existed", async () => {
    expect(await failureOf(state(newId()))).toMatchObject({ code: "NOT_FOUND", reason: "WORKSPACE_NOT_FOUND" });
  });
});
