import { once } from "node:events";
import { type AddressInfo, createServer, Server } from "node:net";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { silentLogger } from "../observe/logger.ts";
import { GrpcConnection } from "./grpc-connection.ts";
import { GrpcServer } from "./grpc-server.ts";

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
    expect(vi.getTimerCount()).toBe(ofServer + 3);
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
