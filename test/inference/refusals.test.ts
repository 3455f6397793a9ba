import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DialectName, dialectNames } from "../../gateway/dialects/dialect-name.ts";
import { newId } from "../../services/platform/domain/ids.ts";
import { HostileUpstream } from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack({ upstreams: [entryOf(upstream)] }, { gateway: { requestTimeoutMs: 3_000 } });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
});

async function send(dialect: DialectName, query: string, key = stack.apiKey, model = "m") {
  const answer = await fetch(`${stack.baseUrl}/api/v1/${dialect}${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model }),
  });
  return { status: answer.status, text: await answer.text() };
}

describe.each(dialectNames)("a workspace_id in the query of /%s", (dialect) => {
  it("may be the key's own", async () => {
    expect((await send(dialect, `?workspace_id=${stack.workspaceId}`)).status).toBe(200);
  });

  it.each([
    ["another", `?workspace_id=${newId()}`, 404],
    ["none", "?workspace_id=default", 400],
    ["two", `?workspace_id=${newId()}&workspace_id=${newId()}`, 400],
  ])("is rejected if it is %s, and nothing is sent", async (_name, query, status) => {
    const sent = upstream.received.length;
    expect((await send(dialect, query)).status).toBe(status);
    expect(upstream.received).toHaveLength(sent);
  });

  it("does not admit a management key", async () => {
    expect((await send(dialect, `?workspace_id=${stack.workspaceId}`, stack.managementKey)).status).toBe(403);
  });
});

it.each(dialectNames)("returns 404 for /%s if the key's workspace was deleted, and sends nothing", async (dialect) => {
  const workspaceId = await stack.tenants.createWorkspace(stack);
  const { secret } = await stack.tenants.createKey(stack, { workspaceId });
  await stack.tenants.deleteWorkspace(workspaceId);
  const sent = upstream.received.length;
  const { status, text } = await send(dialect, "", secret);
  expect(status).toBe(404);
  expect(text).toContain("The workspace of this key no longer exists.");
  expect(upstream.received).toHaveLength(sent);
});

it("says in each dialect that nothing was sent if a service is unreachable", async () => {
  await stack.preset.stop();
  // Concurrently: each of them waits until the request timeout.
  const answers = await Promise.all(dialectNames.map((dialect) => send(dialect, "", stack.apiKey, "@preset/unknown")));
  for (const { status, text } of answers) {
    expect(status).toBe(503);
    expect(text).toContain("Nothing was sent to an upstream. Try again in a moment.");
    expect(text).not.toMatch(/stored|created|Idempotency/);
  }
});
