import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { data, headers, ping, RawHttp2, request } from "../../../test/support/raw-http2.ts";
import { frame, rstStreamFrame, settingsFrame, windowUpdateFrame } from "./frames.ts";
import { errorCodes, flags, frameTypes, preface } from "./protocol.ts";

let peer: RawHttp2;

beforeEach(async () => {
  peer = await RawHttp2.open();
});

afterEach(() => {
  vi.useRealTimers();
  peer.close();
});

const { endHeaders, endStream, padded, ack } = flags;
const noBytes = Buffer.alloc(0);

describe("a connection is closed by", () => {
  const opened = () => headers(1, request(), endHeaders);

  it.each<[string, () => Buffer[], number]>([
    ["a frame that is too large", () => [frame(frameTypes.data, 0, 1, Buffer.alloc(16_385))], errorCodes.frameSize],
    ["data on stream 0", () => [data(0, "x")], errorCodes.protocol],
    ["headers on stream 0", () => [headers(0)], errorCodes.protocol],
    ["a priority on stream 0", () => [frame(frameTypes.priority, 0, 0, Buffer.alloc(5))], errorCodes.protocol],
    ["a reset on stream 0", () => [rstStreamFrame(0, 0)], errorCodes.protocol],
    ["a continuation on stream 0", () => [frame(frameTypes.continuation, 0, 0, noBytes)], errorCodes.protocol],
    ["settings on a stream", () => [frame(frameTypes.settings, 0, 1, noBytes)], errorCodes.protocol],
    ["a ping on a stream", () => [frame(frameTypes.ping, 0, 1, Buffer.alloc(8))], errorCodes.protocol],
    ["a goaway on a stream", () => [frame(frameTypes.goaway, 0, 1, Buffer.alloc(8))], errorCodes.protocol],
    ["a push", () => [frame(frameTypes.pushPromise, 4, 1, Buffer.alloc(4))], errorCodes.protocol],
    ["data on an idle stream", () => [data(1, "x")], errorCodes.protocol],
    ["a reset on an idle stream", () => [rstStreamFrame(1, 0)], errorCodes.protocol],
    ["a window update on an idle stream", () => [windowUpdateFrame(1, 1)], errorCodes.protocol],
    ["a stream with an even id", () => [headers(2)], errorCodes.protocol],
    ["a new stream with a lower id", () => [headers(3), headers(1)], errorCodes.protocol],
    ["a second request on a stream", () => [opened(), rstStreamFrame(1, 8), headers(1)], errorCodes.protocol],
    [
      "a stream that depends on itself",
      () => [frame(frameTypes.priority, 0, 1, Buffer.from([0, 0, 0, 1, 1]))],
      errorCodes.protocol,
    ],
    [
      "padding longer than the frame",
      () => [opened(), frame(frameTypes.data, padded, 1, Buffer.from([3, 0, 0]))],
      errorCodes.protocol,
    ],
    ["padding without a length", () => [opened(), frame(frameTypes.data, padded, 1, noBytes)], errorCodes.frameSize],
    ["a short priority", () => [frame(frameTypes.priority, 0, 1, Buffer.alloc(4))], errorCodes.frameSize],
    ["a short reset", () => [opened(), frame(frameTypes.rstStream, 0, 1, Buffer.alloc(3))], errorCodes.frameSize],
    ["a short window update", () => [frame(frameTypes.windowUpdate, 0, 0, Buffer.alloc(3))], errorCodes.frameSize],
    ["a short ping", () => [frame(frameTypes.ping, 0, 0, Buffer.alloc(7))], errorCodes.frameSize],
    ["a short goaway", () => [frame(frameTypes.goaway, 0, 0, Buffer.alloc(7))], errorCodes.frameSize],
    ["settings of invalid length", () => [frame(frameTypes.settings, 0, 0, Buffer.alloc(7))], errorCodes.frameSize],
    ["a settings ack with content", () => [frame(frameTypes.settings, ack, 0, Buffer.alloc(6))], errorCodes.frameSize],
    ["a window that is too large", () => [windowUpdateFrame(0, 2 ** 31 - 1)], errorCodes.flowControl],
    ["a window update of 0", () => [windowUpdateFrame(0, 0)], errorCodes.protocol],
    [
      "an initial window that is too large",
      () => [settingsFrame({ initialWindowSize: 2 ** 31 })],
      errorCodes.flowControl,
    ],
    [
      "settings that make a window too large",
      () => [opened(), windowUpdateFrame(1, 2 ** 31 - 65_536), settingsFrame({ initialWindowSize: 65_536 })],
      errorCodes.flowControl,
    ],
    ["an invalid push setting", () => [settingsFrame({ enablePush: 2 })], errorCodes.protocol],
    ["a frame size setting below the minimum", () => [settingsFrame({ maxFrameSize: 16_383 })], errorCodes.protocol],
    ["a frame size setting above the maximum", () => [settingsFrame({ maxFrameSize: 2 ** 24 })], errorCodes.protocol],
    ["a frame between header frames", () => [headers(1, request(), 0), ping()], errorCodes.protocol],
    ["headers between header frames", () => [headers(1, request(), 0), headers(3)], errorCodes.protocol],
    [
      "a continuation on another stream",
      () => [headers(1, request(), 0), frame(frameTypes.continuation, 4, 3, noBytes)],
      errorCodes.protocol,
    ],
    ["a continuation without headers", () => [frame(frameTypes.continuation, 4, 1, noBytes)], errorCodes.protocol],
    [
      "endless headers",
      () => [headers(1, request(), 0), ...Array(8_400).fill(frame(frameTypes.continuation, 0, 1, noBytes))],
      errorCodes.enhanceYourCalm,
    ],
    [
      "headers that cannot be decoded",
      () => [frame(frameTypes.headers, 5, 1, Buffer.from([0x80]))],
      errorCodes.compression,
    ],
    [
      "a flood of settings",
      () => Array.from({ length: 1_100 }, (_, index) => settingsFrame({ initialWindowSize: index })),
      errorCodes.enhanceYourCalm,
    ],
    [
      "a flood of settings that change the windows of thousands of streams",
      () => [
        ...Array.from({ length: 4_000 }, (_, index) => headers(2 * index + 1, request(), endHeaders)),
        ...Array.from({ length: 50 }, (_, index) => settingsFrame({ initialWindowSize: index })),
      ],
      errorCodes.enhanceYourCalm,
    ],
    [
      "a flood of resets",
      () =>
        Array.from({ length: 1_100 }, (_, index) => [
          headers(2 * index + 1, request(), endHeaders),
          rstStreamFrame(2 * index + 1, 8),
        ]).flat(),
      errorCodes.enhanceYourCalm,
    ],
    [
      "a flood of resets of requests that were never sent",
      () => [opened(), ...Array.from({ length: 1_100 }, (_, index) => rstStreamFrame(2 * index + 3, 8))],
      errorCodes.enhanceYourCalm,
    ],
    [
      "a flood of malformed requests",
      () => Array.from({ length: 1_100 }, (_, index) => headers(2 * index + 1, request().slice(2))),
      errorCodes.enhanceYourCalm,
    ],
    [
      "a flood of streams that must be reset",
      () =>
        Array.from({ length: 1_100 }, (_, index) => [
          headers(2 * index + 1, request().with(5, "/silent")),
          windowUpdateFrame(2 * index + 1, 0),
        ]).flat(),
      errorCodes.enhanceYourCalm,
    ],
  ])("%s, with GOAWAY", async (_, frames, code) => {
    peer.send(...frames());
    await expect.poll(() => peer.client.closed).toBe(true);
    expect(peer.goawayCode()).toBe(code);
  });

  it.each([
    ["an HTTP/1.1 request", Buffer.from("GET / HTTP/1.1\r\nhost: a\r\n\r\n")],
    ["a first frame other than settings", Buffer.concat([preface, ping()])],
    [
      "a first frame that is only a settings ack",
      Buffer.concat([preface, frame(frameTypes.settings, ack, 0, noBytes)]),
    ],
  ])("%s, with GOAWAY", async (_, bytes) => {
    peer.client.write(bytes);
    await expect.poll(() => peer.client.closed).toBe(true);
    expect(peer.goawayCode()).toBe(errorCodes.protocol);
  });

  it("many resets in a short time, but not by as many over a long time", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    let streamId = -1;
    const canceled = () => {
      streamId += 2;
      return [headers(streamId, request(), endHeaders), rstStreamFrame(streamId, errorCodes.cancel)];
    };
    const resets = (count: number) => Buffer.concat(Array.from({ length: count }, canceled).flat());
    peer.send(resets(900), ping());
    await expect.poll(peer.hasPong).toBe(true);
    for (const time of [2, 3, 4]) {
      vi.advanceTimersByTime(60_000);
      peer.client.write(Buffer.concat([resets(900), ping()]));
      await expect.poll(() => peer.framesOf(frameTypes.ping).length).toBe(time);
    }
    expect(peer.goawayCode()).toBeUndefined();
    // A long pause allows no more at once.
    vi.advanceTimersByTime(3_600_000);
    peer.client.write(resets(1_100));
    await expect.poll(peer.goawayCode).toBe(errorCodes.enhanceYourCalm);
  });

  it("a fault after which nothing is read any more", async () => {
    // It does not notice yet that the server has said its last word.
    peer.client.pause();
    peer.send(opened(), frame(frameTypes.ping, 0, 1, Buffer.alloc(8)));
    await expect.poll(() => peer.connections[0]?.isClosing).toBe(true);
    peer.client.write(data(1, "", endStream));
    await sleep(300);
    expect(peer.requests).toBe(0);
  });

  it("a peer that keeps asking and reads nothing", async () => {
    peer.client.pause();
    peer.send();
    const pings = Buffer.concat(Array(10_000).fill(ping()));
    for (let count = 0; count < 1_000 && !peer.client.closed && !peer.connections[0]?.destroyed; count += 1) {
      if (!peer.client.write(pings))
        await Promise.race([once(peer.client, "drain"), once(peer.client, "close")]).catch(() => {});
    }
    await expect.poll(() => peer.connections[0]?.destroyed).toBe(true);
  });
});

describe("what many peers make us hold together is limited", () => {
  it("if they do not complete their headers", async () => {
    const part = frame(frameTypes.continuation, 0, 1, Buffer.alloc(16_000));
    const others = peer.connectOthers(500);
    for (const other of others) {
      other.write(Buffer.concat([preface, settingsFrame({}), headers(1, request(), 0), ...Array(15).fill(part)]));
    }
    await expect.poll(() => others.filter(({ closed }) => closed).length).toBeGreaterThan(0);
    peer.send(headers(1));
    await expect.poll(() => peer.requests).toBe(1);
  });

  it("if they keep asking and read nothing", async () => {
    const others = peer.connectOthers(16);
    const pings = Buffer.concat([preface, settingsFrame({}), ...Array(800_000).fill(ping())]);
    for (const other of others) {
      other.pause();
      other.write(pings);
    }
    const unread = () => peer.sockets.reduce((sum, { writableLength }) => sum + writableLength, 0);
    let most = 0;
    const destroyed = () => {
      most = Math.max(most, unread());
      return peer.sockets.filter((socket) => socket.destroyed).length;
    };
    await expect.poll(destroyed, { interval: 10 }).toBeGreaterThanOrEqual(8);
    expect(most).toBeLessThan(40 * 1024 * 1024);
  });
});
