import { type ClientHttp2Session, connect, constants } from "node:http2";
import { gzipSync } from "node:zlib";
import { create, type DescMethod, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import type { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../proto/gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../proto/gen/google/rpc/status_pb.ts";
import { Health } from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { CreateVersionRequestSchema, PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { codeName } from "../../services/platform/rpc/codes.ts";
import { requestBytesMax } from "../../services/platform/rpc/message-sizes.ts";
import { grpcFrame } from "../support/grpc-frame.ts";
import { openStubService, type StubService } from "../support/stub-service.ts";

let service: StubService;
let session: ClientHttp2Session;

beforeAll(async () => {
  service = await openStubService();
  session = connect(`http://127.0.0.1:${service.grpcPort}`, { maxSessionMemory: 1_000 });
});

afterAll(async () => {
  session.destroy();
  await service.close();
});

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
  readonly authorization?: string;
}

interface Seen {
  readonly code: string;
  readonly message: string;
  readonly reason: string | undefined;
  readonly fields: readonly string[];
}

/** Sends what no client would send, and returns the grpc-status. A stream is canceled after its first message. */
function send(
  method: DescMethod,
  { headers, body = [], authorization = `Bearer ${service.token}` }: Sent,
): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": `/${method.parent.typeName}/${method.name}`,
      "content-type": "application/grpc",
      te: "trailers",
      ...(authorization === "" ? {} : { authorization }),
      ...headers,
    });
    const see = (answer: Record<string, unknown>) => {
      if (answer["grpc-status"] !== undefined) resolve(seenIn(answer));
    };
    stream.on("response", see);
    stream.on("trailers", see);
    stream.on("error", reject);
    stream.on("data", () => {
      if (method.methodKind === "unary") return;
      resolve({ code: "OK", message: "", reason: undefined, fields: [] });
      stream.close(constants.NGHTTP2_CANCEL);
    });
    for (const part of body) stream.write(part);
    stream.end();
  });
}

function seenIn(headers: Record<string, unknown>): Seen {
  const code = Number(headers["grpc-status"]);
  const bin = headers["grpc-status-details-bin"];
  const { details } =
    typeof bin === "string" ? fromBinary(StatusSchema, Buffer.from(bin, "base64")) : create(StatusSchema);
  const info = details.map((detail) => anyUnpack(detail, ErrorInfoSchema)).find(Boolean);
  const badRequest = details.map((detail) => anyUnpack(detail, BadRequestSchema)).find(Boolean);
  return {
    code: code === 0 ? "OK" : codeName(code as Code),
    message: decodeURI(String(headers["grpc-message"] ?? "")),
    reason: info?.reason,
    fields: badRequest?.fieldViolations.map(({ field }) => field) ?? [],
  };
}

const empty = grpcFrame(Buffer.alloc(0));
const message = Buffer.from(
  toBinary(CreateVersionRequestSchema, create(CreateVersionRequestSchema, { slug: "secret" })),
);
const compressed = (content: Uint8Array) => [grpcFrame(content, { flags: 1 })];
const timeout = { code: "INVALID_ARGUMENT", reason: "INVALID_REQUEST", fields: ["grpc-timeout"] };
const unreadable = { code: "INVALID_ARGUMENT", reason: "INVALID_REQUEST", fields: [""] };
const unsupported = { code: "UNIMPLEMENTED", reason: "UNSUPPORTED_REQUEST" };
const mebibyte = Buffer.alloc(1024 * 1024, "secret");

const methods: [string, DescMethod][] = [
  ["a call", PresetService.method.createVersion],
  ["a stream", Health.method.watch],
];

describe.each(methods)("gRPC of %s", (_kind, method) => {
  const rpc = `${method.parent.typeName}/${method.name}`;

  it.each<[string, Sent, Partial<Seen>]>([
    ["an invalid timeout", { headers: { "grpc-timeout": "secret" }, body: [empty] }, timeout],
    ["a timeout without a unit", { headers: { "grpc-timeout": "5" }, body: [empty] }, timeout],
    ["a timeout with too many digits", { headers: { "grpc-timeout": "123456789S" }, body: [empty] }, timeout],
    ["a negative timeout", { headers: { "grpc-timeout": "-1S" }, body: [empty] }, timeout],
    ["a timeout after other text", { headers: { "grpc-timeout": "secret 5m" }, body: [empty] }, timeout],
    [
      "data that does not match its compression",
      { headers: { "grpc-encoding": "gzip" }, body: compressed(Buffer.from("secret")) },
      unsupported,
    ],
    ["compression", { headers: { "grpc-encoding": "gzip" }, body: compressed(gzipSync(message)) }, unsupported],
    ["an unknown compression", { headers: { "grpc-encoding": "secret" }, body: compressed(message) }, unsupported],
    [
      "a decompression bomb",
      { headers: { "grpc-encoding": "gzip" }, body: compressed(gzipSync(Buffer.alloc(2 * requestBytesMax))) },
      unsupported,
    ],
    ["compression without a header", { body: compressed(gzipSync(message)) }, unreadable],
    ["no message", {}, { code: "UNIMPLEMENTED" }],
    ["half a message", { body: [grpcFrame(message, { length: 100 })] }, { code: "UNIMPLEMENTED" }],
    ["half a frame header", { body: [Buffer.alloc(3)] }, { code: "UNIMPLEMENTED" }],
    ["two messages", { body: [empty, empty] }, { code: "UNIMPLEMENTED" }],
    [
      "a message that is too large",
      { body: [grpcFrame(message, { length: requestBytesMax + 1 })] },
      { code: "RESOURCE_EXHAUSTED" },
    ],
    ["a truncated message", { body: [grpcFrame(Buffer.from("secret"))] }, unreadable],
  ])("rejects %s, and logs and counts it once", async (_name, sent, expected) => {
    const code = expected.code as string;
    const [linesBefore, countBefore] = [service.lines.length, await service.counted(rpc, code)];
    const seen = await send(method, { ...sent, headers: { ...sent.headers, "x-request-id": "mine" } });
    expect(seen).toMatchObject(expected);
    expect(seen.message.toLowerCase()).not.toContain("secret");
    await expect.poll(() => service.counted(rpc, code)).toBe(countBefore + 1);
    const added = service.lines.slice(linesBefore).map((line) => JSON.parse(line));
    expect(added).toMatchObject([{ rpc, code, request_id: "mine" }]);
  });

  it.each(["99999999H", "1H", "99999999S", "60S"])("accepts a timeout of %s", async (long) => {
    const { code } = await send(method, { headers: { "grpc-timeout": long }, body: [empty] });
    expect(code).toBe("OK");
  });

  it("accepts grpc-encoding: identity", async () => {
    const { code } = await send(method, { headers: { "grpc-encoding": "identity" }, body: [empty] });
    expect(code).toBe("OK");
  });
});

describe("gRPC", () => {
  const { createVersion } = PresetService.method;

  it("answers an unauthenticated caller's bad timeout with UNAUTHENTICATED only", async () => {
    const seen = await send(createVersion, { headers: { "grpc-timeout": "x" }, body: [empty], authorization: "" });
    expect(seen).toMatchObject({ code: "UNAUTHENTICATED", reason: "TOKEN_MISSING", fields: [] });
  });

  it("reads no more than the largest request, in however many messages", async () => {
    const part = grpcFrame(Buffer.alloc(1024 * 1024));
    const stream = session.request({
      ":method": "POST",
      ":path": `/${PresetService.typeName}/CreateVersion`,
      "content-type": "application/grpc",
      te: "trailers",
      authorization: `Bearer ${service.token}`,
    });
    stream.on("error", () => {});
    for (let count = 0; count < 20; count += 1) stream.write(part);
    await expect.poll(() => stream.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  it("keeps serving after a caller that sends without end", async () => {
    const endless = Array(40).fill(mebibyte);
    const large = grpcFrame(message, { length: 2 ** 31 });
    expect(await send(createVersion, { body: [large, ...endless] })).toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    expect(await send(createVersion, { body: [empty] })).toMatchObject({ code: "OK" });
  });

  it("keeps request content out of the log and the metrics", async () => {
    expect(service.lines.length).toBeGreaterThan(0);
    expect((service.lines.join("") + (await service.metrics.registry.metrics())).toLowerCase()).not.toContain("secret");
  });
});
