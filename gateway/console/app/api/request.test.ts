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

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it("gives up a request that is never answered, after as long as a slow connection needs for its body", async () => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", (_path: string, { signal }: { signal?: AbortSignal }) => {
    return new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  });
  const outcomes: string[] = [];
  const note = (name: string, pending: Promise<unknown>) =>
    pending.catch((error: Error) => outcomes.push(`${name}: ${error.message}`));
  const left = new AbortController();
  void note("read", request("/api/v1/presets"));
  void note("long", request("/api/v1/presets/a/messages", { method: "POST", body: "日".repeat(27_000) }));
  void note("left", request("/api/v1/presets", { signal: left.signal }));
  left.abort(new Error("the page was left"));
  await vi.advanceTimersByTimeAsync(29_000);
  expect(outcomes).toEqual(["left: the page was left"]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(outcomes.slice(1)).toEqual([expect.stringMatching(/^read: The gateway cannot be reached/)]);
  await vi.advanceTimersByTimeAsync(8_000);
  expect(outcomes.slice(2)).toEqual([]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(outcomes.slice(2)).toEqual([expect.stringMatching(/^long: The gateway cannot be reached/)]);
});

it("gives up an answer that stops in between, but not a slow one", async () => {
  vi.useFakeTimers();
  const halves = ['{"data":', '"all"}'];
  const answered = async (chunks: readonly string[], isWhole: boolean) => {
    const body = new TransformStream();
    const writer = body.writable.getWriter();
    vi.stubGlobal("fetch", async (_path: string, { signal }: { signal?: AbortSignal }) => {
      // Browsers other than Firefox do not say why.
      signal?.addEventListener("abort", () => void writer.abort(new TypeError("Failed to fetch")));
      return new Response(body.readable);
    });
    const outcome = request("/api/v1/presets").catch((error: unknown) => error);
    for (const chunk of chunks) {
      void writer.write(new TextEncoder().encode(chunk)).catch(() => {});
      await vi.advanceTimersByTimeAsync(29_000);
    }
    if (isWhole) void writer.close();
    await vi.advanceTimersByTimeAsync(29_000);
    return outcome;
  };
  expect(await answered(halves, true)).toMatchObject({ json: { data: "all" } });
  const refusal = await answered(halves.slice(0, 1), false);
  expect(refusal).toMatchObject({ status: 0, message: expect.stringMatching(/^The gateway cannot be reached/) });
  expect(vi.getTimerCount()).toBe(0);
});

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
