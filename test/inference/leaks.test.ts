import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { collectGarbage } from "../support/garbage.ts";
import { HostileUpstream, streamBegun } from "../support/hostile-upstream.ts";
import { chatRequestText, entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack({ upstreams: [entryOf(upstream)] });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
});

/** Buffers are freed some time after they became garbage. */
async function usedBytes(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const body = '{"model":"m","stream":true}';

/** A stream that its client abandons in one of three ways, at one of three points. */
function abortedStream(index: number): Promise<void> {
  return new Promise((resolve) => {
    const { port, hostname } = new URL(stack.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.once("close", () => resolve());
    const leave = () => {
      if (index % 3 === 0) socket.destroy();
      else if (index % 3 === 1) socket.resetAndDestroy();
      else socket.end();
    };
    socket.write(chatRequestText(stack.apiKey, body), () => {
      if (index % 7 === 0) leave();
    });
    socket.once("data", leave);
  });
}

async function abortStreams(count: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await abortedStream(next++);
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  await expect.poll(() => stack.metric("setpoint_inference_in_flight")).toBe(0);
  // Those that were waiting for an answer may have received one.
  await expect.poll(() => stack.metric("setpoint_inflight_bytes")).toBe(0);
  await expect.poll(() => upstream.openConnections).toBeLessThanOrEqual(32);
  upstream.received.length = 0;
}

describe("streams abandoned by their clients", () => {
  it("leave nothing behind, however many", async () => {
    upstream.script = streamBegun(`data: ${"x".repeat(2_000)}\n\n`);
    await abortStreams(500);
    const before = await usedBytes();
    const streams = 2_000;
    await abortStreams(streams);
    // A retained stream would be more than its bytes; the test's own logs grow by some hundred bytes per stream.
    expect((await usedBytes()) - before).toBeLessThan(streams * 2_000);
    await expect.poll(() => stack.metric("setpoint_connections")).toBeLessThanOrEqual(1);
  }, 120_000);
});
