import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import type { DescMethod } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Health } from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { invalidRequest } from "../../services/platform/domain/domain-error.ts";
import { grpcPathOf } from "../../services/platform/rpc/grpc-messages.ts";
import { openStubService, type StubService } from "../support/stub-service.ts";

const { getPreset } = PresetService.method;
const { watch } = Health.method;
const empty = Buffer.alloc(5);

let service: StubService;
let session: ClientHttp2Session;
/** The pending answers. */
let waiting: PromiseWithResolvers<object>[];

beforeAll(async () => {
  service = await openStubService({
    methods: {
      getPreset: () => {
        const answer = Promise.withResolvers<object>();
        waiting.push(answer);
        return answer.promise;
      },
    },
  });
});

afterAll(() => service.close());

beforeEach(() => {
  waiting = [];
  session = connect(`http://127.0.0.1:${service.grpcPort}`);
  session.on("error", () => {});
});

afterEach(() => session.destroy());

function begin(method: DescMethod, headers: Record<string, string> = {}): ClientHttp2Stream {
  const stream = session.request({
    ":method": "POST",
    ":path": grpcPathOf(method),
    "content-type": "application/grpc",
    te: "trailers",
    authorization: `Bearer ${service.token}`,
    ...headers,
  });
  return stream.on("error", () => {}).resume();
}

/** `grpc-status`, in headers or trailers. */
function statusOf(stream: ClientHttp2Stream): Promise<number> {
  return new Promise((resolve) => {
    const see = (headers: Record<string, unknown>) => {
      if (headers["grpc-status"] !== undefined) resolve(Number(headers["grpc-status"]));
    };
    stream.on("response", see);
    stream.on("trailers", see);
  });
}

const linesSince = (before: number) => service.lines.slice(before).map((line) => JSON.parse(line));

type End = (answer: PromiseWithResolvers<object>) => void;

const ends: [string, End, object][] = [
  ["answers", (answer) => answer.resolve({}), { msg: "rpc" }],
  ["rejects the request", (answer) => answer.reject(invalidRequest([])), { msg: "rpc" }],
  ["fails", (answer) => answer.reject(new Error("a fault of ours")), { code: "INTERNAL", msg: "rpc failed" }],
  ["returns an invalid message", (answer) => answer.resolve({ preset: 1 }), { code: "INTERNAL", msg: "rpc failed" }],
];

describe.each(ends)("a method that %s after its call has ended", (_how, end, line) => {
  const lateMs = 300;

  it("is logged once, as DEADLINE_EXCEEDED or a fault, with its duration", async () => {
    const before = service.lines.length;
    const stream = begin(getPreset, { "grpc-timeout": "50m" });
    stream.end(empty);
    expect(await statusOf(stream)).toBe(4);
    await sleep(lateMs);
    expect(linesSince(before)).toEqual([]);
    for (const answer of waiting) end(answer);
    await expect.poll(() => linesSince(before)).toMatchObject([{ code: "DEADLINE_EXCEEDED", ...line }]);
    expect(linesSince(before)[0].ms).toBeGreaterThanOrEqual(lateMs);
  });

  it.each<[string, (stream: ClientHttp2Stream) => void]>([
    ["has canceled it", (stream) => stream.close(constants.NGHTTP2_CANCEL)],
    ["has disconnected", () => session.destroy()],
  ])("is logged once, as CANCELED or a fault, if the caller %s", async (_gone, leave) => {
    const before = service.lines.length;
    const stream = begin(getPreset);
    stream.end(empty);
    await expect.poll(() => waiting.length).toBe(1);
    leave(stream);
    await sleep(lateMs);
    for (const answer of waiting) end(answer);
    await expect.poll(() => linesSince(before)).toMatchObject([{ code: "CANCELED", ...line }]);
  });
});

describe("the timer of a deadline", () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

  it.each<[string, (answer: PromiseWithResolvers<object>, stream: ClientHttp2Stream | undefined) => void]>([
    ["has been canceled", (_, stream) => stream?.close(constants.NGHTTP2_CANCEL)],
    ["has been answered", (answer) => answer.resolve({})],
    ["has failed", (answer) => answer.reject(new Error("a fault of ours"))],
  ])("ends with its call, once that %s", async (_how, end) => {
    const before = timers();
    const streams = Array.from({ length: 50 }, () => begin(getPreset, { "grpc-timeout": "1H" }).end(empty));
    await expect.poll(() => waiting.length).toBe(50);
    expect(timers() - before).toBeGreaterThan(25);
    for (const [index, answer] of waiting.entries()) end(answer, streams[index]);
    await expect.poll(() => timers() - before).toBeLessThan(25);
  });
});

describe("a caller that cancels just before its own deadline", () => {
  it("is logged as DEADLINE_EXCEEDED", async () => {
    const before = service.lines.length;
    const stream = begin(getPreset, { "grpc-timeout": "8m" });
    stream.close(constants.NGHTTP2_CANCEL);
    await expect.poll(() => linesSince(before)).toMatchObject([{ code: "DEADLINE_EXCEEDED" }]);
  });
});

describe("a call whose message never arrives", () => {
  it("is logged once, as DEADLINE_EXCEEDED", async () => {
    const before = service.lines.length;
    const stream = begin(getPreset, { "grpc-timeout": "50m" });
    expect(await statusOf(stream)).toBe(4);
    await expect.poll(() => linesSince(before)).toMatchObject([{ code: "DEADLINE_EXCEEDED" }]);
    expect(waiting).toEqual([]);
  });
});

describe("a stream", () => {
  it("past its deadline is logged once, as DEADLINE_EXCEEDED", async () => {
    const before = service.lines.length;
    const stream = begin(watch, { "grpc-timeout": "100m" });
    stream.end(empty);
    expect(await statusOf(stream)).toBe(4);
    await expect.poll(() => linesSince(before)).toMatchObject([{ code: "DEADLINE_EXCEEDED" }]);
  });

  it("canceled by its reader is logged once, as CANCELED", async () => {
    const before = service.lines.length;
    const stream = begin(watch);
    stream.end(empty);
    stream.once("data", () => stream.close(constants.NGHTTP2_CANCEL));
    await expect.poll(() => linesSince(before)).toMatchObject([{ code: "CANCELED" }]);
  });
});
