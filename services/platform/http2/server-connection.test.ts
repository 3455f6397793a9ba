import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { monotonicMs } from "../process/clock.ts";
import { FrameReader } from "./frame-reader.ts";
import { frame, goawayFrame, rstStreamFrame, settingsFrame, windowUpdateFrame } from "./frames.ts";
import { encodeHeaders } from "./header-encoder.ts";
import { type Field, headerOf } from "./header-table.ts";
import { errorCodes, flags, frameTypes, preface } from "./protocol.ts";
import { ServerConnection } from "./server-connection.ts";
import type { Http2Stream } from "./stream.ts";

const answer = encodeHeaders([":status", "200"]);

let server: Server;
let connections: ServerConnection[];
let sockets: Socket[];
let client: Socket;
/** What the server has said. */
let heard: { type: number; bits: number; streamId: number; payload: Buffer }[];
/** How many requests came to their end. */
let requests: number;
let received: Buffer[];
let large: Http2Stream | undefined;
const largeBytes = 60_000_000;
const mediumBytes = 30_000;
const bodies = new Map([
  ["/large", Buffer.alloc(largeBytes)],
  ["/medium", Buffer.alloc(mediumBytes)],
]);

beforeEach(async () => {
  connections = [];
  sockets = [];
  heard = [];
  requests = 0;
  received = [];
  large = undefined;
  server = createServer((socket) => {
    const onRequest = (stream: Http2Stream, fields: readonly Field[]) => {
      stream.listener = {
        onHeaders() {},
        onData: (bytes) => received.push(bytes),
        onEnd: () => {
          requests += 1;
          const path = headerOf(fields, ":path") ?? "";
          if (path === "/silent") return;
          if (path === "/faulty") throw new Error("a fault of ours");
          if (path === "/large") large = stream;
          stream.headers(answer);
          stream.data(bodies.get(path) ?? Buffer.from("answered"));
          stream.end(encodeHeaders(["x-trailer", "1"]));
        },
        onClose() {},
      };
    };
    sockets.push(socket);
    connections.push(new ServerConnection(socket, { onRequest, onClose() {} }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const reader = new FrameReader((type, bits, streamId, payload) => heard.push({ type, bits, streamId, payload }));
  client.on("data", (chunk: Buffer) => reader.read(chunk));
  client.on("error", () => {});
});

afterEach(() => {
  client.destroy();
  for (const connection of connections) connection.destroy();
  server.close();
});

const { endStream, endHeaders, padded, priority, ack } = flags;
const noBytes = Buffer.alloc(0);

function headers(
  streamId: number,
  pairs: readonly string[] = request(),
  bits: number = endStream | endHeaders,
): Buffer {
  return frame(frameTypes.headers, bits, streamId, encodeHeaders(pairs));
}

function request(...more: string[]): string[] {
  return [":method", "POST", ":scheme", "http", ":path", "/", ":authority", "a", ...more];
}

function data(streamId: number, bytes: Buffer | string, bits = 0): Buffer {
  return frame(frameTypes.data, bits, streamId, Buffer.from(bytes));
}

/** Greets, and sends these. */
function send(...frames: Buffer[]): void {
  client.write(Buffer.concat([preface, settingsFrame({}), ...frames]));
}

function ping(text = "12345678"): Buffer {
  return frame(frameTypes.ping, 0, 0, Buffer.from(text));
}

const said = (type: number) => heard.filter((one) => one.type === type);
const goawayCode = () => said(frameTypes.goaway).at(-1)?.payload.readUInt32BE(4);
const resetCode = () => said(frameTypes.rstStream).at(-1)?.payload.readUInt32BE(0);
const hasPong = () => said(frameTypes.ping).some(({ bits }) => bits === ack);

describe("a fault of ours", () => {
  it("ends the connection alone, and is warned of", async () => {
    const warning = once(process, "warning");
    send(headers(1, [":method", "POST", ":scheme", "http", ":path", "/faulty", ":authority", "a"]));
    await expect.poll(goawayCode).toBe(errorCodes.internal);
    expect((await warning)[0].message).toBe("a fault of ours");
  });
});

describe("a request", () => {
  it("is answered: headers, data and trailers at once", async () => {
    send(headers(1));
    await expect.poll(() => said(frameTypes.headers).length).toBe(2);
    expect(said(frameTypes.data).map(({ payload }) => payload.toString())).toEqual(["answered"]);
    expect(said(frameTypes.headers).map(({ bits }) => bits)).toEqual([endHeaders, endHeaders | endStream]);
    expect(resetCode()).toBeUndefined();
  });

  it("is read wherever it is cut", async () => {
    const bytes = Buffer.concat([
      preface,
      settingsFrame({}),
      headers(1, request(), endHeaders),
      data(1, "body", endStream),
    ]);
    for (const byte of bytes) {
      client.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    await expect.poll(() => requests).toBe(1);
    expect(Buffer.concat(received).toString()).toBe("body");
  });

  it.each<[string, Buffer[]]>([
    [
      "in several frames of headers",
      [
        frame(frameTypes.headers, endStream, 1, encodeHeaders(request()).subarray(0, 2)),
        frame(frameTypes.continuation, 0, 1, noBytes),
        frame(frameTypes.continuation, endHeaders, 1, encodeHeaders(request()).subarray(2)),
      ],
    ],
    [
      "with padding",
      [
        frame(
          frameTypes.headers,
          endHeaders | padded,
          1,
          Buffer.concat([Buffer.from([3]), encodeHeaders(request()), Buffer.alloc(3)]),
        ),
        frame(frameTypes.data, endStream | padded, 1, Buffer.from("\x04body\0\0\0\0")),
      ],
    ],
    [
      "with a priority",
      [
        frame(
          frameTypes.headers,
          endHeaders | endStream | priority,
          1,
          Buffer.concat([Buffer.from([0, 0, 0, 9, 1]), encodeHeaders(request())]),
        ),
      ],
    ],
    ["with trailers", [headers(1, request(), endHeaders), headers(1, ["x", "1"])]],
    [
      "whose length is as announced",
      [headers(1, request("content-length", "4"), endHeaders), data(1, "body", endStream)],
    ],
    ["among frames that nobody knows", [frame(0xfa, 255, 1, noBytes), frame(0xfa, 0, 0, noBytes), headers(1)]],
    [
      "among settings that nobody knows",
      [frame(frameTypes.settings, 0, 0, Buffer.from([255, 255, 1, 2, 3, 4])), headers(1)],
    ],
    ["with empty data", [headers(1, request(), endHeaders), data(1, ""), data(1, ""), data(1, "", endStream)]],
    [
      "after a priority of a stream that has not begun",
      [frame(frameTypes.priority, 0, 1, Buffer.alloc(5, 1)), headers(1)],
    ],
  ])("%s is answered", async (_, frames) => {
    send(...frames);
    await expect.poll(() => said(frameTypes.headers).length).toBe(2);
    expect(goawayCode()).toBeUndefined();
  });

  it.each<[string, string[]]>([
    ["without a method", [":scheme", "http", ":path", "/"]],
    ["without a scheme", [":method", "POST", ":path", "/"]],
    ["without a path", [":method", "POST", ":scheme", "http"]],
    ["with an empty path", [":method", "POST", ":scheme", "http", ":path", ""]],
    ["with two methods", request().concat(":method", "GET")],
    ["whose path comes too late", [":method", "POST", ":scheme", "http", "x", "1", ":path", "/"]],
    ["with a header of an answer", [...request().slice(0, 2), ":status", "200", ...request().slice(2)]],
    ["with a name in capitals", request("X-Name", "1")],
    ["with a name that is none", request("x name", "1")],
    ["with an empty name", request("", "1")],
    ["with a line in a value", request("x", "a\nb")],
    ["with a zero byte in a value", request("x", "a\0b")],
    ["with a header of a connection", request("connection", "close")],
    ["with another header of a connection", request("transfer-encoding", "chunked")],
    ["with a TE that is no trailers", request("te", "gzip")],
    ["with a length that is no number", request("content-length", "four")],
    ["with two lengths", request("content-length", "0", "content-length", "1")],
    ["with a length beyond all", request("content-length", "9".repeat(20))],
    ["to connect to somewhere else", request().with(1, "CONNECT")],
    ["shorter than announced", request("content-length", "3")],
  ])("%s is reset, and the next one is answered", async (_, pairs) => {
    send(headers(1, pairs), headers(3));
    await expect.poll(() => said(frameTypes.headers).length).toBe(2);
    expect(resetCode()).toBe(errorCodes.protocol);
    expect(said(frameTypes.rstStream).map(({ streamId }) => streamId)).toEqual([1]);
  });

  it.each<[string, Buffer[], number]>([
    [
      "longer than announced",
      [headers(1, request("content-length", "3"), endHeaders), data(1, "body")],
      errorCodes.protocol,
    ],
    [
      "that goes on after its end",
      [headers(1, request().with(5, "/silent")), data(1, "more")],
      errorCodes.streamClosed,
    ],
    [
      "with headers after its end",
      [headers(1, request().with(5, "/silent")), headers(1, ["x", "1"])],
      errorCodes.streamClosed,
    ],
    [
      "with trailers that are not its end",
      [headers(1, request(), endHeaders), headers(1, ["x", "1"], endHeaders)],
      errorCodes.protocol,
    ],
    [
      "with a pseudo-header in its trailers",
      [headers(1, request(), endHeaders), headers(1, [":path", "/"])],
      errorCodes.protocol,
    ],
    [
      "whose window grows by nothing",
      [headers(1, request(), endHeaders), windowUpdateFrame(1, 0)],
      errorCodes.protocol,
    ],
    [
      "whose window grows too far",
      [headers(1, request(), endHeaders), windowUpdateFrame(1, 2 ** 31 - 1)],
      errorCodes.flowControl,
    ],
  ])("%s is reset, and the connection goes on", async (_, frames, code) => {
    send(...frames, ping());
    await expect.poll(hasPong).toBe(true);
    expect(resetCode()).toBe(code);
    expect(goawayCode()).toBeUndefined();
  });

  it("that was reset is forgotten, with all that is still on its way", async () => {
    const open = headers(1, request(), endHeaders);
    send(
      open,
      rstStreamFrame(1, 8),
      data(1, "late"),
      windowUpdateFrame(1, 5),
      rstStreamFrame(1, 8),
      headers(1),
      ping(),
    );
    await expect.poll(hasPong).toBe(true);
    expect(heard.filter(({ streamId }) => streamId === 1)).toEqual([]);
    expect(requests).toBe(0);
  });
});

describe("a connection is ended by", () => {
  const opened = () => headers(1, request(), endHeaders);

  it.each<[string, () => Buffer[], number]>([
    ["a frame that is too large", () => [frame(frameTypes.data, 0, 1, Buffer.alloc(16_385))], errorCodes.frameSize],
    ["data of no stream", () => [data(0, "x")], errorCodes.protocol],
    ["headers of no stream", () => [headers(0)], errorCodes.protocol],
    ["a priority of no stream", () => [frame(frameTypes.priority, 0, 0, Buffer.alloc(5))], errorCodes.protocol],
    ["a reset of no stream", () => [rstStreamFrame(0, 0)], errorCodes.protocol],
    ["headers that go on, of no stream", () => [frame(frameTypes.continuation, 0, 0, noBytes)], errorCodes.protocol],
    ["settings of a stream", () => [frame(frameTypes.settings, 0, 1, noBytes)], errorCodes.protocol],
    ["a ping of a stream", () => [frame(frameTypes.ping, 0, 1, Buffer.alloc(8))], errorCodes.protocol],
    ["last words of a stream", () => [frame(frameTypes.goaway, 0, 1, Buffer.alloc(8))], errorCodes.protocol],
    ["a push", () => [frame(frameTypes.pushPromise, 4, 1, Buffer.alloc(4))], errorCodes.protocol],
    ["data of a stream that has not begun", () => [data(1, "x")], errorCodes.protocol],
    ["a reset of a stream that has not begun", () => [rstStreamFrame(1, 0)], errorCodes.protocol],
    ["a window of a stream that has not begun", () => [windowUpdateFrame(1, 1)], errorCodes.protocol],
    ["a stream with an even number", () => [headers(2)], errorCodes.protocol],
    [
      "a stream that depends on itself",
      () => [frame(frameTypes.priority, 0, 1, Buffer.from([0, 0, 0, 1, 1]))],
      errorCodes.protocol,
    ],
    [
      "nothing but padding",
      () => [opened(), frame(frameTypes.data, padded, 1, Buffer.from([3, 0, 0]))],
      errorCodes.protocol,
    ],
    ["padding without a length", () => [opened(), frame(frameTypes.data, padded, 1, noBytes)], errorCodes.frameSize],
    ["a short priority", () => [frame(frameTypes.priority, 0, 1, Buffer.alloc(4))], errorCodes.frameSize],
    ["a short reset", () => [opened(), frame(frameTypes.rstStream, 0, 1, Buffer.alloc(3))], errorCodes.frameSize],
    ["a short window", () => [frame(frameTypes.windowUpdate, 0, 0, Buffer.alloc(3))], errorCodes.frameSize],
    ["a short ping", () => [frame(frameTypes.ping, 0, 0, Buffer.alloc(7))], errorCodes.frameSize],
    ["a short goodbye", () => [frame(frameTypes.goaway, 0, 0, Buffer.alloc(7))], errorCodes.frameSize],
    ["settings of another length", () => [frame(frameTypes.settings, 0, 0, Buffer.alloc(7))], errorCodes.frameSize],
    [
      "an answer to settings with content",
      () => [frame(frameTypes.settings, ack, 0, Buffer.alloc(6))],
      errorCodes.frameSize,
    ],
    ["a window that is too large", () => [windowUpdateFrame(0, 2 ** 31 - 1)], errorCodes.flowControl],
    ["a window that grows by nothing", () => [windowUpdateFrame(0, 0)], errorCodes.protocol],
    ["a first window that is too large", () => [settingsFrame({ initialWindowSize: 2 ** 31 })], errorCodes.flowControl],
    [
      "settings that make a window too large",
      () => [opened(), windowUpdateFrame(1, 2 ** 31 - 65_536), settingsFrame({ initialWindowSize: 65_536 })],
      errorCodes.flowControl,
    ],
    ["a push that is neither on nor off", () => [settingsFrame({ enablePush: 2 })], errorCodes.protocol],
    ["frames that may be smaller than all", () => [settingsFrame({ maxFrameSize: 16_383 })], errorCodes.protocol],
    ["frames that may be larger than any", () => [settingsFrame({ maxFrameSize: 2 ** 24 })], errorCodes.protocol],
    ["a frame between headers", () => [headers(1, request(), 0), ping()], errorCodes.protocol],
    ["headers between headers", () => [headers(1, request(), 0), headers(3)], errorCodes.protocol],
    [
      "headers that go on in another stream",
      () => [headers(1, request(), 0), frame(frameTypes.continuation, 4, 3, noBytes)],
      errorCodes.protocol,
    ],
    [
      "headers that go on without a beginning",
      () => [frame(frameTypes.continuation, 4, 1, noBytes)],
      errorCodes.protocol,
    ],
    [
      "headers without end",
      () => [headers(1, request(), 0), ...Array(2_100).fill(frame(frameTypes.continuation, 0, 1, noBytes))],
      errorCodes.enhanceYourCalm,
    ],
    [
      "headers that cannot be read",
      () => [frame(frameTypes.headers, 5, 1, Buffer.from([0x80]))],
      errorCodes.compression,
    ],
    [
      "settings that change all the time",
      () => Array.from({ length: 1_100 }, (_, index) => settingsFrame({ initialWindowSize: index })),
      errorCodes.enhanceYourCalm,
    ],
    [
      "streams that are reset all the time",
      () =>
        Array.from({ length: 1_100 }, (_, index) => [
          headers(2 * index + 1, request(), endHeaders),
          rstStreamFrame(2 * index + 1, 8),
        ]).flat(),
      errorCodes.enhanceYourCalm,
    ],
    [
      "streams that we must reset all the time",
      () =>
        Array.from({ length: 1_100 }, (_, index) => [
          headers(2 * index + 1, request().with(5, "/silent")),
          windowUpdateFrame(2 * index + 1, 0),
        ]).flat(),
      errorCodes.enhanceYourCalm,
    ],
  ])("%s, with a last word", async (_, frames, code) => {
    send(...frames());
    await expect.poll(() => client.closed).toBe(true);
    expect(goawayCode()).toBe(code);
  });

  it.each([
    ["a request of HTTP/1.1", Buffer.from("GET / HTTP/1.1\r\nhost: a\r\n\r\n")],
    ["a first frame that is no settings", Buffer.concat([preface, ping()])],
    [
      "a first frame that only confirms settings",
      Buffer.concat([preface, frame(frameTypes.settings, ack, 0, noBytes)]),
    ],
  ])("%s", async (_, bytes) => {
    client.write(bytes);
    await expect.poll(() => client.closed).toBe(true);
    expect(goawayCode()).toBe(errorCodes.protocol);
  });

  it("a peer that asks all the time and reads nothing", async () => {
    client.pause();
    send();
    const pings = Buffer.concat(Array(10_000).fill(ping()));
    for (let count = 0; count < 1_000 && !client.closed && !connections[0]?.destroyed; count += 1) {
      if (!client.write(pings)) await Promise.race([once(client, "drain"), once(client, "close")]).catch(() => {});
    }
    await expect.poll(() => connections[0]?.destroyed).toBe(true);
  });
});

describe("an answer", () => {
  it("that waits for the window of its stream costs nothing while that of the connection grows", async () => {
    send(
      settingsFrame({ initialWindowSize: 0 }),
      ...Array.from({ length: 4_000 }, (_, index) => headers(2 * index + 1)),
    );
    await expect.poll(() => requests).toBe(4_000);
    const startedAtMs = monotonicMs();
    // In a second or so; where each of them went through all streams, it would take minutes.
    for (let count = 0; count < 100; count += 1) {
      client.write(Buffer.concat(Array(1_000).fill(windowUpdateFrame(0, 1))));
    }
    client.write(Buffer.concat([ping(), settingsFrame({ initialWindowSize: 65_535 })]));
    await expect.poll(hasPong).toBe(true);
    expect(monotonicMs() - startedAtMs).toBeLessThan(15_000);
    await expect.poll(() => said(frameTypes.data).length).toBe(4_000);
  });

  it("waits in its stream, where it is counted, until the client reads", async () => {
    send(settingsFrame({ initialWindowSize: 2 ** 31 - 1 }), windowUpdateFrame(0, 2 ** 31 - 65_536));
    client.write(headers(1, request().with(5, "/large")));
    await expect.poll(() => large).toBeDefined();
    client.pause();
    await expect.poll(() => large?.writableLength).toBeLessThan(largeBytes);
    await setTimeout(200);
    expect(large?.writableLength).toBeGreaterThan(largeBytes / 2);
    client.resume();
    await expect.poll(() => large?.isClosed).toBe(true);
    await expect
      .poll(() => said(frameTypes.data).reduce((sum, { payload }) => sum + payload.length, 0))
      .toBe(largeBytes);
  });
});

describe("a connection that ends", () => {
  it("waits for a client that reads its last answer late", async () => {
    client.pause();
    send(settingsFrame({ initialWindowSize: 2 ** 31 - 1 }), windowUpdateFrame(0, 2 ** 31 - 65_536));
    await expect.poll(() => sockets.length).toBe(1);
    // Until all is full between the client and the server, and the last answer waits in its socket.
    while (sockets[0]?.writableLength === 0) {
      const before = requests;
      client.write(headers(2 * requests + 1, request().with(5, "/medium")));
      while (requests === before) await new Promise(setImmediate);
    }
    connections[0]?.close();
    await setTimeout(1_500);
    client.resume();
    await expect.poll(() => client.closed).toBe(true);
    expect(said(frameTypes.data).reduce((sum, { payload }) => sum + payload.length, 0)).toBe(requests * mediumBytes);
  });

  it("says so, answers what was sent before, and closes", async () => {
    send(headers(1, request(), endHeaders));
    await expect.poll(() => connections.length).toBe(1);
    await expect.poll(() => heard.length).toBeGreaterThan(1);
    connections[0]?.announceEnd();
    client.write(Buffer.concat([headers(3, request(), endHeaders), ping()]));
    await expect.poll(goawayCode).toBe(errorCodes.none);
    await expect.poll(hasPong).toBe(true);
    connections[0]?.close();
    client.write(Buffer.concat([headers(5), data(1, "", endStream)]));
    await expect.poll(() => said(frameTypes.data).map(({ streamId }) => streamId)).toEqual([1]);
    expect(client.closed).toBe(false);
    client.write(data(3, "", endStream));
    await expect.poll(() => client.closed).toBe(true);
    expect(said(frameTypes.data).map(({ streamId }) => streamId)).toEqual([1, 3]);
    expect(said(frameTypes.rstStream).map(({ streamId }) => streamId)).toEqual([5]);
    expect(resetCode()).toBe(errorCodes.refusedStream);
  });

  it("answers what it has where the client says goodbye", async () => {
    send(headers(1, request(), endHeaders), goawayFrame(0, 0), data(1, "", endStream), headers(3));
    await expect.poll(() => said(frameTypes.data)).toHaveLength(2);
    client.end();
    await expect.poll(() => connections[0]?.destroyed).toBe(true);
  });
});
