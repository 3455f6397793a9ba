import { once } from "node:events";
import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  AccessService,
  GetKeySetResponseSchema,
} from "../../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { grpcFrame } from "../../../test/support/grpc-frame.ts";
import { monotonicMs } from "../time/clock.ts";
import { type Channel, openChannel } from "./channel.ts";
import { grpcClient } from "./grpc-client.ts";
import { responseBytesMax } from "./message-sizes.ts";

const answer = grpcFrame(toBinary(GetKeySetResponseSchema, create(GetKeySetResponseSchema, { jwksJson: "answered" })));
const head = { ":status": 200, "content-type": "application/grpc" };

type Serve = (stream: ServerHttp2Stream, call: number) => void;

let server: Http2Server;
let channel: Channel;
let sessions: ServerHttp2Session[];
let callCount: number;
/** Handles a call to the service, which has no health checks. */
let serve: Serve;
let health: (stream: ServerHttp2Stream) => void;
let healthCount: number;

beforeEach(async () => {
  sessions = [];
  callCount = 0;
  healthCount = 0;
  health = (stream) => stream.respond({ ...head, "grpc-status": "12" }, { endStream: true });
  server = createServer();
  server.on("session", (session) => {
    sessions.push(session);
    session.on("error", () => {});
  });
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    stream.on("error", () => {});
    if (String(headers[":path"]).endsWith("/Watch")) {
      healthCount += 1;
      health(stream);
    } else serve(stream, ++callCount);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  channel = openChannel(`127.0.0.1:${(server.address() as AddressInfo).port}`, undefined);
});

afterEach(async () => {
  channel.close();
  for (const session of sessions) session.destroy();
  server.close();
});

async function call(timeoutMs = 10_000, onOutcomeUnknown = () => {}): Promise<string> {
  const options = { requestId: "test", deadlineMs: monotonicMs() + timeoutMs, onOutcomeUnknown };
  return (await grpcClient(AccessService, channel).getKeySet({}, options)).jwksJson;
}

/** Answers correctly. */
function answerWell(stream: ServerHttp2Stream): void {
  stream.respond(head, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(answer);
}

describe("an answer", () => {
  it("is read wherever it is split", async () => {
    for (let cut = 1; cut < answer.length; cut += 1) {
      serve = async (stream) => {
        stream.respond(head, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
        stream.write(answer.subarray(0, cut));
        await new Promise(setImmediate);
        stream.end(answer.subarray(cut));
      };
      expect(await call()).toBe("answered");
    }
  });

  it("may have the maximum size", async () => {
    const overhead = 5;
    const jwksJson = "a".repeat(responseBytesMax - overhead);
    const largest = toBinary(GetKeySetResponseSchema, create(GetKeySetResponseSchema, { jwksJson }));
    expect(largest).toHaveLength(responseBytesMax);
    serve = (stream) => {
      stream.respond(head, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(grpcFrame(largest));
    };
    expect((await call()).length).toBe(jwksJson.length);
  });

  it("is returned as soon as its message arrives, even if the connection then ends", async () => {
    serve = (stream) => {
      stream.respond(head);
      stream.write(answer, () => setTimeout(() => stream.session?.destroy(), 100));
    };
    expect(await call()).toBe("answered");
  });

  it.each<[string, Serve, object]>([
    [
      "with an error status and message",
      (stream) =>
        stream.respond({ ...head, "grpc-status": "9", "grpc-message": "nicht m%C3%B6glich" }, { endStream: true }),
      { kind: "failed_precondition", message: "nicht möglich" },
    ],
    [
      "with a badly encoded message",
      (stream) => stream.respond({ ...head, "grpc-status": "9", "grpc-message": "100%" }, { endStream: true }),
      { kind: "failed_precondition", message: "100%" },
    ],
    [
      "with an unknown code",
      (stream) => stream.respond({ ...head, "grpc-status": "99" }, { endStream: true }),
      { kind: "internal" },
    ],
    [
      "without a message",
      (stream) => stream.respond({ ...head, "grpc-status": "0" }, { endStream: true }),
      { kind: "internal" },
    ],
    [
      "that is compressed",
      (stream) => {
        stream.respond(head);
        stream.write(Buffer.concat([Buffer.from([1]), answer.subarray(1)]));
      },
      { kind: "internal", message: "The answer is compressed." },
    ],
    [
      "that claims to be too large",
      (stream) => {
        const prefix = Buffer.alloc(5);
        prefix.writeUInt32BE(responseBytesMax + 1, 1);
        stream.respond(head);
        stream.write(prefix);
      },
      { kind: "resource_exhausted", message: "The answer is too large." },
    ],
    [
      "that is not a message",
      (stream) => {
        stream.respond(head);
        stream.write(grpcFrame(Buffer.from([0xff, 0xff])));
      },
      { kind: "internal", message: "The answer cannot be read." },
    ],
  ])("%s is an error, and the connection stays open", async (_, badly, error) => {
    serve = badly;
    await expect(call()).rejects.toMatchObject(error);
    expect(callCount).toBe(1);
    serve = answerWell;
    expect(await call()).toBe("answered");
    expect(sessions).toHaveLength(1);
  });

  it("that never arrives times out at the deadline, and the stream is canceled", async () => {
    const { promise: closed, resolve } = Promise.withResolvers<number>();
    serve = (stream) => stream.on("close", () => resolve(stream.rstCode));
    await expect(call(300)).rejects.toMatchObject({ kind: "deadline_exceeded" });
    expect(await closed).toBe(constants.NGHTTP2_CANCEL);
  });
});

describe("a stream is canceled", () => {
  it.each<[string, Serve, string]>([
    [
      "that never ends after its answer, at the deadline",
      (stream) => {
        stream.respond(head);
        stream.write(answer);
      },
      "answered",
    ],
    [
      "that answers endlessly, at the deadline",
      (stream) => {
        stream.respond(head);
        const more = setInterval(() => stream.write(answer), 10);
        stream.on("close", () => clearInterval(more));
      },
      "answered",
    ],
    [
      "that does not end with its status, at once",
      (stream) => stream.respond({ ...head, "grpc-status": "9", "grpc-message": "no" }),
      "no",
    ],
  ])("%s", async (_, serveOpen, expected) => {
    const { promise: closed, resolve } = Promise.withResolvers<number>();
    serve = (stream, count) => {
      stream.on("close", () => resolve(stream.rstCode));
      serveOpen(stream, count);
    };
    expect(await call(500).catch(({ message }) => message)).toBe(expected);
    expect(await closed).toBe(constants.NGHTTP2_CANCEL);
    expect(sessions).toHaveLength(1);
  });
});

describe("a service with a malformed health answer", () => {
  it("is called anyway, and nothing breaks", async () => {
    health = (stream) => {
      stream.respond(head);
      stream.write(grpcFrame(Buffer.from([0xff, 0xff])));
    };
    serve = answerWell;
    sessions[0]?.destroy();
    await expect.poll(() => healthCount).toBeGreaterThan(2);
    expect(await call()).toBe("answered");
    expect(channel.pick()?.isServing).toBe(false);
  });
});

describe("a call is retried", () => {
  it.each<[string, Serve]>([
    ["whose stream is refused", (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM)],
    ["whose stream is reset", (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR)],
    ["that a proxy cannot forward", (stream) => stream.respond({ ":status": 503 }, { endStream: true })],
    ["that someone else answers", (stream) => stream.respond({ ":status": 404 }, { endStream: true })],
    [
      "that someone else answers with a page",
      (stream) => {
        stream.respond({ ":status": 200, "content-type": "text/html" });
        stream.end("<!doctype html><title>Sign in</title>");
      },
    ],
    ["whose connection ends", (stream) => stream.session?.destroy()],
    [
      "whose answer breaks off",
      (stream) => {
        stream.respond(head);
        stream.write(answer.subarray(0, 7), () => stream.session?.destroy());
      },
    ],
    ["whose connection fails", (stream) => stream.session?.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)],
  ])("%s", async (_, fail) => {
    serve = (stream, count) => (count === 1 ? fail(stream, count) : answerWell(stream));
    expect(await call()).toBe("answered");
    expect(callCount).toBe(2);
  });

  it("until a service answers it", async () => {
    serve = answerWell;
    expect(await call()).toBe("answered");
    const { port } = server.address() as AddressInfo;
    for (const session of sessions) session.destroy();
    await new Promise((resolve) => server.close(resolve));
    await expect.poll(() => channel.fault).toBeDefined();
    let isOutcomeUnknown = false;
    const answered = call(10_000, () => {
      isOutcomeUnknown = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await once(server.listen(port, "127.0.0.1"), "listening");
    expect(await answered).toBe("answered");
    // It was sent only once.
    expect(isOutcomeUnknown).toBe(false);
  });
});

describe("a connection being closed by the server", () => {
  it("answers earlier calls, while new ones use another connection", async () => {
    const first = Promise.withResolvers<ServerHttp2Stream>();
    serve = first.resolve;
    const early = call();
    const stream = await first.promise;
    serve = answerWell;
    stream.session?.goaway();
    await expect.poll(() => sessions.length).toBe(2);
    expect(await call()).toBe("answered");
    answerWell(stream);
    expect(await early).toBe("answered");
    expect(callCount).toBe(2);
  });
});
