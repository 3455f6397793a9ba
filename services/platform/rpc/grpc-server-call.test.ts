import { create } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Health } from "../../../proto/gen/grpc/health/v1/health_pb.ts";
import { grpcDefinitionOf } from "../../../test/support/grpc-definition.ts";
import { DomainError } from "../domain/domain-error.ts";
import { Metrics } from "../observe/metrics.ts";
import { GrpcServer } from "./grpc-server.ts";
import { serveOpenService } from "./service.ts";

const host = "127.0.0.1";
const closers: (() => unknown)[] = [];
let lines: Record<string, unknown>[];
/** What a watcher receives. */
let statuses: () => AsyncIterable<never>;
let client: Client;

beforeEach(async () => {
  lines = [];
  const logger = pino({ level: "debug" }, { write: (line) => lines.push(JSON.parse(line)) });
  const message = "ü".repeat(100_000);
  const check = async () => {
    throw new DomainError("not_found", { reason: "REASON", message });
  };
  const watch = async function* () {
    yield* statuses();
  };
  const service = serveOpenService(Health, { check, watch }, { logger, metrics: new Metrics("test") });
  const server = new GrpcServer([service], logger);
  const port = await server.listen(host, 0, undefined);
  closers.push(() => server.close(0));
  client = new Client(`${host}:${port}`, credentials.createInsecure());
  closers.push(() => client.close());
});

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** The number of messages, and the error after them. */
function watch(): Promise<[number, ServiceError | undefined]> {
  const { path, requestSerialize, responseDeserialize } = grpcDefinitionOf(Health.method.watch);
  const stream = client.makeServerStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    create(Health.method.watch.input),
  );
  let count = 0;
  stream.on("data", () => {
    count += 1;
  });
  return new Promise((resolve) => {
    stream.on("end", () => resolve([count, undefined]));
    stream.on("error", (error: ServiceError) => resolve([count, error]));
  });
}

describe("a stream message that cannot be encoded", () => {
  it("is an internal error for the caller and in the log, and ends its method", async () => {
    let hasEnded = false;
    statuses = async function* () {
      try {
        yield { status: 1 } as never;
        yield { status: "serving" } as never;
        yield { status: 1 } as never;
      } finally {
        hasEnded = true;
      }
    };
    expect(await watch()).toMatchObject([1, { code: status.INTERNAL, details: "internal error" }]);
    await expect.poll(() => lines).toMatchObject([{ code: "INTERNAL", msg: "rpc failed", err: { type: "TypeError" } }]);
    expect(hasEnded).toBe(true);
  });
});

describe("an error too large for headers", () => {
  it("is truncated, and the connection stays open", async () => {
    const { path, requestSerialize, responseDeserialize } = grpcDefinitionOf(Health.method.check);
    const call = () =>
      new Promise<ServiceError | null>((resolve) => {
        const message = create(Health.method.check.input);
        client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, new Metadata(), resolve);
      });
    for (const error of [await call(), await call()]) {
      expect(error).toMatchObject({ code: status.NOT_FOUND, details: expect.stringMatching(/^ü{900}/) });
    }
  });
});
