import { request } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { OtlpTracer } from "../../services/platform/observe/otlp-tracer.ts";
import type { TracesConfig } from "../../services/platform/observe/traces-config.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { listen, startCollector, tracesTo } from "../support/collector.ts";
import { type Stack, startStack } from "../support/stack.ts";

const closers: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function startTracedStack(traces: TracesConfig): Promise<Stack> {
  const stack = await startStack({ gateway: { traces }, preset: { traces }, organization: { traces } });
  closers.push(() => stack.close());
  return stack;
}

/** Collectors that cannot be sent any spans. */
const faults = {
  "is unreachable": async () => "http://127.0.0.1:1",
  "never answers": async () => {
    const { url, close } = await listen(() => {});
    closers.push(close);
    return url;
  },
  "rejects everything": async () => {
    const { url, close } = await listen((_, response) => response.writeHead(401).end("secret of the collector"));
    closers.push(close);
    return url;
  },
  "drops connections": async () => {
    const { url, close } = await listen(({ socket }) => socket.destroy());
    closers.push(close);
    return url;
  },
};

describe.each(Object.entries(faults))("a trace collector that %s", (_, start) => {
  it("does not affect requests or delay shutdown beyond the drain time", async () => {
    const stack = await startTracedStack(tracesTo(await start(), { headers: { authorization: "secret-header" } }));
    for (let index = 0; index < 30; index += 1) {
      const answer = await stack.create(`preset-${index % 3}`);
      expect(answer.status).toBe(200);
    }
    const startedAtMs = monotonicMs();
    await stack.gateway.stop();
    // The drain time is half a second here.
    expect(monotonicMs() - startedAtMs).toBeLessThan(9_000);
    expect(stack.log()).not.toContain("secret-header");
    expect(stack.log()).not.toContain("secret of the collector");
  });
});

it("logs lost traces once, not for every batch", async () => {
  const { url, close } = await listen((_, response) => response.writeHead(400).end());
  closers.push(close);
  const stack = await startTracedStack(tracesTo(url));
  for (let index = 0; index < 5; index += 1) {
    await stack.create("any");
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  const lines = () =>
    stack
      .log()
      .split("\n")
      .filter((line) => line.includes("traces could not be sent"));
  // Two processes had something to send, or all three.
  await expect.poll(() => lines().length).toBeGreaterThanOrEqual(2);
  expect(lines().length).toBeLessThanOrEqual(3);
});

it("retries what the collector temporarily rejected", async () => {
  const collector = await startCollector();
  closers.push(() => collector.close());
  const { port } = new URL(collector.traces.url);
  const statuses = [503, 429, 200];
  const { url, close } = await listen((received, response) => {
    const status = statuses.shift() ?? 200;
    if (status !== 200) return response.writeHead(status, { "retry-after": "0" }).end();
    received.pipe(request({ port, path: received.url, method: "POST" }, (answer) => answer.pipe(response)));
  });
  closers.push(close);
  const tracer = new OtlpTracer("test", tracesTo(url), silentLogger());
  closers.push(() => tracer.close(0));
  const { traceId, span } = tracer.serve(undefined);
  span?.end();
  expect(await collector.spansOf(traceId as string, 1)).toHaveLength(1);
});

it("pauses between retries to a collector that rejects everything with Retry-After: 0", async () => {
  let requests = 0;
  const { url, close } = await listen((_, response) => {
    requests += 1;
    response.writeHead(503, { "retry-after": "0" }).end();
  });
  closers.push(close);
  const tracer = new OtlpTracer("test", tracesTo(url), silentLogger());
  closers.push(() => tracer.close(0));
  tracer.serve(undefined).span?.end();
  await expect.poll(() => requests).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(requests).toBeLessThanOrEqual(3);
});

it("uses one connection to the collector", async () => {
  let connections = 0;
  let requests = 0;
  const { url, close } = await listen(({ socket }, response) => {
    requests += 1;
    if (socket.bytesWritten === 0) connections += 1;
    response.end("{}");
  });
  closers.push(close);
  const tracer = new OtlpTracer("test", tracesTo(url, { sendEveryMs: 1 }), silentLogger());
  closers.push(() => tracer.close(0));
  while (requests < 20) {
    tracer.serve(undefined).span?.end();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(connections).toBe(1);
});

it("sends wall clock times, even after the clock was changed", async () => {
  const collector = await startCollector();
  closers.push(() => collector.close());
  const tracer = new OtlpTracer("test", collector.traces, silentLogger());
  closers.push(() => tracer.close(0));
  const startedAt = async () => {
    const { traceId, span } = tracer.serve(undefined);
    span?.end();
    return Number((await collector.spansOf(traceId as string, 1))[0]?.startTimeUnixNano) / 1e6;
  };
  const minuteMs = 60_000;
  expect(Math.abs((await startedAt()) - Date.now())).toBeLessThan(minuteMs);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60 * minuteMs });
  closers.push(() => void vi.useRealTimers());
  expect(Math.abs((await startedAt()) - Date.now())).toBeLessThan(minuteMs);
});

it("keeps a bounded number of spans while the collector is silent, and drops the rest", async () => {
  let answer: () => void = () => {};
  const canAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const collector = await startCollector({}, canAnswer);
  closers.push(() => collector.close());
  const tracer = new OtlpTracer("test", collector.traces, silentLogger());
  for (let index = 0; index < 20_000; index += 1) {
    tracer.serve(undefined).span?.end();
    if (index % 1_000 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  answer();
  await tracer.close(10_000);
  expect(collector.spans.length).toBeGreaterThan(1_000);
  expect(collector.spans.length).toBeLessThan(4_000);
});

it("sends the remaining spans on shutdown", async () => {
  const collector = await startCollector({ sendEveryMs: 600_000 });
  closers.push(() => collector.close());
  const stack = await startTracedStack(collector.traces);
  await stack.create("last");
  expect(collector.spans).toEqual([]);
  await stack.gateway.stop();
  await stack.preset.stop();
  const names = collector.spans.map(({ service, name }) => `${service}: ${name}`);
  expect(names).toContain("setpoint-gateway: POST /api/v1/presets/:slug/chat/completions");
  expect(names).toContain("setpoint-preset: mysql COMMIT");
});
