import { create } from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { afterEach, expect, it } from "vitest";
import {
  type HealthCheckResponse,
  Health as HealthService,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../proto/gen/grpc/health/v1/health_pb.ts";
import { grpcDefinitionOf } from "../../../test/support/grpc-definition.ts";
import { silentLogger } from "../observe/logger.ts";
import { Metrics } from "../observe/metrics.ts";
import { Health } from "../process/health.ts";
import { GrpcServer } from "./grpc-server.ts";
import { serveHealth, watchersMax } from "./health-service.ts";

const host = "127.0.0.1";
const method = HealthService.method.watch;
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

it("rejects watchers above its limit, and accepts another once one has left", async () => {
  const client = await serve();
  const watchers = Array.from({ length: watchersMax }, () => watch(client));
  expect(new Set(await Promise.all(watchers.map(({ told }) => told)))).toEqual(new Set([Status.SERVING]));
  await expect(watch(client).told).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  watchers[0]?.cancel();
  await expect.poll(() => watch(client).told.catch(({ code }: ServiceError) => code)).toBe(Status.SERVING);
});

async function serve(): Promise<Client> {
  const middleware = { logger: silentLogger(), metrics: new Metrics("test"), isProbe: true };
  const server = new GrpcServer([serveHealth(new Health({}, () => false), [], middleware)], middleware.logger);
  const port = await server.listen(host, 0, undefined);
  closers.push(() => server.close(0));
  const client = new Client(`${host}:${port}`, credentials.createInsecure());
  closers.push(() => client.close());
  return client;
}

/** What a watcher receives first. */
function watch(client: Client): { readonly told: Promise<Status>; readonly cancel: () => void } {
  const { path, requestSerialize, responseDeserialize } = grpcDefinitionOf(method);
  const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, create(method.input));
  const told = new Promise<Status>((resolve, reject) => {
    stream.once("data", (answer: HealthCheckResponse) => resolve(answer.status));
    stream.on("error", reject);
  });
  return { told, cancel: () => stream.cancel() };
}
