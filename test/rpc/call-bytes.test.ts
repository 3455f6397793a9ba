import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { afterEach, describe, expect, it } from "vitest";
import { RetryInfoSchema } from "../../proto/gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../proto/gen/google/rpc/status_pb.ts";
import { Health } from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { grpcFrame } from "../support/grpc-frame.ts";
import { openStubService, type StubService } from "../support/stub-service.ts";

const { createVersion, getPreset } = PresetService.method;
const mebibyte = 1024 * 1024;

let service: StubService | undefined;
const closing: (() => void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) close();
  await service?.close();
  service = undefined;
});

interface Sent {
  readonly stream: ClientHttp2Stream;
  /** `grpc-status`, once it arrives. */
  readonly status: Promise<number>;
  readonly retryMs: () => number;
}

function newSession({ grpcPort }: StubService): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${grpcPort}`, { maxSessionMemory: 1_000 });
  closing.push(() => session.destroy());
  return session;
}

/** A call whose answer is read only on request. */
function send(session: ClientHttp2Session, service: StubService, path: string, content: Buffer): Sent {
  const sent = begin(session, service, path);
  sent.stream.end(grpcFrame(content));
  return sent;
}

/** The same before anything of its content was sent. */
function begin(session: ClientHttp2Session, { token }: StubService, path: string): Sent {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    authorization: `Bearer ${token}`,
  });
  let details = "";
  const status = new Promise<number>((resolve, reject) => {
    const see = (headers: Record<string, unknown>) => {
      details = String(headers["grpc-status-details-bin"] ?? details);
      if (headers["grpc-status"] !== undefined) resolve(Number(headers["grpc-status"]));
    };
    stream.on("response", see);
    stream.on("trailers", see);
    stream.on("error", reject);
    stream.on("close", () => reject(new Error("closed")));
  });
  status.catch(() => {});
  const retryMs = () => {
    const all = fromBinary(StatusSchema, Buffer.from(details, "base64")).details;
    const { retryDelay } = all.map((detail) => anyUnpack(detail, RetryInfoSchema)).find(Boolean) ?? {};
    return Number(retryDelay?.seconds) * 1000;
  };
  return { stream, status, retryMs };
}

const creationPath = `/${createVersion.parent.typeName}/${createVersion.name}`;
const readPath = `/${getPreset.parent.typeName}/${getPreset.name}`;
const checkPath = `/${Health.typeName}/${Health.method.check.name}`;
const watchPath = `/${Health.typeName}/${Health.method.watch.name}`;
const unavailable = 14;

function creation(bytes: number): Buffer {
  return Buffer.from(toBinary(createVersion.input, create(createVersion.input, { configJson: "a".repeat(bytes) })));
}

/** Reads it to its end. */
function statusOf({ stream, status }: Sent): Promise<number> {
  stream.resume();
  return status;
}

/** A creation takes until it is released. */
async function openHeld(maxBytes: number, limits: { arrivalMaxMs?: number } = {}) {
  const waiting: (() => void)[] = [];
  const opened = await openStubService({
    callBytes: { maxBytes, ...limits },
    methods: { createVersion: () => new Promise((resolve) => waiting.push(() => resolve({}))) },
  });
  service = opened;
  return { opened, waiting };
}

describe("requests in flight over gRPC", () => {
  it("are rejected above the budget with a retry delay, while accepted ones complete", async () => {
    const { opened, waiting } = await openHeld(8 * mebibyte);
    const sessions = [newSession(opened), newSession(opened), newSession(opened)] as const;
    const taken = sessions.slice(0, 2).map((session) => send(session, opened, creationPath, creation(3 * mebibyte)));
    await expect.poll(() => waiting.length).toBe(2);
    const refused = send(sessions[2], opened, creationPath, creation(3 * mebibyte));
    expect(await statusOf(refused)).toBe(unavailable);
    expect(refused.retryMs()).toBe(1_000);
    for (const release of waiting) release();
    expect(await Promise.all(taken.map(statusOf))).toEqual([0, 0]);
    const next = send(sessions[2], opened, creationPath, creation(3 * mebibyte));
    await expect.poll(() => waiting.length).toBe(3);
    waiting[2]?.();
    expect(await statusOf(next)).toBe(0);
  });

  it("of one connection leave room for other connections", async () => {
    const { opened, waiting } = await openHeld(8 * mebibyte);
    const [greedy, modest] = [newSession(opened), newSession(opened)];
    const taken = [1, 2, 3].map(() => send(greedy, opened, creationPath, creation(1.2 * mebibyte)));
    await expect.poll(() => waiting.length).toBe(3);
    expect(await statusOf(send(greedy, opened, creationPath, creation(1.2 * mebibyte)))).toBe(unavailable);
    taken.push(send(modest, opened, creationPath, creation(1.2 * mebibyte)));
    await expect.poll(() => waiting.length).toBe(4);
    for (const release of waiting) release();
    expect(await Promise.all(taken.map(statusOf))).toEqual([0, 0, 0, 0]);
  });

  it("do not block health probes", async () => {
    const { opened, waiting } = await openHeld(2 * mebibyte, { arrivalMaxMs: 600_000 });
    const sessions = [newSession(opened), newSession(opened), newSession(opened)] as const;
    for (const session of sessions.slice(0, 2)) send(session, opened, creationPath, creation(0.9 * mebibyte));
    await expect.poll(() => waiting.length).toBe(2);
    expect(await statusOf(send(sessions[2], opened, creationPath, creation(0.9 * mebibyte)))).toBe(unavailable);
    expect(await statusOf(send(sessions[2], opened, checkPath, Buffer.alloc(0)))).toBe(0);
    // Also while there is room for nothing else.
    const others = newSession(opened);
    for (let count = 0; count < 200; count += 1) beginCall(sessions[2], creationPath);
    await expect.poll(() => statusOf(send(others, opened, readPath, Buffer.alloc(0)))).toBe(unavailable);
    expect(await statusOf(send(others, opened, checkPath, Buffer.alloc(0)))).toBe(0);
  });

  it("are rejected while they arrive if there is no room, so that others arrive completely", async () => {
    const { opened, waiting } = await openHeld(4 * mebibyte);
    const session = newSession(opened);
    // A connection has room for three of them.
    const content = grpcFrame(creation(0.64 * mebibyte));
    const creations = Array.from({ length: 4 }, () => begin(session, opened, creationPath));
    for (const { stream } of creations) stream.write(content.subarray(0, 0.6 * mebibyte));
    const statuses: number[] = [];
    for (const each of creations) statusOf(each).then((status) => statuses.push(status));
    await expect.poll(() => statuses).toContain(unavailable);
    for (const { stream } of creations) if (stream.writable) stream.end(content.subarray(0.6 * mebibyte));
    await expect.poll(() => waiting.length).toBeGreaterThan(0);
    await expect.poll(() => waiting.length + statuses.length).toBe(creations.length);
    for (const release of waiting) release();
    await expect.poll(() => statuses).toHaveLength(creations.length);
    expect(statuses.filter((status) => status === 0)).toHaveLength(waiting.length);
  });

  it("are cut off while they arrive, once all take twice the budget, even if they are probes", async () => {
    const { opened } = await openHeld(2 * mebibyte, { arrivalMaxMs: 600_000 });
    const sessions = Array.from({ length: 6 }, () => newSession(opened));
    const streams = sessions.map((session) => beginCall(session, checkPath));
    // They have all begun once what follows is answered.
    await Promise.all(sessions.map((session) => statusOf(send(session, opened, checkPath, Buffer.alloc(0)))));
    const unfinished = grpcFrame(Buffer.alloc(0.9 * mebibyte)).subarray(0, -1);
    for (const stream of streams) stream.write(unfinished);
    const resetWith = () => streams.map(({ rstCode }) => rstCode);
    await expect.poll(resetWith).toContain(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  /** A call of which nothing but the headers is sent. */
  function beginCall(session: ClientHttp2Session, path: string): ClientHttp2Stream {
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
    return stream.on("error", () => {});
  }

  it.each([
    ["some with large headers", 200, { "x-large": "x".repeat(50_000) }],
    ["thousands with small headers", 3_000, {}],
  ])("count from their headers on, even if no body ever arrives: %s", async (_name, count, headers) => {
    const { opened } = await openHeld(2 * mebibyte);
    const session = newSession(opened);
    const streams = Array.from({ length: count }, () => {
      const path = { ":method": "POST", ":path": creationPath, "content-type": "application/grpc" };
      const stream = session.request({ ...path, ...headers }, { endStream: false });
      return stream.on("error", () => {});
    });
    await expect.poll(() => streams.filter(({ closed }) => closed).length).toBeGreaterThan(100);
    expect(new Set(streams.map(({ rstCode }) => rstCode))).toEqual(new Set([0, constants.NGHTTP2_ENHANCE_YOUR_CALM]));
    await expect
      .poll(() => opened.counted("setpoint.preset.v1.PresetService/CreateVersion", "RESOURCE_EXHAUSTED"))
      .toBeGreaterThan(100);
    session.destroy();
    // The server notices that a moment later, and may see the next connection before.
    const others = newSession(opened);
    await expect.poll(() => statusOf(send(others, opened, readPath, Buffer.alloc(0)))).toBe(0);
  });

  it("make room for others if they never arrive, while complete ones are processed", async () => {
    const { opened, waiting } = await openHeld(2 * mebibyte, { arrivalMaxMs: 1_000 });
    const taken = send(newSession(opened), opened, creationPath, creation(0.5 * mebibyte));
    await expect.poll(() => waiting.length).toBe(1);
    // Of two strangers: half of one call each, and then hundreds that consist of headers.
    const silent = [newSession(opened), newSession(opened)].flatMap((session) =>
      Array.from({ length: 500 }, (_, index) => {
        const stream = session.request({ ":method": "POST", ":path": checkPath, "content-type": "application/grpc" });
        if (index === 0) stream.write(Buffer.alloc(3));
        return stream.on("error", () => {});
      }),
    );
    const others = newSession(opened);
    const read = () => statusOf(send(others, opened, readPath, Buffer.alloc(0)));
    await expect.poll(read, { interval: 10 }).toBe(unavailable);
    await expect.poll(read).toBe(0);
    const resetWith = () => new Set(silent.map(({ rstCode }) => rstCode).filter((code) => code !== 0));
    await expect.poll(resetWith).toEqual(new Set([constants.NGHTTP2_ENHANCE_YOUR_CALM]));
    for (const release of waiting) release();
    expect(await statusOf(taken)).toBe(0);
  });

  it("may arrive slowly while there is room", async () => {
    const { opened, waiting } = await openHeld(2 * mebibyte, { arrivalMaxMs: 100 });
    const slow = newSession(opened).request({
      ":method": "POST",
      ":path": readPath,
      "content-type": "application/grpc",
      authorization: `Bearer ${opened.token}`,
    });
    const trailers = once(slow, "trailers");
    send(newSession(opened), opened, creationPath, creation(0.9 * mebibyte));
    await expect.poll(() => waiting.length).toBe(1);
    await sleep(500);
    slow.end(grpcFrame(Buffer.alloc(0)));
    slow.resume();
    expect((await trailers)[0]).toMatchObject({ "grpc-status": "0" });
  });

  it("release their bytes for their answers, which may repeat them", async () => {
    const waiting: (() => void)[] = [];
    const opened = await openStubService({
      callBytes: { maxBytes: 8 * mebibyte },
      methods: {
        createVersion: async ({ configJson }) => {
          await new Promise<void>((resolve) => waiting.push(resolve));
          return { preset: { designatedVersion: { configJson } } };
        },
      },
    });
    service = opened;
    const session = newSession(opened);
    const unread = [1, 2, 3].map(() => send(session, opened, creationPath, creation(1.2 * mebibyte)));
    await expect.poll(() => waiting.length).toBe(3);
    for (const release of waiting) release();
    await expect.poll(() => opened.lines.filter((line) => line.includes("CreateVersion")).length).toBe(3);
    expect(await statusOf(send(session, opened, readPath, Buffer.alloc(0)))).toBe(0);
    expect(await Promise.all(unread.map(statusOf))).toEqual([0, 0, 0]);
  });

  it("release their bytes when they end", async () => {
    service = await openStubService({ callBytes: { maxBytes: 4 * mebibyte } });
    const session = newSession(service);
    for (let count = 0; count < 20; count += 1) {
      expect(await statusOf(send(session, service, creationPath, creation(1.5 * mebibyte)))).toBe(0);
      // A caller that disconnects in the middle.
      const gone = send(session, service, creationPath, creation(mebibyte));
      gone.stream.close(constants.NGHTTP2_CANCEL);
    }
  });
});

/** A read that returns this many bytes. */
async function openLarge(answerBytes: number, callBytes: { maxBytes: number; unreadMaxMs: number }) {
  const configJson = "a".repeat(answerBytes);
  const opened = await openStubService({
    callBytes,
    methods: { getPreset: async () => ({ preset: { designatedVersion: { configJson } } }) },
  });
  service = opened;
  return opened;
}

describe("answers being prepared", () => {
  it("are rejected before their content is read if there is no room, and release their room", async () => {
    const waiting: (() => void)[] = [];
    const configJson = "a".repeat(1.5 * mebibyte);
    const opened = await openStubService({
      callBytes: { maxBytes: 8 * mebibyte },
      methods: {
        getPreset: async (_request, { admit }) => {
          admit(configJson.length);
          await new Promise<void>((resolve) => waiting.push(resolve));
          return { preset: { designatedVersion: { configJson } } };
        },
      },
    });
    service = opened;
    const [greedy, modest] = [newSession(opened), newSession(opened)];
    const read = (session: ClientHttp2Session) => send(session, opened, readPath, Buffer.alloc(0));
    for (let round = 0; round < 10; round += 1) {
      const taken = [read(greedy), read(greedy), read(modest)];
      await expect.poll(() => waiting.length).toBe(3);
      const refused = read(greedy);
      expect(await statusOf(refused)).toBe(unavailable);
      expect(refused.retryMs()).toBe(1_000);
      for (const release of waiting.splice(0)) release();
      expect(await Promise.all(taken.map(statusOf))).toEqual([0, 0, 0]);
    }
  });
});

describe("answers that are not read", () => {
  it("block only their own connection and are dropped eventually, over gRPC", async () => {
    const opened = await openLarge(3 * mebibyte, { maxBytes: 10 * mebibyte, unreadMaxMs: 6_000 });
    const [idle, busy] = [newSession(opened), newSession(opened)];
    const unread = [send(idle, opened, readPath, Buffer.alloc(0)), send(idle, opened, readPath, Buffer.alloc(0))];
    await expect.poll(() => opened.lines.filter((line) => line.includes("GetPreset")).length).toBe(2);
    expect(await statusOf(send(idle, opened, readPath, Buffer.alloc(0)))).toBe(unavailable);
    expect(await statusOf(send(busy, opened, readPath, Buffer.alloc(0)))).toBe(0);
    await expect.poll(() => unread.every(({ stream }) => stream.closed)).toBe(true);
    expect(await statusOf(send(idle, opened, readPath, Buffer.alloc(0)))).toBe(0);
  });

  it("are not mistaken for a stream that is read, and has nothing more to send for long", async () => {
    const opened = await openLarge(mebibyte, { maxBytes: 10 * mebibyte, unreadMaxMs: 500 });
    const { stream } = send(newSession(opened), opened, watchPath, Buffer.alloc(0));
    const [status] = await once(stream, "data");
    expect(status).toEqual(grpcFrame(Buffer.from([0x08, 1])));
    await sleep(1_500);
    expect(stream.closed).toBe(false);
  });

  it("are rejected and dropped likewise over HTTP/1.1", async () => {
    const opened = await openLarge(24 * mebibyte, { maxBytes: 20 * mebibyte, unreadMaxMs: 6_000 });
    const read = (path = readPath) =>
      fetch(`http://127.0.0.1:${opened.httpPort}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${opened.token}` },
        body: "{}",
      });
    const socket = unreadSocket(opened);
    await expect.poll(() => opened.lines.filter((line) => line.includes("GetPreset")).length).toBe(1);
    const refused = await read();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await refused.json()).toMatchObject({ code: "unavailable" });
    // Before anything of its body has come; but a probe is answered.
    const [early] = await once(unreadSocket(opened, "").resume(), "data");
    expect(String(early)).toContain("HTTP/1.1 503");
    expect((await read(checkPath)).status).toBe(200);
    await expect.poll(async () => (await read()).status, { interval: 500 }).toBe(200);
    // A paused socket does not see its end, but the rest of its answer never arrives.
    let bytes = 0;
    const ended = new Promise<void>((resolve) => {
      socket.on("close", () => resolve());
    });
    socket.on("data", (data) => {
      bytes += data.length;
    });
    socket.resume();
    await ended;
    expect(bytes).toBeLessThan(24 * mebibyte);
  });

  function unreadSocket({ httpPort, token }: StubService, body = "{}"): Socket {
    const socket = connectTcp(httpPort, "127.0.0.1");
    socket.on("error", () => {});
    socket.pause();
    socket.write(
      `POST ${readPath} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\n` +
        `content-length: 2\r\n\r\n${body}`,
    );
    closing.push(() => socket.destroy());
    return socket;
  }
});

describe("requests in flight over HTTP/1.1", () => {
  /** The status of a creation with a config of this size. */
  async function createOverHttp({ httpPort, token }: StubService, bytes: number): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${httpPort}${creationPath}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ configJson: "a".repeat(bytes) }),
    });
    return answer.status;
  }

  it("make room for others if they never arrive, while complete ones are processed", async () => {
    const { opened, waiting } = await openHeld(2 * mebibyte, { arrivalMaxMs: 1_000 });
    const complete = createOverHttp(opened, 0.4 * mebibyte);
    await expect.poll(() => waiting.length).toBe(1);
    const half = Array.from({ length: 3 }, () => {
      const socket = connectTcp(opened.httpPort, "127.0.0.1");
      closing.push(() => socket.destroy());
      socket.on("error", () => {});
      socket.write(
        `POST ${creationPath} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n` +
          `authorization: Bearer ${opened.token}\r\ncontent-length: ${mebibyte}\r\n\r\n`,
      );
      socket.write("a".repeat(0.5 * mebibyte));
      return socket;
    });
    await expect.poll(() => half.some(({ closed }) => closed)).toBe(true);
    for (const release of waiting) release();
    expect(await complete).toBe(200);
  });

  it("are rejected above the budget, while accepted ones complete", async () => {
    const { opened, waiting } = await openHeld(8 * mebibyte);
    const create = () => createOverHttp(opened, 3 * mebibyte);
    const taken = [create(), create()];
    await expect.poll(() => waiting.length).toBe(2);
    expect(await create()).toBe(503);
    for (const release of waiting) release();
    expect(await Promise.all(taken)).toEqual([200, 200]);
  });
});
