import { afterAll, beforeAll, expect, it } from "vitest";
import { administrator } from "../support/administration-rest.ts";
import { type DatabaseProxy, openDatabaseProxy } from "../support/database-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let proxy: DatabaseProxy;
let admin: ReturnType<typeof administrator>;

/** The organization service reaches its database through a proxy, and the gateway does not wait long for it. */
beforeAll(async () => {
  stack = await startStack();
  proxy = await openDatabaseProxy(stack.organization.config.databaseUrl);
  for (const part of [stack.gateway, stack.organization]) await part.stop();
  await stack.organization.start({ databaseUrl: proxy.url });
  await stack.gateway.start({ requestTimeoutMs: 1_500 });
  admin = administrator(stack);
});

afterAll(async () => {
  await stack.close();
  await proxy.close();
});

async function statusOf(key: string): Promise<number> {
  return (await stack.request("GET", "/presets", { key })).status;
}

it("rejects a revoked key on the gateway that revoked it even if that was stored after its answer", async () => {
  const { key, data } = await admin.makeKey();
  expect(await statusOf(key)).toBe(200);
  proxy.fail("commit", "hold", 1);
  expect((await admin.call("PATCH", `/keys/${data.id}`, { disabled: true })).status).toBe(503);
  expect(proxy.held).toBe(1);
  // It has not been disabled yet, so it is accepted once more.
  expect(await statusOf(key)).toBe(200);
  proxy.letGo();
  // A cached grant would last for more than half a minute.
  await expect.poll(() => statusOf(key), { timeout: 10_000 }).toBe(401);
});
