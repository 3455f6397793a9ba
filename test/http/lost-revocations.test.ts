import { afterAll, beforeAll, expect, it } from "vitest";
import { countChanges } from "../../services/organization/store/changes.ts";
import { administrator } from "../support/administration-rest.ts";
import { Browser } from "../support/console.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { openTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

let stack: Stack;
let proxy: TcpProxy;
let admin: ReturnType<typeof administrator>;

/** The gateway reaches the organization service through a proxy, and does not wait long for it. */
beforeAll(async () => {
  stack = await startStack();
  proxy = await openTcpProxy({ host: "127.0.0.1", port: stack.organization.config.grpcPort });
  await stack.gateway.stop();
  await stack.gateway.start({ organizationTarget: `127.0.0.1:${proxy.port}`, requestTimeoutMs: 4_000 });
  admin = administrator(stack);
});

afterAll(async () => {
  await stack.close();
  proxy.close();
});

async function statusOf(key: string): Promise<number> {
  return (await stack.request("GET", "/presets", { key })).status;
}

const changeCount = () => countChanges(stack.organizationPool, stack.organizationId, {});

it("rejects revoked keys on the gateway that revoked them even if the answer was lost", async () => {
  const user = await admin.makeMember("leaves@example.com");
  const keys = await Promise.all([1, 2, 3, 4, 5].map(() => admin.makeKey()));
  const ofMember = await admin.makeKey({ creator_user_id: user });
  const untouched = await admin.makeKey();
  const elsewhere = await stack.tenants.createKey({ ...(await stack.tenants.createOrganization()), userId: user });
  const secrets = [...keys, ofMember].map(({ key }) => key);
  const [first, second, third, fourth, fifth] = keys.map(({ data }) => data);
  for (const secret of [...secrets, untouched.key, elsewhere.secret]) expect(await statusOf(secret)).toBe(200);

  const before = await changeCount();
  proxy.mute();
  const changes = [
    admin.call("DELETE", `/keys/${first?.hash}`),
    admin.call("DELETE", `/keys/${second?.id.toUpperCase()}`),
    admin.call("PATCH", `/keys/${third?.hash}`, { disabled: true }),
    admin.call("PATCH", `/keys/${fourth?.id}`, { permissions: ["inference"] }),
    admin.call("POST", `/keys/${fifth?.hash.toUpperCase()}/rotate`),
    admin.call("DELETE", `/organization/members/${user}?disable_keys=true`),
    admin.call("PATCH", `/keys/${untouched.data.id}`, { name: "Renamed" }),
  ];
  for (const { status } of await Promise.all(changes)) expect(status).toBe(503);
  // Removing a member and revoking their key are two entries.
  await expect.poll(changeCount).toBe(before + changes.length + 1);
  // Renaming revokes nothing: the key keeps working while the service is unreachable.
  expect(await statusOf(untouched.key)).toBe(200);
  // Nor does an organization revoke what its members have in others.
  expect(await statusOf(elsewhere.secret)).toBe(200);
  expect(await statusOf(secrets[0] as string)).toBe(503);
  proxy.restore();
  const statuses = await Promise.all(secrets.map(statusOf));
  expect(statuses).toEqual([401, 401, 401, 403, 401, 401]);
});

it("distrusts nothing but the session if it is not known whether a session has ended", async () => {
  const { apiKey } = await stack.tenants.createOrganization();
  const [leaving, staying] = [new Browser(stack.baseUrl), new Browser(stack.baseUrl)];
  const statusIn = async (browser: Browser) => (await browser.send("GET", "/api/v1/presets")).status;
  for (const browser of [leaving, staying]) {
    expect((await browser.signIn({ key: apiKey })).status).toBe(201);
    expect(await statusIn(browser)).toBe(200);
  }
  expect(await statusOf(apiKey)).toBe(200);

  proxy.mute();
  expect((await leaving.signOut()).status).toBe(503);
  expect(await statusIn(staying)).toBe(200);
  expect(await statusOf(apiKey)).toBe(200);
  expect(await statusIn(leaving)).toBe(503);
  proxy.restore();
  expect(await statusIn(leaving)).toBe(401);
});
