import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answerWith, chunkOf, HostileUpstream, lastChunk, silence, streamBegun } from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";
import { RawConnection } from "../support/raw-connection.ts";

let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack({ upstreams: [entryOf(upstream)] }, { gateway: { drainTimeoutMs: 5_000 } });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
});

beforeEach(() => upstream.reset());

const stopped = () => expect.poll(() => fetch(stack.baseUrl).catch(() => "refused")).toBe("refused");

describe("a gateway that is told to stop", () => {
  it("lets a stream finish", async () => {
    upstream.script = streamBegun("data: 1\n\n");
    const answer = await stack.send("chat/completions", { model: "m", stream: true });
    const stop = stack.gateway.stop();
    await stopped();
    upstream.last.socket.write(Buffer.concat([chunkOf("data: 2\n\n"), Buffer.from(lastChunk)]));
    expect(await answer.text()).toBe("data: 1\n\ndata: 2\n\n");
    await stop;
    await expect.poll(() => upstream.openConnections).toBe(0);
    await stack.gateway.start();
  });

  it("lets an answer start, and closes its connection afterwards", async () => {
    upstream.script = silence;
    const answer = stack.send("chat/completions", { model: "m" });
    await expect.poll(() => upstream.received.length).toBe(1);
    const stop = stack.gateway.stop();
    await stopped();
    upstream.last.socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
    expect((await answer).headers.get("connection")).toBe("close");
    await stop;
    await stack.gateway.start();
  });

  it("reports the shutdown to clients past the drain time, and closes upstream connections", async () => {
    upstream.script = silence;
    upstream.next.push(streamBegun("data: 1\n\n"));
    const answer = await stack.send("chat/completions", { model: "m", stream: true });
    const read = answer.text();
    const begun = stack.send("messages", { model: "m" }).then((response) => response.status);
    await expect.poll(() => upstream.received.length).toBe(2);
    await stack.gateway.stop();
    expect(await read).toMatch(
      /^data: 1\n\ndata: .*"error":\{"code":503,"message":"The upstream main was not waited for/,
    );
    expect(await begun).toBe(503);
    await expect.poll(() => upstream.openConnections).toBe(0);
    await stack.gateway.start();
  });

  it("reports the shutdown to a client waiting for a retry, and sends nothing more upstream", async () => {
    await stack.gateway.stop();
    await stack.gateway.start({ drainTimeoutMs: 1_800 });
    upstream.script = silence;
    upstream.next.push(answerWith(503, "{}", { "retry-after": "2" }));
    const waiting = stack.send("chat/completions", { model: "m" }).then((response) => response.text());
    await expect.poll(() => upstream.received.length).toBe(1);
    const late = await RawConnection.open(stack.baseUrl);
    const head = [
      "POST /api/v1/messages HTTP/1.1",
      "host: here",
      `authorization: Bearer ${stack.apiKey}`,
      "content-type: application/json",
      "content-length: 13",
    ];
    late.send(`${head.join("\r\n")}\r\n\r\n{"model"`);
    const stop = stack.gateway.stop();
    expect(await waiting).toMatch(/"code":503,"message":"The upstream main was not waited for any longer/);
    const sent = upstream.received.length;
    late.send(':"m"}');
    await late.closed();
    await stop;
    expect(upstream.received.length).toBe(sent);
    await stack.gateway.start({ drainTimeoutMs: 5_000 });
  });
});
