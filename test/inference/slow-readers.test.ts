import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { chunkOf, HostileUpstream, lastChunk, type Script, streamHead } from "../support/hostile-upstream.ts";
import { chatRequestText, entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

const mebibyte = 1024 * 1024;
const readers = 24;
const inFlightBytesMax = mebibyte;
/** An unread answer takes 192 KiB. */
const room = 5;

let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack({ upstreams: [entryOf(upstream)] }, { gateway: { inFlightBytesMax } });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
});

const piece = chunkOf(`data: ${"x".repeat(60_000)}\n\n`);

/** As fast as it is read. */
function streamOfPieces(count: number): Script {
  return async (_request, socket) => {
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(streamHead);
    for (let sent = 0; sent < count && !socket.destroyed; sent++) {
      if (!socket.write(piece)) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
    }
    socket.write(lastChunk);
  };
}

function requestAndDoNotRead(key: string): Socket {
  const { port, hostname } = new URL(stack.baseUrl);
  const socket = connect(Number(port), hostname).pause();
  socket.on("error", () => {});
  socket.write(chatRequestText(key, '{"model":"m","stream":true}'));
  return socket;
}

const cutOff = () => stack.metric("setpoint_inference_aborted_total", 'reason="client_stalled"');

it("cuts off clients that do not read if there are many, but no client that reads", async () => {
  upstream.script = streamOfPieces(1_000);
  const { secret } = await stack.tenants.createKey(stack);
  const sockets = Array.from({ length: readers }, () => requestAndDoNotRead(secret));
  await expect.poll(cutOff).toBe(readers - room);
  await expect.poll(() => upstream.openConnections).toBe(room);

  // It also has to wait for its client now and then.
  upstream.script = streamOfPieces(300);
  for (const key of [stack.apiKey, secret]) {
    const answer = await stack.send(
      "chat/completions",
      { model: "m" },
      { headers: { authorization: `Bearer ${key}` } },
    );
    expect((await answer.arrayBuffer()).byteLength).toBe(300 * (60_000 + "data: \n\n".length));
  }

  for (const socket of sockets) socket.destroy();
  await expect.poll(() => stack.metric("setpoint_inflight_bytes")).toBe(0);
  expect(await stack.metric("setpoint_inference_in_flight")).toBe(0);
}, 120_000);
