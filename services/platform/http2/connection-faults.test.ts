import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { data, headers, ping, RawHttp2, request } from "../../../test/support/raw-http2.ts";
import { frame, rstStreamFrame, settingsFrame, windowUpdateFrame } from "./frames.ts";
import { errorCodes, flags, frameTypes, preface } from "./protocol.ts";

let peer: RawHttp2;

beforeEach(async () => {
  peer = await RawHttp2.open();
});

afterEach(() => peer.close());

const { endHeaders, padded, ack } = flags;
const noBytes = Buffer.alloc(0);

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
      "settings that change the windows of thousands of streams again and again",
      () => [
        ...Array.from({ length: 4_000 }, (_, index) => headers(2 * index + 1, request(), endHeaders)),
        ...Array.from({ length: 50 }, (_, index) => settingsFrame({ initialWindowSize: index })),
      ],
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
      "requests that are none, all the time",
      () => Array.from({ length: 1_100 }, (_, index) => headers(2 * index + 1, request().slice(2))),
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
    peer.send(...frames());
    await expect.poll(() => peer.client.closed).toBe(true);
    expect(peer.goawayCode()).toBe(code);
  });

  it.each([
    ["a request of HTTP/1.1", Buffer.from("GET / HTTP/1.1\r\nhost: a\r\n\r\n")],
    ["a first frame that is no settings", Buffer.concat([preface, ping()])],
    [
      "a first frame that only confirms settings",
      Buffer.concat([preface, frame(frameTypes.settings, ack, 0, noBytes)]),
    ],
  ])("%s", async (_, bytes) => {
    peer.client.write(bytes);
    await expect.poll(() => peer.client.closed).toBe(true);
    expect(peer.goawayCode()).toBe(errorCodes.protocol);
  });

  it("a peer that asks all the time and reads nothing", async () => {
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
