import { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Metrics } from "../../services/platform/observe/metrics.ts";
import { InFlight } from "./in-flight.ts";

const kibibyte = 1024;
const limits = { inFlightBytesMax: 1_000 * kibibyte, keyRequestsMax: 100, bodyBytesMax: 400 * kibibyte };

let inFlight: InFlight;

beforeEach(() => {
  vi.useFakeTimers();
  inFlight = new InFlight(limits, new Metrics("test"));
});

afterEach(() => {
  vi.useRealTimers();
});

class FakeSocket {
  destroyed = false;
}

/** The parts of a request and its connection that are looked at. */
function exchangeOn(
  socket: FakeSocket,
  { method = "GET", length = 0, bodyLimit = limits.bodyBytesMax, status = 200 } = {},
) {
  const response = Object.assign(new EventEmitter(), { destroy: vi.fn() });
  const reply = { raw: response, statusCode: status, removeHeader: () => reply };
  const headers = { "content-length": String(length) };
  const request = { method, headers, raw: { socket }, routeOptions: { bodyLimit } } as unknown as FastifyRequest;
  const answerWith = (payload: unknown) => inFlight.admitAnswer(request, reply as unknown as FastifyReply, payload);
  const admit = (keyId: string, organizationId = "organization") => inFlight.admit(request, { keyId, organizationId });
  /** Its whole body arrives. */
  const receive = async () => {
    const body = Readable.from([Buffer.alloc(length)]);
    for await (const _ of inFlight.countBody(request, body));
  };
  /** The beginning of its body arrives, and no more until the returned function is called. */
  const receivePart = async (bytes: number) => {
    const body = new Readable({ read() {} });
    const chunks = inFlight.countBody(request, body)[Symbol.asyncIterator]();
    body.push(Buffer.alloc(bytes));
    await chunks.next();
    return async () => {
      body.push(Buffer.alloc(length - bytes));
      body.push(null);
      while (!(await chunks.next()).done);
    };
  };
  return {
    response,
    receivePart,
    end: () => request.memory?.release(),
    admit,
    receive,
    send: (keyId: string, organizationId?: string) => {
      admit(keyId, organizationId);
      return receive();
    },
    answer: (bytes: number) => answerWith(Buffer.alloc(bytes)),
    stream: () => answerWith(Readable.from([])),
  };
}

describe("in-flight accounting", () => {
  it("releases each exchange when it ends", async () => {
    const first = exchangeOn(new FakeSocket(), { method: "POST", length: 100 * kibibyte });
    const second = exchangeOn(new FakeSocket(), { method: "POST", length: 200 * kibibyte });
    await first.send("key");
    await second.send("key");
    first.end();
    expect([inFlight.bytes, inFlight.keys]).toEqual([200 * kibibyte, 1]);
    second.end();
    expect([inFlight.bytes, inFlight.keys]).toEqual([0, 0]);
  });

  it("releases an answer larger than its request", () => {
    const exchange = exchangeOn(new FakeSocket());
    exchange.admit("key");
    expect(exchange.answer(100 * kibibyte)).toBeUndefined();
    expect(inFlight.bytes).toBe(100 * kibibyte);
    exchange.end();
    expect([inFlight.bytes, inFlight.keys]).toEqual([0, 0]);
  });

  it("counts nothing for a client that left before it was answered, and admits none that left before that", () => {
    const socket = new FakeSocket();
    const exchange = exchangeOn(socket);
    exchange.admit("key");
    socket.destroyed = true;
    exchange.end();
    expect(exchange.answer(300 * kibibyte)).toBeUndefined();
    expect(() => exchangeOn(socket, { method: "POST", length: 300 * kibibyte }).admit("key")).toThrow("has gone");
    expect([inFlight.bytes, inFlight.keys]).toEqual([0, 0]);
  });

  it("counts the larger of a body and its answer, not their sum", async () => {
    const exchange = exchangeOn(new FakeSocket(), { method: "POST", length: 300 * kibibyte });
    await exchange.send("key");
    exchange.answer(200 * kibibyte);
    expect(inFlight.bytes).toBe(300 * kibibyte);
    exchange.answer(400 * kibibyte);
    expect(inFlight.bytes).toBe(400 * kibibyte);
  });

  it("counts a body that its route accepts even if others would not", async () => {
    const parts = { method: "POST", length: 450 * kibibyte, bodyLimit: 450 * kibibyte };
    await exchangeOn(new FakeSocket(), parts).send("key");
    expect(inFlight.bytes).toBe(450 * kibibyte);
  });

  it("takes back the room of a body that does not arrive, when others need it", async () => {
    const large = { method: "POST", length: 400 * kibibyte };
    const silent = exchangeOn(new FakeSocket(), large);
    silent.admit("key");
    vi.advanceTimersByTime(1_000);
    expect(() => exchangeOn(new FakeSocket(), large).admit("key")).toThrow("This key has too many");
    vi.advanceTimersByTime(1);
    expect(inFlight.bytes).toBe(400 * kibibyte);
    await exchangeOn(new FakeSocket(), large).send("key");
    expect(inFlight.bytes).toBe(404 * kibibyte);
    silent.end();
    expect(inFlight.bytes).toBe(400 * kibibyte);
  });

  it("keeps room for what has arrived of a body when it takes back the rest", async () => {
    const slow = exchangeOn(new FakeSocket(), { method: "POST", length: 400 * kibibyte });
    slow.admit("key");
    const receiveRest = await slow.receivePart(100 * kibibyte);
    const other = exchangeOn(new FakeSocket(), { method: "POST", length: 300 * kibibyte });
    vi.advanceTimersByTime(1_100);
    expect(() => other.admit("key")).toThrow("This key has too many");
    vi.advanceTimersByTime(1);
    other.admit("key");
    expect(inFlight.bytes).toBe(400 * kibibyte);
    other.end();
    expect(inFlight.bytes).toBe(100 * kibibyte);
    await receiveRest();
    expect(inFlight.bytes).toBe(400 * kibibyte);
  });

  it.each([true, false])(
    "counts a body as it arrives once its room was taken back; taken by now: %s",
    async (isTaken) => {
      const large = { method: "POST", length: 400 * kibibyte };
      const slow = exchangeOn(new FakeSocket(), large);
      slow.admit("key");
      vi.advanceTimersByTime(1_001);
      const other = exchangeOn(new FakeSocket(), large);
      other.admit("key");
      if (isTaken) return expect(slow.receive()).rejects.toThrow("This key has too many");
      other.end();
      await slow.receive();
      expect(inFlight.bytes).toBe(400 * kibibyte);
    },
  );

  it("leaves the room of a body that has arrived, however long ago", async () => {
    await exchangeOn(new FakeSocket(), { method: "POST", length: 400 * kibibyte }).send("key");
    vi.advanceTimersByTime(60_000);
    expect(() => exchangeOn(new FakeSocket(), { method: "POST", length: 101 * kibibyte }).admit("key")).toThrow();
    expect(inFlight.bytes).toBe(400 * kibibyte);
  });

  it("refuses a large body at once if there is no room for it", async () => {
    await exchangeOn(new FakeSocket(), { method: "POST", length: 400 * kibibyte }).send("key");
    const second = exchangeOn(new FakeSocket(), { method: "POST", length: 101 * kibibyte });
    expect(() => second.admit("key")).toThrow("This key has too many requests or bytes in flight.");
    expect(inFlight.bytes).toBe(400 * kibibyte);
  });

  it("leaves a quarter to other organizations", async () => {
    const large = { method: "POST", length: 350 * kibibyte };
    await exchangeOn(new FakeSocket(), large).send("one");
    await exchangeOn(new FakeSocket(), large).send("two");
    const third = exchangeOn(new FakeSocket(), { method: "POST", length: 100 * kibibyte });
    expect(() => third.admit("three")).toThrow("This organization has too many bytes in flight.");
    await exchangeOn(new FakeSocket(), { method: "POST", length: 300 * kibibyte }).send("four", "another");
    expect(inFlight.bytes).toBe(1_000 * kibibyte);
  });

  it("has room for small requests of a key whose large ones take all of its share", async () => {
    const small = Array.from({ length: 16 }, () => exchangeOn(new FakeSocket()));
    for (const each of small.slice(0, 8)) each.admit("key");
    await exchangeOn(new FakeSocket(), { method: "POST", length: 400 * kibibyte }).send("key");
    await exchangeOn(new FakeSocket(), { method: "POST", length: 100 * kibibyte }).send("key");
    for (const each of small.slice(8, 15)) each.admit("key");
    expect(() => small.at(-1)?.admit("key")).toThrow("This key has too many");
  });

  it("does not count a body that will not be read", () => {
    exchangeOn(new FakeSocket(), { method: "POST", length: 10 ** 12 }).admit("key");
    exchangeOn(new FakeSocket(), { method: "GET", length: 10 ** 12 }).admit("key");
    expect(inFlight.bytes).toBe(8 * kibibyte);
  });

  it("bounds answers to changes as well, and cuts off clients that do not read", () => {
    const changes = Array.from({ length: 20 }, () => exchangeOn(new FakeSocket(), { method: "PATCH" }));
    for (const change of changes) {
      change.response.destroy.mockImplementation(change.end);
      change.admit("key");
    }
    for (const change of changes) expect(change.answer(200 * kibibyte)).toBeUndefined();
    const cut = changes.filter(({ response }) => response.destroy.mock.calls.length > 0);
    expect(cut.length).toBeGreaterThan(10);
    expect(inFlight.bytes).toBeGreaterThan(limits.inFlightBytesMax);
    expect(inFlight.bytes).toBeLessThanOrEqual(1.5 * limits.inFlightBytesMax);
  });

  it("gives up on a client that reads a large answer too slowly", () => {
    const slow = exchangeOn(new FakeSocket());
    slow.admit("key");
    slow.answer(100 * kibibyte);
    const done = exchangeOn(new FakeSocket());
    done.admit("key");
    done.answer(100 * kibibyte);
    done.end();
    vi.advanceTimersByTime(120_000);
    expect(slow.response.destroy).toHaveBeenCalledOnce();
    expect(done.response.destroy).not.toHaveBeenCalled();
  });

  it("gives up on a client that reads a large answer too slowly, even if its body was larger", async () => {
    const slow = exchangeOn(new FakeSocket(), { method: "POST", length: 300 * kibibyte });
    await slow.send("key");
    slow.answer(100 * kibibyte);
    vi.advanceTimersByTime(120_000);
    expect(slow.response.destroy).toHaveBeenCalledOnce();
  });

  it("lets a stream take any time", () => {
    inFlight = new InFlight({ ...limits, inFlightBytesMax: 20 * 1024 * kibibyte }, new Metrics("test"));
    const page = exchangeOn(new FakeSocket());
    page.admit("key");
    expect(page.stream()).toBeUndefined();
    expect(inFlight.bytes).toBe(4 * 1024 * kibibyte);
    vi.advanceTimersByTime(600_000);
    expect(page.response.destroy).not.toHaveBeenCalled();
  });

  it("refuses a read for which there is no room, but no error", () => {
    const reads = Array.from({ length: 3 }, () => exchangeOn(new FakeSocket()));
    for (const read of reads) read.admit("key");
    expect(reads.map((read) => read.answer(200 * kibibyte)?.message)).toEqual([
      undefined,
      undefined,
      expect.stringContaining("too many requests or bytes in flight"),
    ]);
    const faulty = exchangeOn(new FakeSocket(), { status: 404 });
    faulty.admit("key");
    expect(faulty.answer(200 * kibibyte)).toBeUndefined();
  });
});
