import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answerWith, HostileUpstream, headOf, silence, streamBroken } from "../support/hostile-upstream.ts";
import { chatRequestText, entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";
import { RawConnection } from "../support/raw-connection.ts";

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

beforeEach(() => upstream.reset());

const inference = () => chatRequestText(stack.apiKey, '{"model":"m"}');

describe("a stream that broke off", () => {
  it("leaves its connection to a pipelined request already in progress", async () => {
    upstream.next.push(silence);
    const connection = await RawConnection.open(stack.baseUrl);
    connection.send(inference());
    await expect.poll(() => upstream.received.length).toBe(1);
    connection.send(inference());
    await expect.poll(() => upstream.received.length).toBe(2);
    const [broken] = upstream.received;
    if (broken) void streamBroken("data: 1\n\n")(broken, broken.socket);
    await expect.poll(() => connection.statuses).toEqual([200, 200]);
    expect(connection.received).toContain("The upstream main broke off its answer.");
    expect(connection.received).toMatch(/\{"ok":true\}$/);
    expect(connection.isClosed).toBe(false);
    connection.hangUp();
  });

  it("closes its connection if no other request follows", async () => {
    upstream.next.push(streamBroken("data: 1\n\n"));
    const connection = await RawConnection.open(stack.baseUrl);
    connection.send(inference());
    await expect.poll(() => connection.isClosed, { timeout: 10_000 }).toBe(true);
    expect(connection.received).toMatch(/\r\n0\r\n\r\n$/);
  });
});

describe("a pipelined answer whose turn has not come", () => {
  it("closes the connection after those before it if its client has half-closed", async () => {
    upstream.script = silence;
    const connection = await RawConnection.open(stack.baseUrl);
    const read = `GET /api/v1/key HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${stack.apiKey}\r\n\r\n`;
    connection.send(read + inference());
    connection.halfClose();
    await connection.closed();
    expect(connection.statuses).toEqual([200]);
    await expect.poll(() => stack.metric("setpoint_inflight_bytes")).toBe(0);
  });

  it("closes the connection after those before it if it broke off", async () => {
    const broken = stack.log().split("answer broke off").length;
    upstream.next.push(silence, (_request, socket) => {
      socket.write(`${headOf(200, { "content-length": "100" })}{"half":`, () => socket.destroy());
    });
    const connection = await RawConnection.open(stack.baseUrl);
    connection.send(inference());
    await expect.poll(() => upstream.received.length).toBe(1);
    connection.send(inference());
    await expect.poll(() => stack.log().split("answer broke off").length).toBe(broken + 1);
    const [first] = upstream.received;
    if (first) void answerWith(200, '{"whole":true}')(first, first.socket);
    const received = await connection.closed();
    expect(connection.statuses).toEqual([200, 200]);
    expect(received).toContain('{"whole":true}');
    expect(received).toMatch(/\{"half":$/);
    await expect.poll(() => stack.metric("setpoint_inflight_bytes")).toBe(0);
  });
});
