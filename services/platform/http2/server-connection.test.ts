import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { data, headers, largeBytes, mediumBytes, ping, RawHttp2, request } from "../../../test/support/raw-http2.ts";
import { monotonicMs } from "../time/clock.ts";
import { frame, goawayFrame, rstStreamFrame, settingsFrame, windowUpdateFrame } from "./frames.ts";
import { encodeHeaders } from "./header-encoder.ts";
import { errorCodes, flags, frameBytesMax, frameTypes, preface } from "./protocol.ts";

let peer: RawHttp2;

beforeEach(async () => {
  peer = await RawHttp2.open();
});

afterEach(() => peer.close());

const { endStream, endHeaders, padded, priority } = flags;
const noBytes = Buffer.alloc(0);

/** Headers that may need several frames. */
function inFrames(streamId: number, pairs: readonly string[]): Buffer[] {
  const block = encodeHeaders(pairs);
  const frames = [frame(frameTypes.headers, endStream, streamId, block.subarray(0, frameBytesMax))];
  for (let start = frameBytesMax; start < block.length; start += frameBytesMax) {
    const part = block.subarray(start, start + frameBytesMax);
    frames.push(frame(frameTypes.continuation, 0, streamId, part));
  }
  return [...frames, frame(frameTypes.continuation, endHeaders, streamId, noBytes)];
}

describe("an internal error", () => {
  it("ends only its connection, and emits a warning", async () => {
    const warning = once(process, "warning");
    peer.send(headers(1, [":method", "POST", ":scheme", "http", ":path", "/faulty", ":authority", "a"]));
    await expect.poll(peer.goawayCode).toBe(errorCodes.internal);
    expect((await warning)[0].message).toBe("a fault of ours");
  });
});

describe("a request", () => {
  it("is answered with headers, data and trailers at once", async () => {
    peer.send(headers(1));
    await expect.poll(() => peer.framesOf(frameTypes.headers).length).toBe(2);
    expect(peer.framesOf(frameTypes.data).map(({ payload }) => payload.toString())).toEqual(["answered"]);
    expect(peer.framesOf(frameTypes.headers).map(({ bits }) => bits)).toEqual([endHeaders, endHeaders | endStream]);
    expect(peer.resetCode()).toBeUndefined();
  });

  it("is read wherever it is split", async () => {
    const bytes = Buffer.concat([
      preface,
      settingsFrame({}),
      headers(1, request(), endHeaders),
      data(1, "body", endStream),
    ]);
    for (const byte of bytes) {
      peer.client.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    await expect.poll(() => peer.requests).toBe(1);
    expect(Buffer.concat(peer.received).toString()).toBe("body");
  });

  it.each<[string, Buffer[]]>([
    [
      "in several header frames",
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
    ["among unknown frames", [frame(0xfa, 255, 1, noBytes), frame(0xfa, 0, 0, noBytes), headers(1)]],
    ["among unknown settings", [frame(frameTypes.settings, 0, 0, Buffer.from([255, 255, 1, 2, 3, 4])), headers(1)]],
    ["with empty data", [headers(1, request(), endHeaders), data(1, ""), data(1, ""), data(1, "", endStream)]],
    ["after a priority for an idle stream", [frame(frameTypes.priority, 0, 1, Buffer.alloc(5, 1)), headers(1)]],
    [
      "after the reset of a later one whose headers were never sent",
      [headers(1, request(), endHeaders), rstStreamFrame(5, errorCodes.cancel), data(1, "body", endStream)],
    ],
  ])("%s is answered", async (_, frames) => {
    peer.send(...frames);
    await expect.poll(() => peer.framesOf(frameTypes.headers).length).toBe(2);
    expect(peer.goawayCode()).toBeUndefined();
  });

  it("with more padding than the windows hold is read by enlarging them in time", async () => {
    peer.send(headers(1, request(), endHeaders));
    const paddedByte = frame(frameTypes.data, padded, 1, Buffer.concat([Buffer.from([255, 97]), Buffer.alloc(255)]));
    const count = 100;
    const room = { 0: 65_535, 1: 256 * 1024 };
    const growthOf = (id: number) =>
      peer
        .framesOf(frameTypes.windowUpdate)
        .filter(({ streamId }) => streamId === id)
        .reduce((sum, { payload }) => sum + payload.readUInt32BE(), 0);
    const left = () => Math.min(room[0] + growthOf(0), room[1] + growthOf(1));
    for (let round = 0; round < 30; round += 1) {
      await expect.poll(left, { interval: 5 }).toBeGreaterThan(count * 257);
      room[0] -= count * 257;
      room[1] -= count * 257;
      peer.client.write(Buffer.concat(Array(count).fill(paddedByte)));
    }
    peer.client.write(data(1, "", endStream));
    await expect.poll(() => peer.requests).toBe(1);
    expect(Buffer.concat(peer.received)).toHaveLength(30 * count);
  });

  it.each<[string, string[]]>([
    ["without a method", [":scheme", "http", ":path", "/"]],
    ["without a scheme", [":method", "POST", ":path", "/"]],
    ["without a path", [":method", "POST", ":scheme", "http"]],
    ["with an empty path", [":method", "POST", ":scheme", "http", ":path", ""]],
    ["with two methods", request().concat(":method", "GET")],
    ["with a path after the headers", [":method", "POST", ":scheme", "http", "x", "1", ":path", "/"]],
    ["with a response pseudo-header", [...request().slice(0, 2), ":status", "200", ...request().slice(2)]],
    ["with an upper-case name", request("X-Name", "1")],
    ["with an invalid name", request("x name", "1")],
    ["with an empty name", request("", "1")],
    ["with a line break in a value", request("x", "a\nb")],
    ["with a zero byte in a value", request("x", "a\0b")],
    ["with a connection header", request("connection", "close")],
    ["with another connection header", request("transfer-encoding", "chunked")],
    ["with a TE other than trailers", request("te", "gzip")],
    ["with a length that is not a number", request("content-length", "four")],
    ["with two lengths", request("content-length", "0", "content-length", "1")],
    ["with a length that is too large", request("content-length", "9".repeat(20))],
    ["with CONNECT", request().with(1, "CONNECT")],
    ["shorter than announced", request("content-length", "3")],
  ])("%s is reset, and the next one is answered", async (_, pairs) => {
    peer.send(headers(1, pairs), headers(3));
    await expect.poll(() => peer.framesOf(frameTypes.headers).length).toBe(2);
    expect(peer.resetCode()).toBe(errorCodes.protocol);
    expect(peer.framesOf(frameTypes.rstStream).map(({ streamId }) => streamId)).toEqual([1]);
  });

  it.each<[string, Buffer[], number]>([
    [
      "longer than announced",
      [headers(1, request("content-length", "3"), endHeaders), data(1, "body")],
      errorCodes.protocol,
    ],
    [
      "that continues after its end",
      [headers(1, request().with(5, "/silent")), data(1, "more")],
      errorCodes.streamClosed,
    ],
    [
      "with headers after its end",
      [headers(1, request().with(5, "/silent")), headers(1, ["x", "1"])],
      errorCodes.streamClosed,
    ],
    [
      "with trailers that do not end it",
      [headers(1, request(), endHeaders), headers(1, ["x", "1"], endHeaders)],
      errorCodes.protocol,
    ],
    [
      "with a pseudo-header in its trailers",
      [headers(1, request(), endHeaders), headers(1, [":path", "/"])],
      errorCodes.protocol,
    ],
    ["with headers that are too large", inFrames(1, request("x", "1".repeat(100_000))), errorCodes.enhanceYourCalm],
    [
      "with trailers that are too large",
      [headers(1, request(), endHeaders), ...inFrames(1, ["x", "1".repeat(100_000)])],
      errorCodes.enhanceYourCalm,
    ],
    ["with a window update of 0", [headers(1, request(), endHeaders), windowUpdateFrame(1, 0)], errorCodes.protocol],
    [
      "with a window that grows too far",
      [headers(1, request(), endHeaders), windowUpdateFrame(1, 2 ** 31 - 1)],
      errorCodes.flowControl,
    ],
  ])("%s is reset, and the connection continues", async (_, frames, code) => {
    peer.send(...frames, ping());
    await expect.poll(peer.hasPong).toBe(true);
    expect(peer.resetCode()).toBe(code);
    expect(peer.goawayCode()).toBeUndefined();
  });

  it("beyond those that may be open at once is refused, and may be made again", async () => {
    const count = 4_096;
    peer.send(
      ...Array.from({ length: count + 1 }, (_, index) => headers(2 * index + 1, request(), endHeaders)),
      ping(),
    );
    await expect.poll(peer.hasPong).toBe(true);
    expect(peer.framesOf(frameTypes.rstStream).map(({ streamId }) => streamId)).toEqual([2 * count + 1]);
    expect(peer.resetCode()).toBe(errorCodes.refusedStream);
    peer.client.write(data(1, "", endStream));
    await expect.poll(() => peer.requests).toBe(1);
    peer.client.write(headers(2 * count + 3));
    await expect.poll(() => peer.requests).toBe(2);
  });

  it("that was reset leaves room for others, however much of it was still in transit", async () => {
    const growth = () =>
      peer
        .framesOf(frameTypes.windowUpdate)
        .filter(({ streamId }) => streamId === 0)
        .reduce((sum, { payload }) => sum + payload.readUInt32BE(), 0);
    const late = Array<Buffer>(15).fill(data(1, Buffer.alloc(frameBytesMax)));
    peer.send(headers(1, request(), endHeaders), rstStreamFrame(1, errorCodes.cancel), ping());
    await expect.poll(peer.hasPong).toBe(true);
    const before = growth();
    peer.client.write(Buffer.concat(late));
    await expect.poll(() => growth() - before).toBeGreaterThan(100_000);
  });

  it("that was reset is forgotten, including frames still in transit", async () => {
    const open = headers(1, request(), endHeaders);
    peer.send(
      open,
      rstStreamFrame(1, 8),
      data(1, "late"),
      windowUpdateFrame(1, 5),
      rstStreamFrame(1, 8),
      headers(1, ["x", "1"]),
      ping(),
    );
    await expect.poll(peer.hasPong).toBe(true);
    expect(peer.frames.filter(({ streamId }) => streamId === 1)).toEqual([]);
    expect(peer.requests).toBe(0);
  });
});

describe("thousands of requests that arrive together", () => {
  it("are not processed in one turn of the event loop, so that others do not wait for all of them", async () => {
    peer.send();
    await expect.poll(() => peer.sockets.length).toBe(1);
    const count = 4_000;
    const large = request("x", "1".repeat(500));
    peer.client.write(Buffer.concat(Array.from({ length: count }, (_, index) => headers(2 * index + 1, large))));
    let most = 0;
    let before = 0;
    while (peer.requests < count) {
      await new Promise(setImmediate);
      most = Math.max(most, peer.requests - before);
      before = peer.requests;
    }
    expect(most).toBeLessThan(count / 3);
  });
});

describe("an answer", () => {
  it("blocked by its stream's window costs nothing while the connection's window grows", async () => {
    peer.send(
      settingsFrame({ initialWindowSize: 0 }),
      ...Array.from({ length: 4_000 }, (_, index) => headers(2 * index + 1)),
    );
    await expect.poll(() => peer.requests).toBe(4_000);
    const startedAtMs = monotonicMs();
    // In a second or so; if each update went through all streams, it would take minutes.
    for (let count = 0; count < 100; count += 1) {
      peer.client.write(Buffer.concat(Array(1_000).fill(windowUpdateFrame(0, 1))));
    }
    peer.client.write(Buffer.concat([ping(), settingsFrame({ initialWindowSize: 65_535 })]));
    await expect.poll(peer.hasPong).toBe(true);
    expect(monotonicMs() - startedAtMs).toBeLessThan(15_000);
    await expect.poll(() => peer.framesOf(frameTypes.data).length).toBe(4_000);
  });

  it("stays buffered in its stream until the client reads", async () => {
    peer.send(settingsFrame({ initialWindowSize: 2 ** 31 - 1 }), windowUpdateFrame(0, 2 ** 31 - 65_536));
    peer.client.write(headers(1, request().with(5, "/large")));
    await expect.poll(() => peer.large).toBeDefined();
    peer.client.pause();
    await expect.poll(() => peer.large?.writableLength).toBeLessThan(largeBytes);
    await setTimeout(200);
    // The system may have taken tens of megabytes.
    expect(peer.large?.writableLength).toBeGreaterThan(largeBytes / 4);
    peer.client.resume();
    await expect.poll(() => peer.large?.isClosed).toBe(true);
    await expect
      .poll(() => peer.framesOf(frameTypes.data).reduce((sum, { payload }) => sum + payload.length, 0))
      .toBe(largeBytes);
  });

  it("waits in its stream and not in the socket, however many there are", async () => {
    peer.client.pause();
    peer.send(settingsFrame({ initialWindowSize: 2 ** 31 - 1 }), windowUpdateFrame(0, 2 ** 31 - 65_536));
    await expect.poll(() => peer.sockets.length).toBe(1);
    const count = 2_000;
    for (let index = 0; index < count; index += 1) {
      peer.client.write(headers(2 * index + 1, request().with(5, "/medium")));
      if (index % 10 === 9) await expect.poll(() => peer.requests, { interval: 1 }).toBe(index + 1);
    }
    expect(peer.sockets[0]?.writableLength).toBeGreaterThan(0);
    expect(peer.sockets[0]?.writableLength).toBeLessThan(500_000);
    expect(peer.connections[0]?.destroyed).toBe(false);
  });

  it("takes turns with others, frame by frame", async () => {
    const large = request().with(5, "/large");
    peer.send(settingsFrame({ initialWindowSize: 2 ** 31 - 1 }), headers(1, large), headers(3, large));
    const senders = () => peer.framesOf(frameTypes.data).map(({ streamId }) => streamId);
    await expect.poll(() => peer.requests).toBe(2);
    peer.client.write(Buffer.concat([windowUpdateFrame(0, 4 * frameBytesMax), ping()]));
    await expect.poll(peer.hasPong).toBe(true);
    expect(senders().slice(-4).toSorted()).toEqual([1, 1, 3, 3]);
  });

  it.each<[string, () => void]>([
    ["the client accepts all of it", () => peer.client.write(windowUpdateFrame(1, mediumBytes))],
    ["its stream is reset", () => peer.client.write(rstStreamFrame(1, errorCodes.cancel))],
    ["the connection ends", () => peer.client.destroy()],
  ])("is waited for until %s", async (_, act) => {
    peer.send(settingsFrame({ initialWindowSize: 0 }), headers(1, request().with(5, "/unfinished")));
    await expect.poll(() => peer.unfinished).toBeDefined();
    let isDrained = false;
    void peer.unfinished?.drained().then(() => {
      isDrained = true;
    });
    peer.client.write(ping());
    await expect.poll(peer.hasPong).toBe(true);
    expect(isDrained).toBe(false);
    act();
    await expect.poll(() => isDrained).toBe(true);
  });
});

describe("a closing connection", () => {
  it("waits for a client that reads its last answer late", async () => {
    peer.client.pause();
    peer.send(settingsFrame({ initialWindowSize: 2 ** 31 - 1 }), windowUpdateFrame(0, 2 ** 31 - 65_536));
    await expect.poll(() => peer.sockets.length).toBe(1);
    // Until all buffers between client and server are full, and the last answer waits in its socket.
    while (peer.sockets[0]?.writableLength === 0) {
      const before = peer.requests;
      peer.client.write(headers(2 * peer.requests + 1, request().with(5, "/medium")));
      while (peer.requests === before) await new Promise(setImmediate);
    }
    peer.connections[0]?.close();
    // What it asks meanwhile cannot be answered any more, and ends nothing.
    peer.client.write(ping());
    await setTimeout(1_500);
    peer.client.resume();
    await expect.poll(() => peer.client.closed).toBe(true);
    expect(peer.framesOf(frameTypes.data).reduce((sum, { payload }) => sum + payload.length, 0)).toBe(
      peer.requests * mediumBytes,
    );
  });

  it("sends GOAWAY, answers earlier requests and closes", async () => {
    peer.send(headers(1, request(), endHeaders));
    await expect.poll(() => peer.connections.length).toBe(1);
    await expect.poll(() => peer.frames.length).toBeGreaterThan(1);
    peer.connections[0]?.announceEnd();
    peer.client.write(Buffer.concat([headers(3, request(), endHeaders), ping()]));
    await expect.poll(peer.goawayCode).toBe(errorCodes.none);
    await expect.poll(peer.hasPong).toBe(true);
    peer.connections[0]?.close();
    peer.client.write(Buffer.concat([headers(5), data(1, "", endStream)]));
    await expect.poll(() => peer.framesOf(frameTypes.data).map(({ streamId }) => streamId)).toEqual([1]);
    expect(peer.client.closed).toBe(false);
    peer.client.write(data(3, "", endStream));
    await expect.poll(() => peer.client.closed).toBe(true);
    expect(peer.framesOf(frameTypes.data).map(({ streamId }) => streamId)).toEqual([1, 3]);
    expect(peer.framesOf(frameTypes.rstStream).map(({ streamId }) => streamId)).toEqual([5]);
    expect(peer.resetCode()).toBe(errorCodes.refusedStream);
  });

  it("answers earlier requests after the client's GOAWAY", async () => {
    peer.send(headers(1, request(), endHeaders), goawayFrame(0, 0), data(1, "", endStream), headers(3));
    await expect.poll(() => peer.framesOf(frameTypes.data)).toHaveLength(2);
    peer.client.end();
    await expect.poll(() => peer.connections[0]?.destroyed).toBe(true);
  });
});
