import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { type DescMethod, fromBinary } from "@bufbuild/protobuf";
import { type Any, anyUnpack } from "@bufbuild/protobuf/wkt";
import type { Code } from "@connectrpc/connect";
import { Client, credentials, Metadata, type ServiceError, type StatusObject } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../proto/gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../proto/gen/google/rpc/status_pb.ts";
import { Health } from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import type { Metrics } from "../../services/platform/observe/metrics.ts";
import { codeName } from "../../services/platform/rpc/codes.ts";
import { requestBytesMax } from "../../services/platform/rpc/message-sizes.ts";
import { grpcFrame } from "../support/grpc-frame.ts";
import { openStubService, type StubService } from "../support/stub-service.ts";

const { createVersion, batchCreateVersions, getPreset, getVersion, listPresets, updatePreset } = PresetService.method;
const { watch } = Health.method;

let service: StubService;
let lines: readonly string[];
let metrics: Metrics;
let ports: { readonly grpc: number; readonly http: number };
let token: string;

beforeAll(async () => {
  // Rejected requests never reach a method; those that do get an empty message.
  service = await openStubService();
  ports = { grpc: service.grpcPort, http: service.httpPort };
  ({ lines, metrics, token } = service);
});

afterAll(() => service.close());

/** What a caller sees of an error. */
interface Refusal {
  readonly kind: string;
  readonly message: string;
  readonly reason: string | undefined;
  readonly domain: string | undefined;
  readonly fields: readonly string[];
}

function refusal(kind: string, message: string, details: readonly Any[]): Refusal {
  const info = details.map((detail) => anyUnpack(detail, ErrorInfoSchema)).find(Boolean);
  const badRequest = details.map((detail) => anyUnpack(detail, BadRequestSchema)).find(Boolean);
  const fields = badRequest?.fieldViolations.map(({ field }) => field) ?? [];
  return { kind, message, reason: info?.reason, domain: info?.domain, fields };
}

function refusalFromStatus(detailsBin: Uint8Array): Refusal {
  const { code, message, details } = fromBinary(StatusSchema, detailsBin);
  return refusal(codeName(code as Code).toLowerCase(), message, details);
}

interface ConnectErrorJson {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly { readonly type: string; readonly value: string }[];
}

function refusalFromJson({ code, message, details = [] }: ConnectErrorJson): Refusal {
  const packed = details.map(({ type, value }) => ({
    $typeName: "google.protobuf.Any" as const,
    typeUrl: `type.googleapis.com/${type}`,
    value: Buffer.from(value, "base64"),
  }));
  return refusal(code, message, packed);
}

interface Request {
  readonly rpc?: DescMethod;
  readonly method?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent in these parts; without a `content-length` header their size is not announced. */
  readonly body?: readonly (string | Uint8Array)[];
  readonly authorization?: string | undefined;
}

interface Answer {
  readonly status: number | undefined;
  readonly body: Buffer;
  readonly head: IncomingMessage;
}

function send(request: Request): Promise<Answer> {
  const { rpc = createVersion, method = "POST", query = "", body = [], authorization = `Bearer ${token}` } = request;
  const path = `/${rpc.parent.typeName}/${rpc.name}${query}`;
  const headers = { ...(authorization === "" ? {} : { authorization }), ...request.headers };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: "127.0.0.1", port: ports.http, method, path, headers, agent: false });
    outgoing.on("error", reject);
    outgoing.on("response", (head) => {
      buffer(head).then((bytes) => resolve({ status: head.statusCode, body: bytes, head }), reject);
    });
    for (const part of body) outgoing.write(part);
    outgoing.end();
  });
}

/** The content of an answer in any protocol. */
function refusalIn({ head, body }: Answer): Refusal {
  const type = head.headers["content-type"] ?? "";
  if (type.startsWith("application/json")) return refusalFromJson(JSON.parse(body.toString()));
  if (type.startsWith("application/connect+")) return refusalFromJson(JSON.parse(body.toString("utf8", 5)).error);
  const trailers = type.startsWith("application/grpc-web") ? body.toString("latin1", 5) : head.rawTrailers.join(": ");
  const details = /grpc-status-details-bin: (\S+)/.exec(trailers)?.[1] ?? "";
  return refusalFromStatus(Buffer.from(details, "base64"));
}

/** A message in an envelope, which may state a wrong length. Connect uses the same ones as gRPC. */
function envelope(text: string, lies?: Parameters<typeof grpcFrame>[1]): Uint8Array {
  return grpcFrame(Buffer.from(text), lies);
}

const json = { "content-type": "application/json" };
const proto = { "content-type": "application/proto" };
const mebibyte = Buffer.alloc(1024 * 1024, "secret");
const tooLarge = Array.from({ length: requestBytesMax / mebibyte.length + 1 }, () => mebibyte);
const invalid = { kind: "invalid_argument", reason: "INVALID_REQUEST", domain: "setpoint" };
const exhausted = { kind: "resource_exhausted", reason: "REQUEST_TOO_LARGE", domain: "setpoint", fields: [""] };
const unsupported = { kind: "unimplemented", reason: "UNSUPPORTED_REQUEST", domain: "setpoint" };

function expectNoSecret(...texts: readonly string[]): void {
  for (const text of texts) expect(text.toLowerCase()).not.toContain("secret");
}

describe("Connect", () => {
  it.each<[string, Request, number, Partial<Refusal>]>([
    ["text that is not JSON", { headers: json, body: ["secret"] }, 400, { ...invalid, fields: [""] }],
    ["truncated JSON", { headers: json, body: ['{"slug":"secret'] }, 400, { ...invalid, fields: [""] }],
    ["no body", { headers: json }, 400, { ...invalid, fields: [""] }],
    ["a list", { headers: json, body: ['["secret"]'] }, 400, { ...invalid, fields: [""] }],
    ["a duplicate key", { headers: json, body: ['{"secret":1,"secret":2}'] }, 400, { ...invalid, fields: [""] }],
    [
      "a field of the wrong type",
      { headers: json, body: ['{"slug":["secret"]}'] },
      400,
      { ...invalid, fields: ["slug"] },
    ],
    [
      "a field given by both of its names",
      { headers: json, body: ['{"configJson":"secret","config_json":"secret"}'] },
      400,
      { ...invalid, fields: ["config_json"] },
    ],
    [
      "a string for a number",
      { rpc: getVersion, headers: json, body: ['{"version":"secret"}'] },
      400,
      { ...invalid, fields: ["version"] },
    ],
    [
      "a field of the wrong type in a part",
      { rpc: batchCreateVersions, headers: json, body: ['{"requests":[{"systemPrompt":{"secret":1}}]}'] },
      400,
      { ...invalid, fields: ["system_prompt"] },
    ],
    [
      "an unknown field in a part",
      { rpc: batchCreateVersions, headers: json, body: ['{"requests":[{"systemPromt":"secret"}]}'] },
      400,
      { ...invalid, fields: ["systemPromt"] },
    ],
    ["a field name that cannot exist", { headers: json, body: ['{"my secret":1}'] }, 400, { ...invalid, fields: [""] }],
    [
      "an unknown status name",
      { rpc: listPresets, headers: json, body: ['{"statuses":["SECRET"]}'] },
      400,
      { ...invalid, fields: ["statuses"] },
    ],
    [
      "an unknown status name in a query",
      {
        rpc: listPresets,
        method: "GET",
        query: `?encoding=json&message=${encodeURIComponent('{"statuses":["SECRET"]}')}`,
      },
      400,
      { ...invalid, fields: ["statuses"] },
    ],
    [
      "an unknown status name as a single value",
      { rpc: updatePreset, headers: json, body: ['{"status":"SECRET"}'] },
      400,
      { ...invalid, fields: ["status"] },
    ],
    [
      "an invalid field mask",
      { rpc: updatePreset, headers: json, body: ['{"updateMask":"the_secret"}'] },
      400,
      { ...invalid, fields: [""] },
    ],
    ["bytes that are not a message", { headers: proto, body: ["secret"] }, 400, { ...invalid, fields: [""] }],
    ["invalid UTF-8", { headers: proto, body: [Uint8Array.of(10, 1, 255)] }, 400, { ...invalid, fields: [""] }],
    [
      "another content type",
      { headers: { "content-type": "text/secret" }, body: ["secret"] },
      415,
      { ...invalid, fields: ["content-type"] },
    ],
    ["no content type", { body: ["secret"] }, 415, { ...invalid, fields: ["content-type"] }],
    [
      "an invalid timeout",
      { headers: { ...json, "connect-timeout-ms": "secret" }, body: ["{}"] },
      400,
      { ...invalid, fields: ["connect-timeout-ms"] },
    ],
    ["compression", { headers: { ...json, "content-encoding": "secret" }, body: ["{}"] }, 501, unsupported],
    [
      "a content encoding",
      { headers: { ...json, "transfer-encoding": "gzip, chunked" }, body: ["{}"] },
      501,
      unsupported,
    ],
    [
      "a body that is too large",
      { headers: { ...json, "content-length": `${tooLarge.length * mebibyte.length}` }, body: tooLarge },
      429,
      exhausted,
    ],
    ["a body of unknown length that is too large", { headers: json, body: tooLarge }, 429, exhausted],
    [
      "a query that is not JSON",
      { rpc: getPreset, method: "GET", query: "?encoding=json&message=secret" },
      400,
      { ...invalid, fields: ["message"] },
    ],
    [
      "a query that is not base64",
      { rpc: getPreset, method: "GET", query: "?encoding=proto&base64=1&message=!secret" },
      400,
      { ...invalid, fields: ["message"] },
    ],
    [
      "a query in another encoding",
      { rpc: getPreset, method: "GET", query: "?encoding=secret&message=secret" },
      415,
      { ...invalid, fields: ["encoding"] },
    ],
  ])("rejects %s", async (_name, request, status, expected) => {
    const answer = await send(request);
    expect(answer.status).toBe(status);
    expect(refusalIn(answer)).toMatchObject(expected);
    expectNoSecret(answer.body.toString(), answer.head.rawHeaders.join());
  });

  it("says what to send instead", async () => {
    const malformed = refusalIn(await send({ headers: json, body: ["secret"] }));
    expect(malformed.message).toBe(
      "The body must be one setpoint.preset.v1.CreateVersionRequest, in the encoding that the request names",
    );
    const mistyped = refusalIn(await send({ headers: json, body: ['{"slug":1}'] }));
    expect(mistyped.message).toBe(
      "slug must have the type that setpoint.preset.v1.CreateVersionRequest declares, and be given only once",
    );
    const large = refusalIn(await send({ headers: proto, body: tooLarge }));
    expect(large.message).toBe("The body must be at most 16777216 bytes");
    const largeJson = refusalIn(await send({ headers: json, body: tooLarge }));
    expect(largeJson.message).toBe("The body must be at most 4456448 bytes");
    const largeRead = refusalIn(await send({ rpc: getPreset, headers: proto, body: [mebibyte] }));
    expect(largeRead.message).toBe("The body must be at most 196608 bytes");
  });

  it("names an unknown field", async () => {
    const unknown = refusalIn(await send({ headers: json, body: ['{"slug":"a","sluck":"b"}'] }));
    expect(unknown).toMatchObject({ ...invalid, fields: ["sluck"], message: "sluck is not a field of the request" });
  });

  it("ignores unknown fields in protobuf, which a newer caller may send", async () => {
    const field1000 = Uint8Array.of(0xc2, 0x3e, 1, 0x61);
    expect((await send({ headers: proto, body: [field1000] })).status).toBe(200);
  });

  it.each<[string, Request]>([
    ["an unreadable body", { headers: json, body: ["secret"] }],
    ["another content type", { headers: { "content-type": "text/plain" }, body: ["secret"] }],
  ])("answers an unauthenticated caller with %s with UNAUTHENTICATED only", async (_name, request) => {
    const answer = await send({ ...request, authorization: "" });
    expect(answer.status).toBe(401);
    expect(refusalIn(answer)).toMatchObject({ kind: "unauthenticated", reason: "TOKEN_MISSING", fields: [] });
  });

  it.each([
    ["an unknown procedure", "POST", "/setpoint.preset.v1.PresetService/Secret", 404],
    ["a wrong HTTP method", "PUT", "/setpoint.preset.v1.PresetService/CreateVersion", 405],
  ])("answers %s with an empty error", async (_name, method, path, status) => {
    const response = await fetch(`http://127.0.0.1:${ports.http}${path}`, { method, headers: json, body: "secret" });
    expect([response.status, await response.text()]).toEqual([status, ""]);
  });
});

function emptyOf(type: string): string {
  return type.endsWith("json") ? "{}" : "";
}

const enveloped: [string, DescMethod][] = [
  ["application/grpc-web+proto", createVersion],
  ["application/grpc-web+json", createVersion],
  ["application/grpc+proto", createVersion],
  ["application/connect+json", watch],
  ["application/connect+proto", watch],
];

describe.each(enveloped)("%s", (type, rpc) => {
  const headers = { "content-type": type };
  const isConnect = type.startsWith("application/connect+");
  const timeout = isConnect ? "connect-timeout-ms" : "grpc-timeout";
  const encoding = isConnect ? "connect-content-encoding" : "grpc-encoding";

  it.each<[string, Omit<Request, "rpc">, Partial<Refusal>]>([
    ["bytes that are not a message", { headers, body: [envelope("secret")] }, { ...invalid, fields: [""] }],
    ["half a message", { headers, body: [envelope("secret", { length: 60 })] }, { ...invalid, fields: [""] }],
    [
      "a message that is too large",
      { headers, body: [envelope("secret", { length: requestBytesMax + 1 })] },
      exhausted,
    ],
    ["no message", { headers }, unsupported],
    ["two messages", { headers, body: [envelope(emptyOf(type)), envelope(emptyOf(type))] }, unsupported],
    ["a compressed message", { headers, body: [envelope("secret", { flags: 1 })] }, { ...invalid, fields: [""] }],
    ["compression", { headers: { ...headers, [encoding]: "secret" }, body: [envelope("")] }, unsupported],
    [
      "a content encoding",
      { headers: { ...headers, "transfer-encoding": "gzip, chunked" }, body: [envelope("")] },
      unsupported,
    ],
    [
      "an invalid timeout",
      { headers: { ...headers, [timeout]: "secret" }, body: [envelope("")] },
      { ...invalid, fields: [timeout] },
    ],
  ])("rejects %s", async (_name, request, expected) => {
    const answer = await send({ rpc, ...request });
    expect(answer.status).toBe(200);
    expect(refusalIn(answer)).toMatchObject(expected);
    expectNoSecret(answer.body.toString(), answer.head.rawHeaders.join(), answer.head.rawTrailers.join());
  });
});

describe("gRPC", () => {
  const undecodable = Buffer.from("secret");
  const asIs = (bytes: Buffer) => bytes;
  let client: Client;

  beforeAll(() => {
    client = new Client(`127.0.0.1:${ports.grpc}`, credentials.createInsecure());
  });

  afterAll(() => client.close());

  function metadata(authorization: string): Metadata {
    const made = new Metadata();
    if (authorization !== "") made.set("authorization", authorization);
    return made;
  }

  function callUnary(authorization: string): Promise<StatusObject> {
    const path = `/${createVersion.parent.typeName}/${createVersion.name}`;
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, asIs, asIs, undecodable, metadata(authorization), (error) =>
        error ? resolve(error) : reject(new Error("the call succeeded")),
      );
    });
  }

  function callStream(): Promise<StatusObject> {
    const path = `/${watch.parent.typeName}/${watch.name}`;
    return new Promise((resolve) => {
      client
        .makeServerStreamRequest(path, asIs, asIs, undecodable)
        .on("error", (error: ServiceError) => resolve(error))
        .resume();
    });
  }

  function refusalOf({ metadata: sent }: StatusObject): Refusal {
    return refusalFromStatus(sent.get("grpc-status-details-bin")[0] as Buffer);
  }

  it.each<[string, () => Promise<StatusObject>, string]>([
    ["a call", () => callUnary(`Bearer ${token}`), "setpoint.preset.v1.CreateVersionRequest"],
    ["a stream", () => callStream(), "grpc.health.v1.HealthCheckRequest"],
  ])("rejects bytes that are not a message for %s", async (_name, call, input) => {
    const failure = await call();
    expect(refusalOf(failure)).toMatchObject({ ...invalid, fields: [""], message: failure.details });
    expect(failure.details).toBe(`The body must be one ${input}, in the encoding that the request names`);
  });

  it("answers an unauthenticated caller with UNAUTHENTICATED only", async () => {
    expect(refusalOf(await callUnary(""))).toMatchObject({ kind: "unauthenticated", reason: "TOKEN_MISSING" });
  });

  it("logs malformed calls like any other", async () => {
    const before = lines.length;
    await callUnary(`Bearer ${token}`);
    expect(lines.slice(before).map((line) => JSON.parse(line))).toMatchObject([
      { rpc: "setpoint.preset.v1.PresetService/CreateVersion", code: "INVALID_ARGUMENT" },
    ]);
  });
});

describe("a rejected request", () => {
  it.each<[string, Request, string]>([
    ["an unreadable body", { headers: json, body: ["secret"] }, "INVALID_ARGUMENT"],
    ["a body that is too large", { headers: json, body: tooLarge }, "RESOURCE_EXHAUSTED"],
    ["another content type", { headers: { "content-type": "text/secret" }, body: ["secret"] }, "INVALID_ARGUMENT"],
  ])("is logged and counted once: %s", async (_name, request, code) => {
    const rpc = "setpoint.preset.v1.PresetService/CreateVersion";
    const counted = () => service.counted(rpc, code);
    const [linesBefore, countBefore] = [lines.length, await counted()];
    await send({ ...request, headers: { ...request.headers, "x-request-id": "mine" } });
    const added = lines.slice(linesBefore).map((line) => JSON.parse(line));
    expect(added).toMatchObject([{ rpc, code, request_id: "mine" }]);
    expect(await counted()).toBe(countBefore + 1);
  });

  it("leaves no content in the log or the metrics", async () => {
    await send({ headers: json, body: ["secret"] });
    expect(lines.length).toBeGreaterThan(0);
    expectNoSecret(lines.join(""), await metrics.registry.metrics());
  });
});

describe("a connection", () => {
  /** Writes the given bytes, and reads until this many answers have arrived. */
  function exchange(parts: readonly (string | Uint8Array)[], answers: number): Promise<string[]> {
    return new Promise((resolve, reject) => {
      let received = "";
      const socket = connect(ports.http, "127.0.0.1", () => {
        for (const part of parts) socket.write(part);
      });
      socket.on("error", reject);
      socket.on("data", (data) => {
        received += data;
        const statusLines = received.match(/HTTP\/1\.1 \d+/g) ?? [];
        if (statusLines.length < answers) return;
        socket.destroy();
        resolve(statusLines);
      });
    });
  }

  const head = () =>
    "POST /setpoint.preset.v1.PresetService/CreateVersion HTTP/1.1\r\nhost: a\r\n" +
    `content-type: application/json\r\nauthorization: Bearer ${token}\r\n`;
  const good = () => `${head()}content-length: 2\r\n\r\n{}`;

  it("serves the next request after a body that is too large", async () => {
    const chunks = tooLarge.flatMap((part) => [`${part.length.toString(16)}\r\n`, part, "\r\n"]);
    const large = [`${head()}transfer-encoding: chunked\r\n\r\n`, ...chunks, ...chunks, "0\r\n\r\n"];
    expect(await exchange([...large, good()], 2)).toEqual(["HTTP/1.1 429", "HTTP/1.1 200"]);
  });

  it.each([
    ["no Host", (text: string) => text.replace("HTTP/1.1", "HTTP/1.0").replace("host: a\r\n", "")],
    ["an invalid Host", (text: string) => text.replace("host: a", "host: [")],
  ])("serves a request with %s", async (_name, change) => {
    expect(await exchange([change(good())], 1)).toEqual(["HTTP/1.1 200"]);
  });
});
