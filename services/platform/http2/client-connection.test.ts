import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { blockProcess } from "../../../test/support/block-process.ts";
import { bufferBytes } from "../../../test/support/garbage.ts";
import { ClientConnection } from "./client-connection.ts";
import { FrameReader } from "./frame-reader.ts";
import { frame, settingsFrame } from "./frames.ts";
import { encodeHeaders } from "./header-encoder.ts";
import { errorCodes, flags, frameTypes, preface, streamIdMax } from "./protocol.ts";

// The server's side is written by hand, frame by frame.

const requestHead = encodeHeaders([":method", "POST", ":scheme", "http", ":path", "/", ":authority", "a"]);
const answerHead = encodeHeaders([":status", "200"]);

let server: Server;
let peer: Socket | undefined;
let connection: ClientConnection;
/** What the client has sent. */
let frames: { type: number; bits: number; streamId: number; payload: Buffer }[];
/** The outcome of the requests and of the connection, in order. */
let told: string[];

/** A connection with stream ids left for two streams. */
class WornConnection extends ClientConnection {
  protected override newestStreamId = streamIdMax - 4;
}

const listener = {
  onReady: () => told.push("ready"),
  onGoaway: () => told.push("goaway"),
  onClose: () => told.push("closed"),
};

function portOf(listening: Server): number {
  return (listening.address() as AddressInfo).port;
}

async function open(Connection = ClientConnection): Promise<void> {
  const accepted = once(server, "connection") as Promise<[Socket]>;
  connection = new Connection(connect(portOf(server), "127.0.0.1"), listener);
  const [socket] = await accepted;
  peer = socket;
  let prefaceBytes = preface.length;
  const reader = new FrameReader((type, bits, streamId, payload) => frames.push({ type, bits, streamId, payload }));
  socket.on("data", (chunk: Buffer) => {
    reader.read(chunk.subarray(prefaceBytes));
    prefaceBytes = Math.max(0, prefaceBytes - chunk.length);
  });
  socket.on("error", () => {});
}

beforeEach(async () => {
  frames = [];
  told = [];
  server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
});

afterEach(async () => {
  connection.destroy();
  await expect.poll(() => told).toContain("closed");
  peer?.destroy();
  server.close();
});

const silent = { onHeaders() {}, onData() {}, onEnd() {}, onClose() {} };

/** Records its outcome under this name. */
function ask(name: string, body = Buffer.from(name)): void {
  connection.request(requestHead, body, {
    onHeaders() {},
    onData() {},
    onEnd: () => told.push(`${name} answered`),
    onClose: (code) => told.push(`${name} ${code}`),
  });
}

function answer(streamId: number): Buffer {
  return frame(frameTypes.headers, flags.endHeaders | flags.endStream, streamId, answerHead);
}

async function greet(values: Parameters<typeof settingsFrame>[0]): Promise<void> {
  peer?.write(settingsFrame(values));
  await expect.poll(() => told).toContain("ready");
}

const framesOf = (type: number) => frames.filter((one) => one.type === type);
const streamIds = () => framesOf(frameTypes.headers).map(({ streamId }) => streamId);
const bytesOf = (id: number) =>
  framesOf(frameTypes.data).reduce((sum, { streamId, payload }) => sum + (streamId === id ? payload.length : 0), 0);

describe("a request", () => {
  it("without a body is ended", async () => {
    await open();
    ask("a", Buffer.alloc(0));
    await expect.poll(() => frames.some(({ bits, streamId }) => streamId === 1 && bits & flags.endStream)).toBe(true);
  });

  it("that waits for a stream has the window that the server sets", async () => {
    await open();
    await greet({ maxConcurrentStreams: 1, initialWindowSize: 10 });
    ask("a", Buffer.alloc(20));
    ask("b", Buffer.alloc(100));
    await expect.poll(() => bytesOf(1)).toBe(10);
    // It is answered before it was sent completely; once the rest is sent, the next one gets its turn.
    peer?.write(Buffer.concat([answer(1), settingsFrame({ initialWindowSize: 25 })]));
    await expect.poll(() => bytesOf(1)).toBe(20);
    await expect.poll(() => bytesOf(3)).toBeGreaterThan(0);
    expect(bytesOf(3)).toBe(25);
  });

  it.for<[string, (act: () => void) => void]>([
    ["sent by a timer", (act) => setTimeout(act)],
    // In such a turn of the event loop, sockets that became readable only now are not read.
    ["sent while another connection is read", (act) => connect(portOf(server), "127.0.0.1", act)],
  ])("after a silence does not lose an answer sent before the server closed: %s", async ([_name, inTurn]) => {
    await open();
    await greet({});
    ask("a");
    await expect.poll(() => streamIds()).toEqual([1]);
    await sleep(1_100);
    inTurn(() => {
      peer?.write(answer(1));
      peer?.resetAndDestroy();
      blockProcess(20);
      ask("b");
    });
    await expect.poll(() => told).toContain("closed");
    expect(told).toContain("a answered");
  });

  it("canceled before it got a stream is not sent", async () => {
    await open();
    await greet({ maxConcurrentStreams: 1 });
    ask("a");
    const given = connection.request(requestHead, Buffer.from("b"), {
      onHeaders() {},
      onData() {},
      onEnd() {},
      onClose: (code) => told.push(`b ${code}`),
    });
    ask("c");
    given.reset(errorCodes.cancel);
    expect(told.at(-1)).toBe(`b ${errorCodes.cancel}`);
    await expect.poll(streamIds).toEqual([1]);
    peer?.write(answer(1));
    await expect.poll(() => bytesOf(3)).toBe(1);
    expect(framesOf(frameTypes.data).at(-1)?.payload.toString()).toBe("c");
    expect(framesOf(frameTypes.rstStream)).toEqual([]);
  });
});

describe("an answer with headers that are too large", () => {
  it("fails its request only", async () => {
    await open();
    await greet({});
    ask("a");
    ask("b");
    await expect.poll(streamIds).toEqual([1, 3]);
    const large = encodeHeaders([":status", "200", "x", "1".repeat(16_000)]);
    const parts = Array.from({ length: 5 }, (_, part) =>
      frame(part === 0 ? frameTypes.headers : frameTypes.continuation, part < 4 ? 0 : flags.endHeaders, 1, large),
    );
    peer?.write(Buffer.concat([...parts, answer(3)]));
    await expect.poll(() => told).toContain("b answered");
    expect(told).toContain(`a ${errorCodes.enhanceYourCalm}`);
    expect(framesOf(frameTypes.goaway)).toEqual([]);
  });
});

describe("requests canceled before they got a stream", () => {
  it("leave nothing in memory, however long the server accepts none", async () => {
    await open();
    await greet({ maxConcurrentStreams: 0 });
    const before = bufferBytes();
    for (let count = 0; count < 100; count += 1) {
      connection.request(requestHead, Buffer.alloc(1_000_000), silent).reset(errorCodes.cancel);
    }
    await expect.poll(() => bufferBytes() - before).toBeLessThan(10_000_000);
    ask("a");
    peer?.write(settingsFrame({ maxConcurrentStreams: 1 }));
    await expect.poll(streamIds).toEqual([1]);
  });
});

describe("a closing connection", () => {
  it("sends waiting requests, and closes once they are answered", async () => {
    await open();
    await greet({ maxConcurrentStreams: 1 });
    ask("a");
    ask("b");
    connection.close();
    await expect.poll(streamIds).toEqual([1]);
    peer?.write(answer(1));
    await expect.poll(streamIds).toEqual([1, 3]);
    peer?.write(answer(3));
    await expect.poll(() => told).toContain("closed");
    expect(told.filter((text) => text.endsWith("answered"))).toEqual(["a answered", "b answered"]);
  });

  it("does not wait for a server that it has not reached", async () => {
    connection = new ClientConnection(connect({ host: "nowhere", port: 1, lookup() {} }), listener);
    connection.close();
    await expect.poll(() => told).toContain("closed");
  });

  it("notifies all requests before it closes, including waiting ones", async () => {
    await open();
    await greet({ maxConcurrentStreams: 1 });
    ask("a");
    ask("b");
    peer?.destroy();
    await expect.poll(() => told).toContain("closed");
    expect(told.at(-1)).toBe("closed");
    expect(told).toEqual(expect.arrayContaining(["a undefined", `b ${errorCodes.refusedStream}`]));
  });

  it("refuses its requests if it cannot be made", async () => {
    const closed = createServer();
    await once(closed.listen(0, "127.0.0.1"), "listening");
    const port = portOf(closed);
    await new Promise((resolve) => closed.close(resolve));
    connection = new ClientConnection(connect(port, "127.0.0.1"), listener);
    ask("a");
    await expect.poll(() => told).toEqual([`a ${errorCodes.refusedStream}`, "closed"]);
  });

  it("closes when stream ids run out, and refuses waiting requests", async () => {
    await open(WornConnection);
    await greet({ maxConcurrentStreams: 1 });
    for (const name of ["a", "b", "c"]) ask(name);
    await expect.poll(streamIds).toEqual([streamIdMax - 2]);
    expect(connection.isClosing).toBe(false);
    peer?.write(answer(streamIdMax - 2));
    await expect.poll(streamIds).toEqual([streamIdMax - 2, streamIdMax]);
    expect(connection.isClosing).toBe(true);
    expect(told).toEqual(expect.arrayContaining(["goaway", `c ${errorCodes.refusedStream}`]));
    peer?.write(answer(streamIdMax));
    await expect.poll(() => told).toContain("closed");
    expect(told.filter((text) => text.endsWith("answered"))).toEqual(["a answered", "b answered"]);
  });
});

describe("a connection is closed with GOAWAY by", () => {
  it.each<[string, Buffer]>([
    ["an unsolicited answer", answer(1)],
    ["an answer on a server stream", answer(2)],
    ["unsolicited data", frame(frameTypes.data, 0, 1, Buffer.from("x"))],
    ["a server that allows pushes", settingsFrame({ enablePush: 1 })],
    ["a push", frame(frameTypes.pushPromise, flags.endHeaders, 1, Buffer.alloc(4))],
  ])("%s", async (_, bytes) => {
    await open();
    peer?.write(Buffer.concat([settingsFrame({}), bytes]));
    await expect.poll(() => told).toContain("closed");
    expect(framesOf(frameTypes.goaway).map(({ payload }) => payload.readUInt32BE(4))).toEqual([errorCodes.protocol]);
  });
});
