import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countChanges } from "../../services/organization/store/changes.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { inTransaction } from "../../services/platform/mysql/transaction.ts";
import { waitsForLock } from "../support/lock-waits.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { openTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

let stack: Stack;
let proxy: TcpProxy;

/** The gateway reaches the organization service through a proxy. */
beforeAll(async () => {
  stack = await startStack();
  proxy = await openTcpProxy({ host: "127.0.0.1", port: stack.organization.config.grpcPort });
  await stack.gateway.stop();
  await stack.gateway.start({ organizationTarget: `127.0.0.1:${proxy.port}` });
});

afterAll(async () => {
  await stack.close();
  proxy.close();
});

const manage = (method: string, path: string, body?: unknown) =>
  stack.request<{ readonly id: string; readonly hash: string }>(method, path, { key: stack.managementKey, body });

const changeCount = () => countChanges(stack.organizationPool, stack.organizationId, {});

/** Makes a change whose answer is lost: it is applied while the proxy passes nothing, and then the proxy breaks. */
async function loseAnswer<T>(change: () => Promise<T>): Promise<T> {
  const before = await changeCount();
  let answer: Promise<T> | undefined;
  await inTransaction(stack.organizationPool, async (connection) => {
    await connection.execute("SELECT id FROM organizations WHERE id = ? FOR UPDATE", [idToBytes(stack.organizationId)]);
    answer = change();
    await expect.poll(() => waitsForLock(stack.organizationPool)).toBe(true);
    proxy.hang();
  });
  await expect.poll(changeCount).toBe(before + 1);
  proxy.cut();
  proxy.restore();
  return answer as Promise<T>;
}

it.each([
  ["a created workspace", async () => ["POST", "/workspaces", { name: "New", slug: `w-${newId()}` }], 201],
  [
    "a deleted workspace",
    async () => {
      const { json } = await manage("POST", "/workspaces", { name: "Old", slug: `w-${newId()}` });
      return ["DELETE", `/workspaces/${json.data.id}`];
    },
    200,
  ],
  ["an added member", async () => ["POST", "/organization/members", { email: `${newId()}@example.com` }], 201],
  [
    "a removed member",
    async () => {
      const { json } = await manage("POST", "/organization/members", { email: `${newId()}@example.com` });
      return ["DELETE", `/organization/members/${json.data.id}`];
    },
    200,
  ],
  [
    "a deleted key",
    async () => {
      const { json } = await manage("POST", "/keys", { name: "Old" });
      return ["DELETE", `/keys/${json.data.hash}`];
    },
    200,
  ],
] as const)("reports %s once even if the service's first answer was lost", async (_, prepare, status) => {
  const [method, path, body] = await prepare();
  const before = await changeCount();
  const answer = await loseAnswer(() => manage(method as string, path as string, body));
  expect(answer.status).toBe(status);
  expect(await changeCount()).toBe(before + 1);
});

describe("a secret whose first answer was lost", () => {
  const secretOf = (answer: Awaited<ReturnType<typeof manage>>) => (answer.json as unknown as { key: string }).key;

  async function expectGood(answer: Awaited<ReturnType<typeof manage>>): Promise<void> {
    expect(answer.status).toBe(201);
    const current = await stack.request("GET", "/key", { key: secretOf(answer) });
    expect(current.status).toBe(200);
    expect(createHash("sha256").update(secretOf(answer)).digest("hex")).toBe(answer.json.data.hash);
  }

  it("is returned for a new key, which is created only once", async () => {
    const before = await changeCount();
    await expectGood(await loseAnswer(() => manage("POST", "/keys", { name: "New" })));
    expect(await changeCount()).toBe(before + 1);
  });

  it("is returned for a rotated key, which is rotated only once", async () => {
    const { json } = await manage("POST", "/keys", { name: "Old" });
    const before = await changeCount();
    const rotated = await loseAnswer(() => manage("POST", `/keys/${json.data.hash}/rotate`, {}));
    await expectGood(rotated);
    expect(rotated.json.data.id).toBe(json.data.id);
    expect(await changeCount()).toBe(before + 1);
  });

  it("is not returned to the client's own retry, which gets the hash", async () => {
    const headers = { "idempotency-key": newId() };
    const make = () =>
      stack.request<{ readonly hash: string }>("POST", "/keys", {
        key: stack.managementKey,
        body: { name: "Once" },
        headers,
      });
    const made = await loseAnswer(make);
    expect(made.status).toBe(201);
    const retried = await make();
    expect(retried.status).toBe(409);
    expect(retried.text).toContain(made.json.data.hash);
    expect(retried.text).not.toContain("sk-sp-v1-");
  });
});
