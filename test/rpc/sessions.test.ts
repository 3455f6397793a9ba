import { randomBytes } from "node:crypto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KeyKind } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { SessionService } from "../../proto/gen/setpoint/organization/v1/session_service_pb.ts";
import { createConsoleTicket } from "../../services/organization/commands/create-console-ticket.ts";
import { hashKey, newSecret } from "../../services/organization/domain/keys.ts";
import { createSession as storeSession } from "../../services/organization/store/create-session.ts";
import { updateKeyRow, updateKeySecret } from "../../services/organization/store/keys.ts";
import { updateSessionsLastUsed } from "../../services/organization/store/sessions.ts";
import { keyFromBytes, secretFromBytes } from "../../services/platform/auth/key-format.ts";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import { CommandError } from "../../services/platform/process/command-error.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { failureOf } from "../support/failures.ts";
import { openRpcCalls, type RpcCalls } from "../support/rpc-calls.ts";
import { type Stack, startStack } from "../support/stack.ts";

const { exchangeKey } = AccessService.method;
const { createSession, getSession, deleteSession } = SessionService.method;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

let stack: Stack;
let calls: RpcCalls;

beforeAll(async () => {
  stack = await startStack();
  calls = openRpcCalls(stack.organization.config);
});

afterAll(async () => {
  calls.close();
  await stack.close();
});

const signIn = (key: string, secretSeed = new Uint8Array()) =>
  calls.gRPC(createSession, { credential: { case: "key", value: key }, secretSeed });
const useTicket = (ticket: string, secretSeed = new Uint8Array()) =>
  calls.gRPC(createSession, { credential: { case: "ticket", value: ticket }, secretSeed });
const exchange = (key: string, workspaceId = "") => calls.gRPC(exchangeKey, { key, workspaceId });
const ticketFor = async (key: string) =>
  (await createConsoleTicket.read(["--key", key])(stack.organizationPool)).replace("/console/#ticket=", "");

const sessionInvalid = { code: "UNAUTHENTICATED", reason: "SESSION_INVALID" };
const ticketInvalid = { code: "UNAUTHENTICATED", reason: "TICKET_INVALID" };

type MadeKey = Awaited<ReturnType<Stack["tenants"]["createKey"]>>;

/** Rotates a key. The previous secret works until then, or not at all. */
async function rotate({ key }: MadeKey, previousExpiresAt?: Date): Promise<void> {
  const { hash, label } = newSecret();
  await updateKeySecret(stack.organizationPool, key, { ...key, hash, label, previousExpiresAt });
}

/** Moves a time of a session into the past. */
async function step(token: string, column: "created_at" | "last_used_at", byMs: number): Promise<void> {
  await stack.organizationPool.execute(
    `UPDATE console_sessions SET ${column} = TIMESTAMPADD(MICROSECOND, ?, ${column}) WHERE token_hash = ?`,
    [-byMs * 1000, hashKey(token)],
  );
}

async function lastUse(token: string): Promise<number> {
  const [rows] = await stack.organizationPool.query<never[]>(
    "SELECT last_used_at FROM console_sessions WHERE token_hash = ?",
    [hashKey(token)],
  );
  return Number((rows[0] as unknown as { last_used_at: Date }).last_used_at);
}

describe("a session", () => {
  it("returns its owner and, for an API key, its one workspace", async () => {
    await stack.tenants.createWorkspace(stack);
    const { token, session } = await signIn(stack.apiKey);
    expect(token).toMatch(/^sess-sp-v1-[A-Za-z0-9_-]{43}[A-Za-z0-9]{6}$/);
    const { userId, organizationId, workspaceId } = stack;
    expect(session).toMatchObject({
      principal: { keyKind: KeyKind.API, userId, organizationId, workspaceId },
      keyName: "First API key",
      keyLabel: expect.stringMatching(/^sk-sp-v1-.+…/),
      email: expect.stringMatching(/@example\.com$/),
      workspaces: [{ id: workspaceId, name: "Default" }],
    });
    const lifeMs = timestampMs(session?.expireTime as never) - Date.now();
    expect(lifeMs).toBeGreaterThan(12 * hourMs - minuteMs);
    expect(lifeMs).toBeLessThanOrEqual(12 * hourMs);
    expect((await calls.Connect(getSession, { token })).session).toMatchObject({ keyName: "First API key" });
  });

  it("of a management key covers all workspaces", async () => {
    const tenant = await stack.tenants.createOrganization();
    const other = await stack.tenants.createWorkspace(tenant);
    const { session } = await signIn(tenant.managementKey);
    expect(session?.principal).toMatchObject({ keyKind: KeyKind.MANAGEMENT, workspaceId: "" });
    expect(session?.workspaces.map(({ id }) => id)).toEqual([tenant.workspaceId, other]);
  });

  it("lists the oldest 100 workspaces of a management key's organization", async () => {
    const tenant = await stack.tenants.createOrganization();
    for (let count = 1; count <= 100; count += 1) await stack.tenants.createWorkspace(tenant);
    const { session } = await signIn(tenant.managementKey);
    expect(session?.workspaces).toHaveLength(100);
    expect(session?.workspaces[0]?.id).toBe(tenant.workspaceId);
  });

  it("is not begun for a caller that has left", async () => {
    const token = secretFromBytes("session", randomBytes(32));
    const caller = { deadlineMs: monotonicMs() + 15_000, isCanceled: () => true };
    const begun = storeSession(stack.organizationPool, { kind: "key", secret: stack.apiKey }, token, caller);
    await expect(begun).rejects.toMatchObject({ kind: "deadline_exceeded" });
    expect(await failureOf(exchange(token))).toMatchObject(sessionInvalid);
  });

  it("is exchanged for the same principal as its key", async () => {
    for (const key of [stack.apiKey, stack.managementKey]) {
      const { token } = await signIn(key);
      expect((await exchange(token)).principal).toEqual((await exchange(key)).principal);
    }
    const other = await stack.tenants.createWorkspace(stack);
    const { token } = await signIn(stack.managementKey);
    expect((await exchange(token, other)).principal?.workspaceId).toBe(other);
    const own = await signIn(stack.apiKey);
    expect(await failureOf(exchange(own.token, other))).toMatchObject({ reason: "WORKSPACE_NOT_FOUND" });
  });

  it("is stored only as a hash, and its token is never logged", async () => {
    const { token } = await signIn(stack.apiKey);
    await exchange(token);
    const [rows] = await stack.organizationPool.query<never[]>("SELECT * FROM console_sessions");
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(stack.log()).not.toContain(token);
    expect(stack.log()).not.toContain("sess-sp-v1-");
  });

  it("is new for every sign-in, and the same for a retry with its seed", async () => {
    expect((await signIn(stack.apiKey)).token).not.toBe((await signIn(stack.apiKey)).token);
    const seed = randomBytes(32);
    const { token } = await signIn(stack.apiKey, seed);
    expect((await signIn(stack.apiKey, seed)).token).toBe(token);
    expect(await failureOf(signIn(stack.apiKey, randomBytes(31)))).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: [{ field: "secret_seed", description: "must be 32 bytes" }],
    });
  });

  it.each([
    ["a key", () => stack.apiKey, signIn],
    ["a ticket", async () => ticketFor(hashKey(stack.apiKey).toString("hex")), useTicket],
  ])("is the same for retries while the first is in progress, with %s", async (_name, credential, begin) => {
    for (let round = 0; round < 5; round += 1) {
      const [given, seed] = [await credential(), randomBytes(32)];
      const begun = await Promise.all(Array.from({ length: 4 }, () => begin(given, seed)));
      expect(new Set(begun.map(({ token }) => token)).size).toBe(1);
    }
  });

  it("ends when deleted, and deleting it again is no error", async () => {
    const { token } = await signIn(stack.apiKey);
    const { token: other } = await signIn(stack.apiKey);
    for (let time = 0; time < 2; time += 1) await calls.gRPC(deleteSession, { token });
    expect(await failureOf(exchange(token))).toMatchObject(sessionInvalid);
    expect(await failureOf(calls.gRPC(getSession, { token }))).toMatchObject(sessionInvalid);
    await exchange(other);
  });

  it("ends 12 hours after its last use, and not a minute before", async () => {
    const { token } = await signIn(stack.apiKey);
    await step(token, "last_used_at", 12 * hourMs - minuteMs);
    const { expiresInSeconds, keyExpiresInSeconds } = await exchange(token);
    expect([expiresInSeconds, keyExpiresInSeconds]).toEqual([expect.closeTo(60, -1), expect.closeTo(60, -1)]);
    const { token: idle } = await signIn(stack.apiKey);
    await step(idle, "last_used_at", 12 * hourMs);
    expect(await failureOf(exchange(idle))).toMatchObject(sessionInvalid);
  });

  it("is extended by use, recorded to the minute", async () => {
    const { token } = await signIn(stack.apiKey);
    await step(token, "last_used_at", 11 * hourMs);
    const { session } = await calls.gRPC(getSession, { token });
    expect(timestampMs(session?.expireTime as never) - Date.now()).toBeGreaterThan(12 * hourMs - minuteMs);
    await exchange(token);
    await expect.poll(() => lastUse(token)).toBeGreaterThan(Date.now() - minuteMs);
  });

  it("is extended once by uses within a minute, through whichever process", async () => {
    const { token } = await signIn(stack.apiKey);
    const usedAt = await lastUse(token);
    const useAfter = (ms: number) =>
      updateSessionsLastUsed(
        stack.organizationPool,
        [hashKey(token).toString("hex")],
        new Date(usedAt + ms),
        new Date(usedAt + ms - minuteMs),
      );
    await useAfter(minuteMs);
    expect(await lastUse(token)).toBe(usedAt);
    await useAfter(minuteMs + 1);
    expect(await lastUse(token)).toBe(usedAt + minuteMs + 1);
  });

  it("ends after 7 days regardless of use", async () => {
    const { token } = await signIn(stack.apiKey);
    await step(token, "created_at", 7 * 24 * hourMs - minuteMs);
    await exchange(token);
    await step(token, "created_at", minuteMs);
    expect(await failureOf(exchange(token))).toMatchObject(sessionInvalid);
  });

  it("is rejected for a malformed or unknown token", async () => {
    for (const token of ["", "sess-sp-v1-", stack.apiKey, secretFromBytes("session", randomBytes(32))]) {
      expect(await failureOf(calls.gRPC(getSession, { token }))).toMatchObject(sessionInvalid);
    }
    const unknown = secretFromBytes("session", randomBytes(32));
    expect(await failureOf(exchange(unknown))).toMatchObject(sessionInvalid);
  });
});

describe("a session ends with its key:", () => {
  it.each<[string, (made: MadeKey) => Promise<void>]>([
    ["disabled", ({ key }) => updateKeyRow(stack.organizationPool, { ...key, disabled: true })],
    ["deleted", ({ key }) => updateKeyRow(stack.organizationPool, { ...key, revokedAt: new Date() })],
    ["expired", ({ key }) => updateKeyRow(stack.organizationPool, { ...key, expiresAt: new Date(Date.now() - 1) })],
    ["rotated without grace", (made) => rotate(made, undefined)],
    ["rotated, after its grace period", (made) => rotate(made, new Date(Date.now() - 1))],
  ])("%s", async (_name, end) => {
    const made = await stack.tenants.createKey(stack);
    const { token } = await signIn(made.secret);
    await exchange(token);
    await end(made);
    expect(await failureOf(exchange(token))).toMatchObject(sessionInvalid);
  });

  it("but not before the end of the grace period of its secret", async () => {
    const made = await stack.tenants.createKey(stack);
    const { token } = await signIn(made.secret);
    await rotate(made, new Date(Date.now() + 30_000));
    expect((await exchange(token)).expiresInSeconds).toBeLessThanOrEqual(30);
  });

  it("or when its workspace is deleted", async () => {
    const workspaceId = await stack.tenants.createWorkspace(stack);
    const { token } = await signIn((await stack.tenants.createKey(stack, { workspaceId })).secret);
    await stack.tenants.deleteWorkspace(workspaceId);
    expect(await failureOf(exchange(token))).toMatchObject(sessionInvalid);
    const gone = await stack.tenants.createOrganization();
    const { token: managing } = await signIn(gone.managementKey);
    await stack.tenants.deleteOrganization(gone);
    expect(await failureOf(exchange(managing))).toMatchObject(sessionInvalid);
    expect(await failureOf(signIn(gone.managementKey))).toMatchObject({ reason: "KEY_INVALID" });
  });
});

describe("expired sessions", () => {
  it("are deleted in portions, and each key keeps at most 100", async () => {
    const { key, secret } = await stack.tenants.createKey(stack);
    const pool = stack.organizationPool;
    const old = new Date(Date.now() - 13 * hourMs);
    const recent = new Date(Date.now() - hourMs);
    const rows = (count: number, time: Date) =>
      Array.from({ length: count }, () => [
        randomBytes(32),
        idToBytes(key.id),
        Buffer.from(key.hash, "hex"),
        time,
        time,
      ]);
    await pool.query("INSERT INTO console_sessions (token_hash, key_id, key_hash, created_at, last_used_at) VALUES ?", [
      [...rows(150, old), ...rows(120, recent)],
    ]);
    const counts = async () => {
      const [[row]] = (await pool.query(
        "SELECT SUM(last_used_at <= ?) AS old, COUNT(*) AS total FROM console_sessions WHERE key_id = ?",
        [old, idToBytes(key.id)],
      )) as unknown as [[{ old: string; total: number }]];
      return { old: Number(row.old), total: row.total };
    };
    const { token } = await signIn(secret);
    expect(await counts()).toEqual({ old: 0, total: 100 });
    await exchange(token);
  });

  it("do not include one that can still be used", async () => {
    const { token } = await signIn(stack.apiKey);
    await step(token, "last_used_at", 12 * hourMs - minuteMs);
    await signIn(stack.apiKey);
    await exchange(token);
  });
});

describe("a ticket", () => {
  it("is not called invalid because of a fault of ours, and works afterwards", async () => {
    const ticket = await ticketFor(hashKey(stack.apiKey).toString("hex"));
    await stack.organizationPool.query("RENAME TABLE workspaces TO workspaces_away");
    const failure = await failureOf(useTicket(ticket)).finally(() =>
      stack.organizationPool.query("RENAME TABLE workspaces_away TO workspaces"),
    );
    expect(failure).toMatchObject({ code: "INTERNAL" });
    await useTicket(ticket);
  });

  it("signs in once, for the id or the hash of a key", async () => {
    const { key } = await stack.tenants.createKey(stack, { kind: "management" });
    for (const name of [key.id, key.hash]) {
      const ticket = await ticketFor(name);
      const { token, session } = await useTicket(ticket);
      expect(session?.principal?.keyId).toBe(key.id);
      await exchange(token);
      expect(await failureOf(useTicket(ticket))).toMatchObject(ticketInvalid);
    }
  });

  it("signs in exactly one of many simultaneous users", async () => {
    const ticket = await ticketFor(hashKey(stack.apiKey).toString("hex"));
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => useTicket(ticket)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("repeats the first session for a retry with its seed", async () => {
    const ticket = await ticketFor(hashKey(stack.apiKey).toString("hex"));
    const seed = randomBytes(32);
    const { token } = await useTicket(ticket, seed);
    expect((await useTicket(ticket, seed)).token).toBe(token);
  });

  it("expires after five minutes", async () => {
    const ticket = await ticketFor(hashKey(stack.apiKey).toString("hex"));
    const age = (byMs: number) =>
      stack.organizationPool.execute(
        "UPDATE console_tickets SET expires_at = TIMESTAMPADD(MICROSECOND, ?, expires_at) WHERE ticket_hash = ?",
        [-byMs * 1000, hashKey(ticket)],
      );
    await age(5 * minuteMs);
    expect(await failureOf(useTicket(ticket))).toMatchObject(ticketInvalid);
    await age(-minuteMs);
    await useTicket(ticket);
  });

  it("is not ended by newer ones, which remove only those that have expired", async () => {
    const hash = hashKey(stack.apiKey).toString("hex");
    const [first, expired] = [await ticketFor(hash), await ticketFor(hash)];
    const pool = stack.organizationPool;
    await pool.execute("UPDATE console_tickets SET expires_at = ? WHERE ticket_hash = ?", [
      new Date(),
      hashKey(expired),
    ]);
    await ticketFor(hash);
    const [rows] = await pool.query("SELECT 1 FROM console_tickets WHERE ticket_hash = ?", [hashKey(expired)]);
    expect(rows).toEqual([]);
    await useTicket(first);
  });

  it("is rejected once its key stops working or is rotated", async () => {
    const disabled = await stack.tenants.createKey(stack);
    const ticket = await ticketFor(disabled.key.id);
    await updateKeyRow(stack.organizationPool, { ...disabled.key, disabled: true });
    expect(await failureOf(useTicket(ticket))).toMatchObject(ticketInvalid);
    await expect(ticketFor(disabled.key.id)).rejects.toThrow(CommandError);

    const rotated = await stack.tenants.createKey(stack);
    const stale = await ticketFor(rotated.key.id);
    await rotate(rotated);
    expect(await failureOf(useTicket(stale))).toMatchObject(ticketInvalid);
  });

  it("is neither a key nor a session, and vice versa", async () => {
    const ticket = await ticketFor(hashKey(stack.apiKey).toString("hex"));
    expect(await failureOf(exchange(ticket))).toMatchObject({ reason: "KEY_INVALID" });
    expect(await failureOf(signIn(ticket))).toMatchObject({ reason: "KEY_INVALID" });
    const { token } = await signIn(stack.apiKey);
    for (const secret of [stack.apiKey, token, secretFromBytes("ticket", randomBytes(32))]) {
      expect(await failureOf(useTicket(secret))).toMatchObject(ticketInvalid);
    }
    for (const secret of [token, keyFromBytes(randomBytes(32)), ""]) {
      expect(await failureOf(signIn(secret))).toMatchObject({ code: "UNAUTHENTICATED", reason: "KEY_INVALID" });
    }
    expect(await failureOf(calls.gRPC(createSession, {}))).toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
