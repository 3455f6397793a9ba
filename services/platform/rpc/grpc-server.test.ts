import { once } from "node:events";
import { type AddressInfo, connect, createServer, Server, type Socket } from "node:net";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Health as HealthService } from "../../../proto/gen/grpc/health/v1/health_pb.ts";
import { data, headers } from "../../../test/support/raw-http2.ts";
import { FrameReader } from "../http2/frame-reader.ts";
import { pingFrame, settingsFrame } from "../http2/frames.ts";
import { flags, frameTypes, pingBytes, preface } from "../http2/protocol.ts";
import { silentLogger } from "../observe/logger.ts";
import { Metrics } from "../observe/metrics.ts";
import { Health } from "../process/health.ts";
import { nextTurn } from "../time/next-turn.ts";
import { GrpcConnection } from "./grpc-connection.ts";
import { grpcPathOf } from "./grpc-messages.ts";
import { GrpcServer } from "./grpc-server.ts";
import { serveHealth } from "./health-service.ts";

const host = "127.0.0.1";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
});

afterEach(() => {
  vi.useRealTimers();
});

function connectTo(port: number): GrpcConnection {
  return new GrpcConnection({ ip: host, port, host, tls: undefined });
}

/** Timers stand still except while something is polled for. Less than any of those takes that might be left. */
const soon = { timeout: 8_000 };

describe("a connection that has ended", () => {
  it("leaves no timer on either side", async () => {
    const server = new GrpcServer([], silentLogger());
    const port = await server.listen(host, 0, undefined);
    const ofServer = vi.getTimerCount();
    const connection = connectTo(port);
    await new Promise((resolve) =>
      connection.call("/none/None", [], Buffer.alloc(5), { onMessage: () => {}, onEnd: resolve }),
    );
    // The pings of both sides and the age of the connection, but nothing of the handshake.
    await expect.poll(() => vi.getTimerCount(), soon).toBe(ofServer + 3);
    connection.close();
    await expect.poll(() => vi.getTimerCount(), soon).toBe(ofServer);
    await server.close(0);
  });

  it("leaves no timer if its peer had not said a word", async () => {
    const silent = createServer((socket) => socket.on("error", () => {}).resume());
    await once(silent.listen(0, host), "listening");
    const accepted = once(silent, "connection");
    const connection = connectTo((silent.address() as AddressInfo).port);
    await accepted;
    connection.close();
    await expect.poll(() => vi.getTimerCount(), soon).toBe(0);
    silent.close();
  });
});

describe("a client that answers no ping", () => {
  const closers: (() => unknown)[] = [];

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  /** Sends these frames, and returns once the server has read them. `types` are those of the frames that it sends. */
  async function connectSilently(...frames: Buffer[]): Promise<{ client: Socket; types: number[] }> {
    const middleware = { logger: silentLogger(), metrics: new Metrics("test"), isProbe: true };
    const server = new GrpcServer([serveHealth(new Health({}, () => false), [], middleware)], middleware.logger);
    const client = connect(await server.listen(host, 0, undefined), host);
    closers.push(
      () => server.close(0),
      () => client.destroy(),
    );
    const types: number[] = [];
    const reader = new FrameReader((type) => types.push(type));
    client.on("data", (chunk: Buffer) => reader.read(chunk));
    client.write(Buffer.concat([preface, settingsFrame({}), ...frames, pingFrame(Buffer.alloc(pingBytes), false)]));
    await expect.poll(() => types, soon).toContain(frameTypes.ping);
    return { client, types };
  }

  async function pass(ms: number): Promise<void> {
    vi.advanceTimersByTime(ms);
    // What has arrived is read before it pings and before it closes.
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  }

  const call = (streamId: number, path: string, bits: number) =>
    headers(streamId, [":method", "POST", ":scheme", "http", ":path", path, "content-type", "application/grpc"], bits);
  const unknownCall = (streamId: number) => call(streamId, "/none/None", flags.endHeaders | flags.endStream);
  const beginningOfCall = call(1, grpcPathOf(HealthService.method.check), flags.endHeaders);

  it("keeps its connection while it has no call, because it may not be reading then", async () => {
    const { client, types } = await connectSilently();
    await pass(10_000);
    await pass(5_000);
    client.write(unknownCall(1));
    await expect.poll(() => types, soon).toContain(frameTypes.headers);
  });

  it("keeps its connection if its call was answered meanwhile", async () => {
    const { client, types } = await connectSilently(beginningOfCall);
    await pass(10_000);
    client.write(data(1, Buffer.alloc(5), flags.endStream));
    await expect.poll(() => types, soon).toContain(frameTypes.data);
    await pass(5_000);
    client.write(unknownCall(3));
    await expect.poll(() => types.filter((type) => type === frameTypes.headers).length, soon).toBe(3);
  });

  it("loses its connection while it has a call", async () => {
    const { client } = await connectSilently(beginningOfCall);
    await pass(10_000);
    await pass(5_000);
    await expect.poll(() => client.closed, soon).toBe(true);
  });
});

it("a server that cannot accept connections goes on, and logs that", async () => {
  const lines: object[] = [];
  const server = new GrpcServer([], pino({}, { write: (line) => lines.push(JSON.parse(line)) }));
  const listen = vi.spyOn(Server.prototype, "listen");
  await server.listen(host, 0, undefined);
  const [listener] = listen.mock.contexts as readonly Server[];
  listen.mockRestore();
  // As Node reports it. Without a listener, this would throw.
  listener?.emit("error", new Error("accept EMFILE"));
  expect(lines).toMatchObject([
    { level: 40, reason: "accept EMFILE", connections: 1, msg: "connections could not be accepted" },
  ]);
  await server.close(0);
});
