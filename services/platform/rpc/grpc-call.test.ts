import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ClientConnection } from "../http2/client-connection.ts";
import { FrameReader } from "../http2/frame-reader.ts";
import { frame, settingsFrame } from "../http2/frames.ts";
import { encodeHeaders } from "../http2/header-encoder.ts";
import { errorCodes, flags, frameTypes, preface } from "../http2/protocol.ts";
import { type CallEnd, GrpcCall } from "./grpc-call.ts";

// The server's side is written by hand, frame by frame.

const requestHead = encodeHeaders([":method", "POST", ":scheme", "http", ":path", "/", ":authority", "a"]);

let server: Server;
let peer: Socket;
let connection: ClientConnection;
/** What the client has sent. */
let frames: { type: number; streamId: number; payload: Buffer }[];

beforeEach(async () => {
  frames = [];
  server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  connection = new ClientConnection(socket, { onReady() {}, onGoaway() {}, onClose() {} });
  [peer] = await accepted;
  peer.on("error", () => {});
  let prefaceBytes = preface.length;
  const reader = new FrameReader((type, _bits, streamId, payload) => frames.push({ type, streamId, payload }));
  peer.on("data", (chunk: Buffer) => {
    reader.read(chunk.subarray(prefaceBytes));
    prefaceBytes = Math.max(0, prefaceBytes - chunk.length);
  });
});

afterEach(() => {
  connection.destroy();
  peer.destroy();
  server.close();
});

/** The outcome of a call with a body of this many bytes. */
function call(bytes: number): Promise<CallEnd> {
  return new Promise((resolve) => {
    new GrpcCall({ onMessage() {}, onEnd: resolve }).send(connection, requestHead, Buffer.alloc(bytes));
  });
}

const framesOf = (type: number) => frames.filter((one) => one.type === type);
const resets = () => framesOf(frameTypes.rstStream).map(({ streamId, payload }) => [streamId, payload.readUInt32BE(0)]);

function trailersOnly(streamId: number, ...status: string[]): Buffer {
  const fields = encodeHeaders([":status", "200", ...status]);
  return frame(frameTypes.headers, flags.endHeaders | flags.endStream, streamId, fields);
}

describe("a call", () => {
  it("answered before it was sent completely is not sent to its end", async () => {
    peer.write(settingsFrame({ initialWindowSize: 10 }));
    await expect.poll(() => framesOf(frameTypes.settings).length).toBe(2);
    const end = call(100);
    await expect.poll(() => framesOf(frameTypes.data).length).toBe(1);
    peer.write(trailersOnly(1, "grpc-status", "8", "grpc-message", "too much"));
    expect(await end).toMatchObject({ code: 8, message: "too much" });
    await expect.poll(resets).toEqual([[1, errorCodes.cancel]]);
  });

  it("answered after it was sent completely is not reset", async () => {
    peer.write(settingsFrame({}));
    const end = call(100);
    await expect.poll(() => framesOf(frameTypes.data).length).toBe(1);
    peer.write(Buffer.concat([trailersOnly(1, "grpc-status", "8"), frame(frameTypes.ping, 0, 0, Buffer.alloc(8))]));
    expect(await end).toMatchObject({ code: 8 });
    await expect.poll(() => framesOf(frameTypes.ping).length).toBe(1);
    expect(resets()).toEqual([]);
  });

  it.each([
    ["no message", [], ""],
    ["a message in any script", ["grpc-message", "%C3%BC%E2%82%AC%F0%9F%98%80%00%0A%25"], "ü€😀\0\n%"],
    ["a message that is not encoded", ["grpc-message", "100% sure \x7f"], "100% sure \x7f"],
    ["a message that is not UTF-8", ["grpc-message", "%FF%C0"], "%FF%C0"],
    ["two messages", ["grpc-message", "one", "grpc-message", "two"], "one"],
    ["details that are not base64", ["grpc-status-details-bin", "\x01\x02,"], ""],
  ])("ends with its code and %s", async (_what, fields, message) => {
    peer.write(settingsFrame({}));
    const end = call(1);
    await expect.poll(() => framesOf(frameTypes.data).length).toBe(1);
    peer.write(trailersOnly(1, "grpc-status", "5", ...fields));
    expect(await end).toMatchObject({ code: 5, message });
  });
});
