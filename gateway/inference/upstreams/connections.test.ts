import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { blockProcess } from "../../../test/support/block-process.ts";
import {
  answerWith,
  chunkOf,
  HostileUpstream,
  headOf,
  lastChunk,
  silence,
  streamHead,
} from "../../../test/support/hostile-upstream.ts";
import { MalformedAnswer } from "./answer-head.ts";
import type { Connection, RequestListener } from "./connection.ts";
import { Connections } from "./connections.ts";

let upstream: HostileUpstream;
let connections: Connections;

beforeEach(async () => {
  upstream = await HostileUpstream.start();
  connections = new Connections(new URL(upstream.url).origin, 1_000);
});

afterEach(async () => {
  connections.destroy();
  await upstream.stop();
});

/** Records the events of its request in order. */
class Recorder implements RequestListener {
  readonly told: string[] = [];
  readonly chunks: Buffer[] = [];
  readonly #ended = Promise.withResolvers<void>();
  connection: Connection | undefined;
  earlierRequests: number | undefined;
  sentPieces = 0;
  error: Error | undefined;

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get body(): string {
    return Buffer.concat(this.chunks).toString("latin1");
  }

  onRequestStart(earlierRequests: number): void {
    this.earlierRequests = earlierRequests;
    this.told.push("started");
  }

  onBodySent(): void {
    this.sentPieces++;
    if (this.told.at(-1) !== "body") this.told.push("body");
  }

  onRequestSent(): void {
    this.told.push("sent");
  }

  onResponseStart(): void {
    this.told.push("head");
  }

  onResponseData(chunk: Buffer): void {
    this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.told.push("end");
    this.#ended.resolve();
  }

  onResponseError(error: Error): void {
    this.error = error;
    this.#ended.resolve();
  }
}

function dispatch<Handler extends Recorder>(
  handler: Handler,
  parts: readonly Buffer[] = [Buffer.from("{}")],
  more: readonly string[] = [],
): Handler {
  const byteLength = parts.reduce((sum, { length }) => sum + length, 0);
  const headers = ["content-type", "application/json", "content-length", String(byteLength), ...more];
  handler.connection = connections.dispatch(
    { path: "/v1/messages", headers, parts, byteLength, needsNewConnection: false },
    handler,
  );
  return handler;
}

async function sendOne(): Promise<Recorder> {
  const recorder = dispatch(new Recorder());
  await recorder.ended;
  return recorder;
}

it("reports the events of a request in order", async () => {
  const { told, error } = await sendOne();
  expect(error).toBeUndefined();
  expect(told).toEqual(["started", "body", "sent", "head", "end"]);
});

it("tells each request how often its connection was used before", async () => {
  const counts = [];
  for (let n = 0; n < 3; n++) counts.push((await sendOne()).earlierRequests);
  expect(counts).toEqual([0, 1, 2]);
  expect(upstream.received.map(({ earlierOnConnection }) => earlierOnConnection)).toEqual([0, 1, 2]);
});

it("uses a connection made in time while the process was blocked", async () => {
  const recorder = dispatch(new Recorder());
  blockProcess(1_500);
  await recorder.ended;
  expect(recorder.error).toBeUndefined();
  expect(recorder.told.at(-1)).toBe("end");
});

it("starts counting again for a new connection", async () => {
  await sendOne();
  upstream.closeConnections();
  await expect.poll(() => upstream.openConnections).toBe(0);
  upstream.next.push(answerWith(200, "{}"), answerWith(200, "{}"));
  let recorder = await sendOne();
  // The close may be noticed only with the next request.
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

it("reads parts of a large body only as fast as the upstream does", async () => {
  upstream.isDeaf = true;
  const count = 200;
  const recorder = dispatch(new Recorder(), Array(count).fill(Buffer.alloc(256 * 1024, "x")));
  await expect.poll(() => recorder.told).toEqual(["started", "body"]);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(recorder.sentPieces).toBeLessThan(count / 2);
  expect(recorder.told).not.toContain("sent");
});

it.each([
  ["small", ['{"a":', "1", "}"]],
  ["large", [`{"a":"`, "x".repeat(700_000), `"`, "}"]],
])("sends a %s body of several parts complete, with a matching content-length", async (_name, texts) => {
  const recorder = dispatch(
    new Recorder(),
    texts.map((text) => Buffer.from(text)),
  );
  await recorder.ended;
  expect(recorder.told).toEqual(["started", "body", "sent", "head", "end"]);
  expect(upstream.last.headers).toMatchObject({ "content-length": String(texts.join("").length) });
  expect(upstream.last.headers).not.toHaveProperty("transfer-encoding");
  expect(upstream.last.body() === texts.join("")).toBe(true);
});

it("reads the answer of an upstream that rejects a large body and resets the connection", async () => {
  /** The answer and the reset arrive between two writes, of which the second fails. */
  class Refused extends Recorder {
    override onBodySent(): void {
      super.onBodySent();
      const socket = upstream.received[0]?.socket;
      if (!socket || socket.destroyed) return;
      socket.write(`${headOf(413, { "content-length": "5" })}large`);
      socket.resetAndDestroy();
    }
  }
  // Whether the second write happens at once is chance.
  for (let n = 0; n < 20; n++) {
    upstream.reset();
    const recorder = dispatch(new Refused(), [Buffer.alloc(16 * 1024 * 1024, "x")]);
    await recorder.ended;
    expect([recorder.error, recorder.body]).toEqual([undefined, "large"]);
  }
});

it("reports a reset in the middle of a body without an answer", async () => {
  upstream.atHead = (_request, socket) => void socket.resetAndDestroy();
  const recorder = dispatch(new Recorder(), [Buffer.alloc(8 * 1024 * 1024, "x")]);
  await recorder.ended;
  expect([recorder.error?.message, recorder.connection?.hasReceived]).toEqual([
    expect.stringMatching(/EPIPE|RESET/),
    false,
  ]);
});

it("detects that a connection is closed in the middle of a large body", async () => {
  upstream.atHead = (_request, socket) => void socket.resetAndDestroy();
  const recorder = dispatch(new Recorder(), Array(40).fill(Buffer.alloc(256 * 1024, "x")));
  await recorder.ended;
  expect([recorder.error instanceof Error, recorder.told]).toEqual([true, ["started", "body"]]);
});

it.each(["a\r\nx: 1", "a\nx: 1", "a\rb", "a\0b", "\u0100"])("rejects the header value %j", async (value) => {
  expect(() => dispatch(new Recorder(), [Buffer.from("{}")], ["x-title", value])).toThrow();
  await sendOne();
  expect(upstream.received.map(({ headers }) => headers["x-title"])).toEqual([undefined]);
});

it("drops an unopened connection when its request is aborted, without further events", async () => {
  const recorder = dispatch(new Recorder());
  recorder.connection?.abort();
  expect((await sendOne()).earlierRequests).toBe(0);
  expect(upstream.received).toHaveLength(1);
  expect([recorder.told, recorder.error]).toEqual([[], undefined]);
});

it("closes only the connection of an aborted request", async () => {
  upstream.script = silence;
  const [aborted, other] = [dispatch(new Recorder()), dispatch(new Recorder())];
  await expect.poll(() => upstream.received.length).toBe(2);
  aborted.connection?.abort();
  await expect.poll(() => upstream.openConnections).toBe(1);
  expect([aborted.error, other.error]).toEqual([undefined, undefined]);
});

it("reads no more of an answer while it is paused", async () => {
  const size = 32 * 1024 * 1024;
  upstream.script = (_request, socket) => {
    socket.write(headOf(200, { "content-length": String(size) }));
    socket.write(Buffer.alloc(size));
  };
  class Pauses extends Recorder {
    override onResponseStart(): void {
      this.connection?.pause();
    }
  }
  const recorder = dispatch(new Pauses());
  await expect.poll(() => recorder.connection?.hasReceived).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const received = () => recorder.chunks.reduce((sum, { length }) => sum + length, 0);
  expect(received()).toBeLessThan(size / 4);
  expect(upstream.last.socket.writableLength).toBeGreaterThan(0);
  recorder.connection?.resume();
  await recorder.ended;
  expect(received()).toBe(size);
});

it("reports the end of an answer only after it is resumed", async () => {
  upstream.script = (_request, socket) => {
    socket.end(`${headOf(200)}until it closes`);
  };
  class Pauses extends Recorder {
    override onResponseData(chunk: Buffer): void {
      super.onResponseData(chunk);
      this.connection?.pause();
    }
  }
  const recorder = dispatch(new Pauses());
  await expect.poll(() => recorder.body).toBe("until it closes");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(recorder.told).not.toContain("end");
  recorder.connection?.resume();
  await recorder.ended;
  expect([recorder.told.at(-1), recorder.error]).toEqual(["end", undefined]);
});

describe("a connection is reused", () => {
  const answered =
    (head: string, body = "") =>
    async () => {
      upstream.next.push((_request, socket) => void socket.write(`${head}${body}`));
      expect((await sendOne()).error).toBeUndefined();
      return (await sendOne()).earlierRequests;
    };

  it.each([
    ["with a length", headOf(200, { "content-length": "2" }), "{}"],
    ["in chunks", streamHead, `${chunkOf("{}")}${lastChunk}`],
    ["in chunks, with trailers", streamHead, `${chunkOf("{}")}0\r\nx-a: 1\r\n\r\n`],
    ["without a body", headOf(204), ""],
    ["with a long enough keep-alive", headOf(200, { "content-length": "0", "keep-alive": "timeout=5" }), ""],
  ])("after an answer %s", async (_name, head, body) => {
    expect(await answered(head, body)()).toBe(1);
  });

  it.each([
    ["with connection: close", headOf(200, { "content-length": "2", connection: "close" }), "{}"],
    ["with close among other options", headOf(200, { "content-length": "2", connection: "x, Close" }), "{}"],
    ["of HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n", "{}"],
    ["with extra bytes after its end", headOf(200, { "content-length": "2" }), "{}{"],
    ["followed by another answer", headOf(200, { "content-length": "2" }), "{}HTTP/1.1 200 OK\r\n\r\n"],
    ["with extra bytes after its last chunk", streamHead, `${lastChunk}\r\n`],
    ["with a keep-alive of 0", headOf(200, { "content-length": "2", "keep-alive": "timeout=2" }), "{}"],
  ])("but not after one %s", async (_name, head, body) => {
    expect(await answered(head, body)()).toBe(0);
    await expect.poll(() => upstream.openConnections).toBe(1);
  });

  it("but not right after a stream if the upstream was seen to close silently then", async () => {
    upstream.script = (_request, socket) => void socket.write(`${streamHead}${lastChunk}`, () => socket.destroySoon());
    await sendOne();
    // That is not known yet.
    expect((await sendOne()).error).toBeDefined();
    for (let n = 0; n < 5; n++) expect(await sendOne()).toMatchObject({ earlierRequests: 0, error: undefined });

    upstream.script = (_request, socket) => void socket.write(`${streamHead}${lastChunk}`);
    expect((await sendOne()).earlierRequests).toBe(0);
    expect((await sendOne()).earlierRequests).toBe(0);
    // Some time after a stream it is certain that the connection stays open.
    await expect.poll(async () => (await sendOne()).earlierRequests).toBe(1);
  });

  it("but not if unsolicited bytes arrive", async () => {
    await sendOne();
    upstream.last.socket.write("HTTP/1.1 408 Request Timeout\r\n\r\n");
    await upstream.last.closed;
    expect((await sendOne()).earlierRequests).toBe(0);
  });

  it("but closed if nobody needs it for long, and leaves no timer", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
    try {
      await sendOne();
      // That which looks for idle connections, and no longer that of connecting.
      expect(vi.getTimerCount()).toBe(1);
      vi.advanceTimersByTime(29_000);
      expect((await sendOne()).earlierRequests).toBe(1);
      vi.advanceTimersByTime(32_000);
      await expect.poll(() => upstream.openConnections).toBe(0);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("but not once its upstream was removed from the table", async () => {
    await sendOne();
    connections.retire();
    await expect.poll(() => upstream.openConnections).toBe(0);
    // Requests in progress are still sent.
    for (const _ of [1, 2]) expect((await sendOne()).earlierRequests).toBe(0);
    await expect.poll(() => upstream.openConnections).toBe(0);
  });
});

it.each([
  ["closed", "end", (socket: Socket) => socket.destroySoon()],
  ["reset", "head", (socket: Socket) => socket.resetAndDestroy()],
])(
  "accepts an answer without a length if its connection is closed, not if it is reset: %s",
  async (_name, last, close) => {
    upstream.script = (_request, socket) => {
      socket.write(`${headOf(200)}text`);
      setTimeout(() => close(socket), 50);
    };
    const recorder = await sendOne();
    expect([recorder.body, recorder.told.at(-1)]).toEqual(["text", last]);
    expect(recorder.error === undefined).toBe(last === "end");
  },
);

it("reports what came before a malformed part, then the error", async () => {
  upstream.script = async (_request, socket) => {
    socket.write(streamHead);
    await expect.poll(() => recorder.told).toContain("head");
    socket.write(`${chunkOf("one")}${chunkOf("two")}no size\r\n`);
  };
  const recorder = dispatch(new Recorder());
  await recorder.ended;
  expect([recorder.body, recorder.chunks.length]).toEqual(["onetwo", 1]);
  expect(recorder.error).toBeInstanceOf(MalformedAnswer);
  await upstream.last.closed;
});

it("reports nothing of an answer that is malformed from the start, so that another can be sent", async () => {
  upstream.script = (_request, socket) => void socket.write(`${streamHead}${chunkOf("one")}no size\r\n`);
  const recorder = await sendOne();
  expect([recorder.told.at(-1), recorder.body]).toEqual(["sent", ""]);
  expect(recorder.error).toBeInstanceOf(MalformedAnswer);
  await upstream.last.closed;
});
