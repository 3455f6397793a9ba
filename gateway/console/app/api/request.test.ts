import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { onSessionEnd, request } from "./request.ts";

async function refusalOf(answer: RequestListener): Promise<unknown> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const refusal = await request(`http://127.0.0.1:${port}/`).catch((error: unknown) => error);
  server.close();
  return refusal;
}

it("reports an answer that breaks off as an unreachable gateway", async () => {
  const refusal = await refusalOf((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write('{"data":', () => response.destroy());
  });
  expect(refusal).toMatchObject({ status: 0, message: expect.stringMatching(/^The gateway cannot be reached/) });
});

afterEach(() => vi.unstubAllGlobals());

it.each([413, 429, 503])("rewords status %i for people at a screen, and keeps the request id", async (status) => {
  const message = "Wait as long as Retry-After says; with an Idempotency-Key, send one of at most 9 bytes.";
  const headers = { "x-request-id": "of-the-request" };
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ error: { message } }), { status, headers }));
  const refusal = await request("/api/v1/presets").catch((error: unknown) => error);
  expect(refusal).toMatchObject({ status, requestId: "of-the-request" });
  expect(String(refusal)).not.toMatch(/Retry-After|Idempotency-Key|bytes/);
  // Signing in keeps its own message, which says more.
  expect(String(await request("/console/session").catch((error: unknown) => error))).toContain(message);
});

it("keeps an upstream's own message, and does not treat its 401 as the end of the session", async () => {
  const isRefused = vi.fn();
  onSessionEnd(isRefused);
  for (const status of [401, 429]) {
    const headers = { "x-setpoint-upstream": "one" };
    const body = JSON.stringify({ error: { message: "Your quota is used up." } });
    vi.stubGlobal("fetch", async () => new Response(body, { status, headers }));
    const refusal = await request("/api/v1/chat/completions").catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status, message: "Your quota is used up." });
  }
  expect(isRefused).not.toHaveBeenCalled();
  vi.stubGlobal("fetch", async () => new Response("{}", { status: 401 }));
  await request("/api/v1/chat/completions").catch(() => {});
  expect(isRefused).toHaveBeenCalledOnce();
});
