import type { Dispatcher } from "undici";
import { afterEach, beforeEach, expect, it } from "vitest";
import { nextTurn } from "../../../services/platform/process/next-turn.ts";
import { answerWith, HostileUpstream, headOf, silence } from "../../../test/support/hostile-upstream.ts";
import { type Connection, type ConnectionListener, Connections } from "./connections.ts";

// What is relied on of undici, and of which its types do not say all.

let upstream: HostileUpstream;
let connections: Connections;

beforeEach(async () => {
  upstream = await HostileUpstream.start();
  connections = new Connections(new URL(upstream.url).origin, 1_000);
});

afterEach(async () => {
  await connections.destroy();
  await upstream.stop();
});

/** Writes down what it is told of its request, in order. */
class Recorder implements Dispatcher.DispatchHandler, ConnectionListener {
  readonly told: string[] = [];
  readonly chunks: Buffer[] = [];
  readonly #ended = Promise.withResolvers<void>();
  controller: Dispatcher.DispatchController | undefined;
  connection: Connection | undefined;
  earlierRequests: number | undefined;
  error: Error | undefined;

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  onConnectionChosen(connection: Connection): void {
    this.connection = connection;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    this.earlierRequests = this.connection?.countRequest();
    this.told.push("started");
  }

  onBodySent(): void {
    if (this.told.at(-1) !== "body") this.told.push("body");
  }

  onRequestSent(): void {
    this.told.push("sent");
  }

  onResponseStart(_controller: Dispatcher.DispatchController): void {
    this.told.push("head");
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.told.push("end");
    this.#ended.resolve();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.error = error;
    this.#ended.resolve();
  }
}

function dispatch<Handler extends Recorder>(handler: Handler, body: unknown = Buffer.from("{}")): Handler {
  const headers = ["content-type", "application/json"];
  if (Buffer.isBuffer(body)) headers.push("content-length", String(body.length));
  connections.dispatch({ path: "/v1/messages", method: "POST", headers, body: body as Buffer }, handler);
  return handler;
}

async function sendOne(): Promise<Recorder> {
  const recorder = dispatch(new Recorder());
  await recorder.ended;
  // A connection is free only a moment after it has told of the end.
  await nextTurn();
  return recorder;
}

it("tells of a request what the deadlines and retries of an attempt are made of, in this order", async () => {
  const { told, error } = await sendOne();
  expect(error).toBeUndefined();
  expect(told).toEqual(["started", "body", "sent", "head", "end"]);
});

it("tells each request, once it is sent, which connection it goes over, and how often that was used", async () => {
  const counts = [];
  for (let n = 0; n < 3; n++) counts.push((await sendOne()).earlierRequests);
  expect(counts).toEqual([0, 1, 2]);
  expect(upstream.received.map(({ earlierOnConnection }) => earlierOnConnection)).toEqual([0, 1, 2]);
});

it("counts from the beginning where a connection was opened anew", async () => {
  await sendOne();
  upstream.closeConnections();
  await expect.poll(() => upstream.openConnections).toBe(0);
  upstream.next.push(answerWith(200, "{}"), answerWith(200, "{}"));
  let recorder = await sendOne();
  // The close may be seen only with the next request.
  if (recorder.error) recorder = await sendOne();
  expect(recorder.earlierRequests).toBe(0);
  expect(upstream.last.earlierOnConnection).toBe(0);
});

it("sends one request at a time over a connection", async () => {
  upstream.script = silence;
  dispatch(new Recorder());
  dispatch(new Recorder());
  await expect.poll(() => upstream.received.length).toBe(2);
  expect(upstream.connections).toBe(2);
});

it("takes the pieces of a body from an iterator only as the upstream reads them, and takes each once", async () => {
  upstream.isDeaf = true;
  const piece = Buffer.alloc(256 * 1024, "x");
  const count = 200;
  let taken = 0;
  const pieces = {
    [Symbol.iterator]() {
      return this;
    },
    next() {
      if (taken === count) return { done: true, value: undefined };
      taken++;
      return { done: false, value: piece };
    },
  };
  const recorder = dispatch(new Recorder(), pieces);
  await expect.poll(() => recorder.told).toEqual(["started", "body"]);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(taken).toBeLessThan(count / 2);
  expect(recorder.told).not.toContain("sent");
});

it("sends a body in pieces with the length that its headers say", async () => {
  const pieces = ['{"a":', "1", "}"].map((text) => Buffer.from(text));
  const recorder = new Recorder();
  const headers = ["content-length", "7"];
  const body = pieces.values() as unknown as Buffer;
  connections.dispatch({ path: "/v1/messages", method: "POST", headers, body }, recorder);
  await recorder.ended;
  expect(recorder.told).toEqual(["started", "body", "sent", "head", "end"]);
  expect(upstream.last.headers).toMatchObject({ "content-length": "7" });
  expect(upstream.last.headers).not.toHaveProperty("transfer-encoding");
  expect(upstream.last.body()).toBe('{"a":1}');
});

it("leaves a connection as it is where a request is given up as it starts", async () => {
  await sendOne();
  class GivesUp extends Recorder {
    override onRequestStart(): void {
      throw new Error("given up");
    }
  }
  const recorder = dispatch(new GivesUp());
  await recorder.ended;
  expect(recorder.error).toMatchObject({ message: "given up" });
  expect((await sendOne()).earlierRequests).toBe(1);
  expect(upstream.connections).toBe(1);
  expect(upstream.received).toHaveLength(2);
});

it("closes the connection of a request that is aborted, and of no other", async () => {
  upstream.script = silence;
  const [aborted, other] = [dispatch(new Recorder()), dispatch(new Recorder())];
  await expect.poll(() => upstream.received.length).toBe(2);
  aborted.controller?.abort(new Error("aborted"));
  await aborted.ended;
  await expect.poll(() => upstream.openConnections).toBe(1);
  expect(other.error).toBeUndefined();
});

it("reads no more of an answer while it is paused", async () => {
  const size = 32 * 1024 * 1024;
  upstream.script = (_request, socket) => {
    socket.write(headOf(200, { "content-length": String(size) }));
    socket.write(Buffer.alloc(size));
  };
  class Pauses extends Recorder {
    override onResponseStart(controller: Dispatcher.DispatchController): void {
      controller.pause();
    }
  }
  const recorder = dispatch(new Pauses());
  await expect.poll(() => recorder.connection?.isHeard).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const received = () => recorder.chunks.reduce((sum, { length }) => sum + length, 0);
  expect(received()).toBeLessThan(size / 4);
  expect(upstream.last.socket.writableLength).toBeGreaterThan(0);
  recorder.controller?.resume();
  await recorder.ended;
  expect(received()).toBe(size);
});
