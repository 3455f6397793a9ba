import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { dialectNames } from "../../gateway/dialects/dialect-name.ts";
import { answerWith, chunkOf, HostileUpstream, silence, streamHead } from "../support/hostile-upstream.ts";
import { type InferenceStack, startInferenceStack } from "../support/inference.ts";

let upstream: HostileUpstream;
/** Accepts connections and sends nothing on them, not even TLS. */
let mute: HostileUpstream;
let stack: InferenceStack;
let logStart: number;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  mute = await HostileUpstream.start();
  mute.isDeaf = true;
  const dialects = dialectNames;
  stack = await startInferenceStack({
    upstreams: [
      { name: "mute", base_url: mute.url.replace("http:", "https:"), dialects, models: ["mute"] },
      { name: "main", base_url: upstream.url, dialects, models: ["*"] },
    ],
  });
  logStart = stack.log().length;
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
  await mute.stop();
});

beforeEach(() => upstream.reset());

/** A request on its own connection. */
function send(body: string, announced = Buffer.byteLength(body)): Socket {
  const { port, hostname } = new URL(stack.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write(
    [
      "POST /api/v1/chat/completions HTTP/1.1",
      "host: test",
      `authorization: Bearer ${stack.apiKey}`,
      "content-type: application/json",
      `content-length: ${announced}`,
      "",
      body,
    ].join("\r\n"),
  );
  return socket;
}

const soon = { interval: 20 };
const inFlight = (name: string) => stack.metric("setpoint_inference_in_flight", `upstream="${name}"`);
const aborted = (name: string) => stack.metric("setpoint_inference_aborted_total", `upstream="${name}"`, "client_gone");
const logged499 = () => stack.log().match(/"status":499/g)?.length ?? 0;

const small = '{"model":"m","stream":true}';
const large = JSON.stringify({ model: "m", text: "x".repeat(20 * 1024 * 1024) });

describe.each([
  ["closes", (socket: Socket) => socket.destroy()],
  ["half-closes", (socket: Socket) => socket.end()],
  ["resets", (socket: Socket) => socket.resetAndDestroy()],
])("a client that %s the connection", (_name, leave) => {
  /** Disconnects on request, and expects that everything of it is cleaned up. */
  async function leaves(name: string, client: Socket): Promise<void> {
    const [abortedBefore, loggedBefore] = [await aborted(name), logged499()];
    leave(client);
    await expect.poll(() => inFlight(name), soon).toBe(0);
    await expect.poll(() => aborted(name), soon).toBe(abortedBefore + 1);
    await expect.poll(logged499, soon).toBe(loggedBefore + 1);
  }

  it("aborts opening the upstream connection", async () => {
    const client = send('{"model":"mute"}');
    await expect.poll(() => inFlight("mute"), soon).toBe(1);
    await leaves("mute", client);
  });

  it("aborts the upload to an upstream that does not read", async () => {
    upstream.atHead = (_request, socket) => {
      socket.pause();
    };
    const client = send(large);
    await expect.poll(() => upstream.received.length, soon).toBe(1);
    await expect.poll(() => inFlight("main"), soon).toBe(1);
    await leaves("main", client);
    upstream.last.socket.resume();
    await upstream.last.closed;
    expect(upstream.last.bodyBytes).toBeLessThan(large.length);
  });

  it("aborts waiting for an answer", async () => {
    upstream.script = silence;
    const client = send(small);
    await expect.poll(() => upstream.received.length, soon).toBe(1);
    await leaves("main", client);
    await upstream.last.closed;
  });

  it("aborts waiting for a retry", async () => {
    upstream.script = answerWith(429, "{}", { "retry-after": "2" });
    const client = send(small);
    await expect.poll(() => upstream.received.length, soon).toBe(1);
    const retries = () => stack.metric("setpoint_inference_retries_total", 'upstream="main"');
    await expect.poll(retries, soon).toBeGreaterThan(0);
    await leaves("main", client);
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    expect(upstream.received).toHaveLength(1);
  });

  it("aborts a stream between two chunks", async () => {
    upstream.script = (_request, socket) => {
      socket.write(Buffer.concat([Buffer.from(streamHead), chunkOf("data: 1\n\n")]));
    };
    const client = send(small);
    let received = "";
    client.on("data", (data) => {
      received += data;
    });
    await expect.poll(() => received, soon).toContain("data: 1");
    await leaves("main", client);
    await upstream.last.closed;
  });

  it("aborts an endless stream that it reads", async () => {
    const chunk = chunkOf(`data: ${"x".repeat(1_000)}\n\n`);
    upstream.script = (_request, socket) => {
      socket.write(streamHead);
      const more = () => {
        while (!socket.destroyed && socket.write(chunk));
        if (!socket.destroyed) socket.once("drain", more);
      };
      more();
    };
    const client = send(small);
    client.resume();
    await expect.poll(() => client.bytesRead, soon).toBeGreaterThan(100_000);
    await leaves("main", client);
    await upstream.last.closed;
  });
});

describe("a client that hangs up", () => {
  it("is not logged as an error", () => {
    expect(
      stack
        .log()
        .slice(logStart)
        .match(/"level":[456]0,.*/g),
    ).toBeNull();
  });
});
