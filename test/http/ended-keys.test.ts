import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { administrator } from "../support/administration-rest.ts";
import { request } from "../support/rest.ts";
import { openSecondGateway } from "../support/second-processes.ts";
import { type Stack, startStack } from "../support/stack.ts";

const ttlSeconds = 8;
/** The lifetime of a token, plus what a busy machine adds. */
const noticedWithin = { timeout: ttlSeconds * 1_000 + 30_000, interval: 100 };

let stack: Stack;
const other = new Lifecycle(silentLogger());
let otherUrl: string;
let admin: ReturnType<typeof administrator>;

beforeAll(async () => {
  stack = await startStack({ organization: { accessTokenTtlSeconds: ttlSeconds } });
  otherUrl = await openSecondGateway(stack, other);
  admin = administrator(stack);
});

afterAll(async () => {
  await other.close();
  await stack.close();
});

/** The status for a key on the gateway that makes the change, and on one that does not know of it. */
interface Statuses {
  readonly here: () => Promise<number>;
  readonly there: () => Promise<number>;
}

async function statusesOf(key: string, query = ""): Promise<Statuses> {
  const ask = (baseUrl: string) => async () =>
    (await request("GET", `${baseUrl}/api/v1/presets${query}`, { key })).status;
  const statuses = { here: ask(stack.baseUrl), there: ask(otherUrl) };
  expect([await statuses.here(), await statuses.there()]).toEqual([200, 200]);
  return statuses;
}

/** Concurrent tests have no `expect.poll`. */
function becomes(status: () => Promise<number>, expected: number): Promise<void> {
  return vi.waitFor(async () => expect(await status()).toBe(expected), noticedWithin);
}

async function change(method: string, path: string, body?: unknown): Promise<void> {
  const { status, text } = await admin.call(method, path, body);
  expect(status, text).toBeLessThan(300);
}

describe.concurrent("a key used on two gateways", () => {
  it.each<[string, (key: { id: string; hash: string }, user: string) => Promise<void>]>([
    ["is disabled", ({ hash }) => change("PATCH", `/keys/${hash}`, { disabled: true })],
    ["is deleted", ({ hash }) => change("DELETE", `/keys/${hash}`)],
    ["is deleted by id", ({ id }) => change("DELETE", `/keys/${id}`)],
    ["is rotated without grace", ({ hash }) => change("POST", `/keys/${hash}/rotate`)],
    [
      "is disabled with its removed member",
      (_, user) => change("DELETE", `/organization/members/${user}?disable_keys=true`),
    ],
  ])("that %s stops working at once on that gateway, and on the other when its token expires", async (name, end) => {
    const user = await admin.makeMember(`${name.replaceAll(" ", "-")}@example.com`);
    const { data, key } = await admin.makeKey({ creator_user_id: user });
    const { here, there } = await statusesOf(key);
    await end(data, user);
    expect(await here()).toBe(401);
    await becomes(there, 401);
  });

  it.each<[string, (hash: string, seconds: number) => Promise<void>]>([
    [
      "gets an expiry",
      (hash, seconds) =>
        change("PATCH", `/keys/${hash}`, { expires_at: new Date(Date.now() + seconds * 1_000).toISOString() }),
    ],
    ["is rotated with grace", (hash, seconds) => change("POST", `/keys/${hash}/rotate`, { grace_seconds: seconds })],
  ])("that %s stops working then on that gateway, and on the other when its token expires", async (_name, end) => {
    const { data, key } = await admin.makeKey();
    const { here, there } = await statusesOf(key);
    // As long as a busy machine may take for one call.
    const seconds = 7;
    await end(data.hash, seconds);
    const overAtMs = Date.now() + seconds * 1_000;
    expect(await here()).toBe(200);
    await sleep(overAtMs + 100 - Date.now());
    expect(await here()).toBe(401);
    await becomes(there, 401);
  });

  it("loses a removed permission at once on that gateway, and on the other when its token expires", async () => {
    const { data, key } = await admin.makeKey();
    const { here, there } = await statusesOf(key);
    await change("PATCH", `/keys/${data.hash}`, { permissions: ["presets:write"] });
    expect(await here()).toBe(403);
    await becomes(there, 403);
  });

  it("can no longer administer anything on any gateway once it is deleted", async () => {
    const { data, key } = await admin.makeKey({ kind: "management" });
    const rename = async () =>
      (await request("PATCH", `${otherUrl}/api/v1/keys/${data.id}`, { key, body: { name: "Renamed" } })).status;
    expect(await rename()).toBe(200);
    await change("DELETE", `/keys/${data.id}`);
    expect(await rename()).toBe(401);
  });

  it("works again as soon as it is re-enabled", async () => {
    const { data, key } = await admin.makeKey();
    const { here } = await statusesOf(key);
    await change("PATCH", `/keys/${data.hash}`, { disabled: true });
    expect(await here()).toBe(401);
    await change("PATCH", `/keys/${data.hash}`, { disabled: false });
    expect(await here()).toBe(200);
  });

  it("gets 404 for a workspace once it is deleted", async () => {
    const { id } = await admin.makeWorkspace("to-be-deleted");
    const { here, there } = await statusesOf(stack.managementKey, `?workspace_id=${id}`);
    await change("DELETE", `/workspaces/${id}`);
    expect(await here()).toBe(404);
    await becomes(there, 404);
  });

  it("gets 404 with its next token after an operator deletes its workspace", async () => {
    const workspaceId = await stack.tenants.createWorkspace(stack);
    const { secret } = await stack.tenants.createKey(stack, { workspaceId });
    const { here, there } = await statusesOf(secret);
    await stack.tenants.deleteWorkspace(workspaceId);
    for (const status of [here, there]) await becomes(status, 404);
  });

  it("gets 404 with its next token after an operator deletes its organization", async () => {
    const tenant = await stack.tenants.createOrganization();
    const { here, there } = await statusesOf(tenant.apiKey);
    await stack.tenants.deleteOrganization(tenant);
    for (const status of [here, there]) await becomes(status, 404);
  });
});
