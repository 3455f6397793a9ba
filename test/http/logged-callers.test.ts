import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../services/platform/domain/ids.ts";
import { linesOf } from "../support/log-lines.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
  await stack.create("bot");
});

afterAll(() => stack.close());

type Send = (key: string) => Promise<{ readonly headers: Headers }>;

const read: Send = (key) => stack.request("GET", "/presets/bot", { key });

const noOne = { organization_id: undefined, workspace_id: undefined, key_id: undefined };

async function idsInLog(requestId: string | null, message?: string) {
  const [{ organization_id, workspace_id, key_id } = {}] = await linesOf(stack, requestId, message);
  return { organization_id, workspace_id, key_id };
}

async function idsOf({ headers }: { readonly headers: Headers }) {
  return idsInLog(headers.get("x-request-id"));
}

describe("the log line of a request", () => {
  it("names its organization, workspace and key", async () => {
    const { secret, key } = await stack.tenants.createKey(stack);
    const ids = { organization_id: stack.organizationId, workspace_id: stack.workspaceId, key_id: key.id };
    expect(await idsOf(await read(secret))).toEqual(ids);
    // Now it is cached.
    expect(await idsOf(await read(secret))).toEqual(ids);
  });

  it("names the workspace that a management key acts in", async () => {
    const workspaceId = await stack.tenants.createWorkspace(stack);
    const { secret, key } = await stack.tenants.createKey(stack, { kind: "management" });
    const answer = await stack.request("GET", `/presets?workspace_id=${workspaceId}`, { key: secret });
    expect(await idsOf(answer)).toEqual({
      organization_id: stack.organizationId,
      workspace_id: workspaceId,
      key_id: key.id,
    });
  });

  it("names a key without the permission", async () => {
    const { secret, key } = await stack.tenants.createKey(stack, { permissions: ["presets:read"] });
    const answer = await stack.create("bot", undefined, { key: secret });
    expect(answer.status).toBe(403);
    expect(await idsOf(answer)).toMatchObject({ key_id: key.id });
  });

  it("names a key above its rate limit", async () => {
    const { secret, key } = await stack.tenants.createKey(stack, { rateLimit: { perSecond: 1, burst: 1 } });
    const answers = [await read(secret), await read(secret)];
    expect(await idsOf(answers[1] as (typeof answers)[0])).toMatchObject({ key_id: key.id });
  });

  it("names nobody if the key is not accepted", async () => {
    const { secret } = await stack.tenants.createKey(stack, { disabled: true });
    expect(await idsOf(await read(secret))).toEqual(noOne);
    expect(await idsOf(await stack.request("GET", "/presets/bot"))).toEqual(noOne);
  });
});

describe("the log line of a call straight to a service", () => {
  const call = (port: number, path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}/setpoint.${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });

  async function tokenOf(key: string): Promise<string> {
    const { httpPort } = stack.organization.config;
    const answer = await call(httpPort, "organization.v1.AccessService/ExchangeKey", { key });
    return ((await answer.json()) as { accessToken: string }).accessToken;
  }

  async function idsOfCall(method: string, body: object, token: string) {
    const requestId = newId();
    const headers = { authorization: `Bearer ${token}`, "x-request-id": requestId };
    const { httpPort } = stack.preset.config;
    expect((await call(httpPort, `preset.v1.PresetService/${method}`, body, headers)).status).toBe(200);
    return idsInLog(requestId, "rpc");
  }

  it("names whom the access token was issued to", async () => {
    const { secret, key } = await stack.tenants.createKey(stack);
    const ids = { organization_id: stack.organizationId, workspace_id: stack.workspaceId, key_id: key.id };
    const token = await tokenOf(secret);
    expect(await idsOfCall("GetPreset", { slug: "bot" }, token)).toEqual(ids);
    expect(await idsOfCall("BatchGetPresets", { slugs: ["bot", "bot"] }, token)).toEqual(ids);
  });

  it("names nobody if its parts have access tokens of their own", async () => {
    const first = await tokenOf((await stack.tenants.createKey(stack)).secret);
    const second = await tokenOf((await stack.tenants.createKey(stack)).secret);
    const reads = [first, second].map((accessToken) => ({ accessToken, slug: "bot" }));
    expect(await idsOfCall("BatchGetPresets", { reads }, first)).toEqual(noOne);
  });
});
