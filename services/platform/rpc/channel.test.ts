import { createHook } from "node:async_hooks";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server as NetServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Metadata, Server, ServerCredentials, type sendUnaryData, status } from "@grpc/grpc-js";
import { afterAll, describe, expect, it } from "vitest";
import { AccessService } from "../../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { grpcDefinitionOf } from "../../../test/support/grpc-definition.ts";
import { nextPort } from "../../../test/support/ports.ts";
import { unavailable } from "../domain/domain-error.ts";
import { settingsFrame } from "../http2/frames.ts";
import { silentLogger } from "../observe/logger.ts";
import { Metrics } from "../observe/metrics.ts";
import { Health } from "../process/health.ts";
import { monotonicMs } from "../time/clock.ts";
import { type Channel, openChannel } from "./channel.ts";
import { grpcClient } from "./grpc-client.ts";
import { GrpcServer } from "./grpc-server.ts";
import { serveHealth } from "./health-service.ts";
import { serveOpenService } from "./service.ts";

const middleware = { logger: silentLogger(), metrics: new Metrics("test") };
const host = "127.0.0.1";
const closers: (() => unknown)[] = [];

afterAll(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A service that answers every call with its name, unless told otherwise. */
class Process {
  readonly name: string;
  port = 0;
  calls = 0;
  isReady = true;
  hasHealth = true;
  /** What a call waits for. */
  before: () => Promise<unknown> = async () => {};
  readonly #metrics = new Metrics("test");
  #server: GrpcServer | undefined;

  constructor(name: string) {
    this.name = name;
  }

  async start(address = host): Promise<this> {
    const check = async () => {
      if (!this.isReady) throw new Error("not ready");
    };
    const watching = { ...middleware, metrics: this.#metrics };
    const health = serveHealth(new Health({ check }, () => false), [], watching);
    const access = serveOpenService(
      AccessService,
      {
        exchangeKey: async () => ({}),
        batchExchangeKeys: async () => ({}),
        getWorkspaceState: async () => ({}),
        getKeySet: async () => {
          this.calls += 1;
          await this.before();
          return { jwksJson: this.name };
        },
      },
      middleware,
    );
    this.#server = new GrpcServer(this.hasHealth ? [access, health] : [access], middleware.logger);
    // It may be started again, and others have the same port at other addresses.
    this.port ||= await nextPort();
    await this.#server.listen(address, this.port, undefined);
    closers.push(() => this.stop());
    return this;
  }

  /** How often somebody stopped to watch its health. */
  async watchesEnded(): Promise<number> {
    const page = await this.#metrics.registry.metrics();
    return Number(/_count\{.*operation="grpc.health.v1.Health\/Watch".*\} (\d+)/.exec(page)?.[1] ?? 0);
  }

  async stop(): Promise<void> {
    await this.#server?.close(0);
    this.#server = undefined;
  }
}

function open(target: string, lookup?: Parameters<typeof openChannel>[2]): Channel {
  const channel = openChannel(target, undefined, lookup);
  closers.push(() => channel.close());
  return channel;
}

function openTo(...processes: readonly { readonly port: number }[]): Channel {
  return open(processes.map(({ port }) => `${host}:${port}`).join(","));
}

/** A peer that accepts connections, and answers no call. */
async function listenSilently(port: number, address: string): Promise<{ port: number; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    socket.resume().write(settingsFrame({}));
  });
  await once(server.listen(port, address), "listening");
  closers.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, sockets };
}

/** The name of the process that answers. */
async function call(channel: Channel, timeoutMs = 15_000, signal?: AbortSignal): Promise<string> {
  const options = { requestId: "test", deadlineMs: monotonicMs() + timeoutMs, ...(signal && { signal }) };
  return (await grpcClient(AccessService, channel).getKeySet({}, options)).jwksJson;
}

async function answersOf(channel: Channel, count: number): Promise<Set<string>> {
  const names = new Set<string>();
  for (let n = 0; n < count; n += 1) names.add(await call(channel));
  return names;
}

const soon = { interval: 50 };
/** Before a peer that answers no pings is given up, too. */
const beforePings = { interval: 50, timeout: 8_000 };

// Before the others, whose timers it would count.
describe("a call that was answered", () => {
  it("leaves no timer of its deadline", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const channel = openTo(await new Process("a").start());
    await call(channel);
    const before = timers();
    for (let count = 0; count < 50; count += 1) await call(channel, 600_000);
    // The status of the last may still be on its way.
    await expect.poll(() => timers() - before).toBeLessThan(25);
  });
});

// Concurrently, because they mostly wait; each has its own processes.
describe.concurrent("a channel to several processes", () => {
  it("distributes calls in turn", async ({ expect }) => {
    const [a, b] = [await new Process("a").start(), await new Process("b").start()];
    const channel = openTo(a, b);
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["a", "b"]));
    const before = [a.calls, b.calls];
    await answersOf(channel, 20);
    expect([a.calls - (before[0] ?? 0), b.calls - (before[1] ?? 0)]).toEqual([10, 10]);
  });

  it("skips a process that is not ready until it is", async ({ expect }) => {
    const [a, b] = [await new Process("a").start(), await new Process("b").start()];
    a.isReady = false;
    const channel = openTo(a, b);
    await expect.poll(() => channel.hasServed, soon).toBe(true);
    expect(await answersOf(channel, 10)).toEqual(new Set(["b"]));
    a.isReady = true;
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["a", "b"]));
    a.isReady = false;
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["b"]));
  });

  it("calls all if none is ready, because that may be wrong", async ({ expect }) => {
    const [a, b] = [await new Process("a").start(), await new Process("b").start()];
    a.isReady = false;
    b.isReady = false;
    const channel = openTo(a, b);
    expect(await answersOf(channel, 10)).toEqual(new Set(["a", "b"]));
    expect(channel.hasServed).toBe(false);
  });

  it("treats a process without health checks as ready", async ({ expect }) => {
    const a = new Process("a");
    a.hasHealth = false;
    const channel = openTo(await a.start());
    await expect.poll(() => channel.hasServed, soon).toBe(true);
    expect(await call(channel)).toBe("a");
  });

  it("loses no call when one dies, and uses it again when it is back", async ({ expect }) => {
    const [a, b] = [await new Process("a").start(), await new Process("b").start()];
    const channel = openTo(a, b);
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["a", "b"]));
    await a.stop();
    expect(await answersOf(channel, 20)).toEqual(new Set(["b"]));
    // Nor is it tried for long.
    await expect.poll(() => new Set([channel.pick(), channel.pick()]).size, soon).toBe(1);
    await a.start();
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["a", "b"]));
  });

  it("retries at once on another process when one is unavailable", async ({ expect }) => {
    const [a, b] = [await new Process("a").start(), await new Process("b").start()];
    const channel = openTo(a, b);
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["a", "b"]));
    a.before = () => Promise.reject(unavailable("no database"));
    expect(await answersOf(channel, 10)).toEqual(new Set(["b"]));
    // Nor does it get a retry because others have taken the turns in between.
    a.calls = 0;
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => call(channel))))).toEqual(new Set(["b"]));
    expect(a.calls).toBe(10);
  });

  it("makes no call and no retry for a canceled caller", async ({ expect }) => {
    const a = await new Process("a").start();
    const channel = openTo(a);
    await expect(call(channel, 5_000, AbortSignal.abort())).rejects.toMatchObject({ kind: "canceled" });
    expect(a.calls).toBe(0);
    const gone = new AbortController();
    a.before = () => {
      // Its answer is already on its way, and the pause before the next attempt, of at least half a second, is longer.
      if (a.calls === 7) setTimeout(() => gone.abort(), 50);
      return Promise.reject(unavailable("no database"));
    };
    await expect(call(channel, 15_000, gone.signal)).rejects.toMatchObject({ kind: "canceled" });
    expect(a.calls).toBe(7);
  });

  it("tells a caller that leaves at once, while its call is under way", async ({ expect }) => {
    const a = await new Process("a").start();
    const channel = openTo(a);
    const gone = new AbortController();
    a.before = async () => {
      gone.abort();
      await new Promise(() => {});
    };
    const startedAtMs = monotonicMs();
    await expect(call(channel, 60_000, gone.signal)).rejects.toMatchObject({ kind: "canceled" });
    expect(monotonicMs() - startedAtMs).toBeLessThan(30_000);
  });

  it("fails a call with an unreadable error, and keeps working", async ({ expect }) => {
    const server = new Server();
    const metadata = new Metadata();
    metadata.set("grpc-status-details-bin", Buffer.from([0xff, 0xff]));
    server.addService(
      { GetKeySet: grpcDefinitionOf(AccessService.method.getKeySet) },
      {
        GetKeySet: (_: unknown, callback: sendUnaryData<Buffer>) =>
          callback({ code: status.FAILED_PRECONDITION, details: "no", metadata }),
      },
    );
    const { promise, resolve } = Promise.withResolvers<number>();
    server.bindAsync(`${host}:0`, ServerCredentials.createInsecure(), (_, bound) => resolve(bound));
    const port = await promise;
    closers.push(() => server.forceShutdown());
    const channel = openTo({ port });
    for (let n = 0; n < 2; n += 1) await expect(call(channel)).rejects.toThrow("cannot be read");
  });

  it("retries on another process within the deadline when one does not answer", async ({ expect }) => {
    const [a, b] = [await new Process("a").start(), await new Process("b").start()];
    const channel = openTo(a, b);
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["a", "b"]));
    a.before = () => new Promise(() => {});
    for (let n = 0; n < 4; n += 1) expect(await call(channel, 9_000)).toBe("b");
    // It gets calls again once it reports again that it is ready, which it is asked for at once, and once.
    a.before = async () => {};
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["a", "b"]));
    await expect.poll(() => a.watchesEnded(), soon).toBeGreaterThan(0);
  });

  it("moves calls off a process that is not ready once another is ready again", async ({ expect }) => {
    const [a, b] = [await new Process("a").start(), await new Process("b").start()];
    const channel = openTo(a, b);
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["a", "b"]));
    let callsLost = 0;
    const never = new Promise(() => {});
    while ((await call(channel)) !== "a");
    a.isReady = false;
    a.before = () => never;
    b.before = async () => {
      callsLost += 1;
      if (callsLost === 1) await never;
    };
    expect(await call(channel, 9_000)).toBe("b");
  });

  it("does not give up early on a call to a single process", async ({ expect }) => {
    const a = await new Process("a").start();
    const channel = openTo(a);
    a.before = () => new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await call(channel, 15_000)).toBe("a");
    expect(a.calls).toBe(1);
  });

  it("makes at most three attempts if all are slow", async ({ expect }) => {
    const names = ["a", "b", "c", "d"];
    const all = await Promise.all(names.map((name) => new Process(name).start()));
    const channel = openTo(...all);
    await expect.poll(() => answersOf(channel, 8), soon).toEqual(new Set(names));
    for (const each of all) {
      each.calls = 0;
      each.before = () => new Promise(() => {});
    }
    await expect(call(channel, 2_500)).rejects.toMatchObject({ kind: "deadline_exceeded" });
    expect(all.reduce((sum, { calls }) => sum + calls, 0)).toBeLessThanOrEqual(3);
  });

  it("is not blocked by a host that accepts connections and stays silent", async ({ expect }) => {
    const silent: NetServer = createServer(() => {}).listen(0, host);
    await once(silent, "listening");
    closers.push(() => silent.close());
    const a = await new Process("a").start();
    const channel = openTo(silent.address() as { port: number }, a);
    await expect.poll(() => channel.hasServed, soon).toBe(true);
    expect(await answersOf(channel, 10)).toEqual(new Set(["a"]));
  });
});

describe.concurrent("a connection whose peer never says a word", () => {
  it("is given up, and another one opened", async ({ expect }) => {
    let connections = 0;
    const silent = createServer((socket) => {
      connections += 1;
      socket.on("error", () => {}).resume();
    });
    await once(silent.listen(0, host), "listening");
    closers.push(() => silent.close());
    openTo(silent.address() as AddressInfo);
    await expect.poll(() => connections, { interval: 50, timeout: 15_000 }).toBe(2);
  });
});

describe.concurrent("a closed channel", () => {
  it("leaves no connection open", async ({ expect }) => {
    const { port, sockets } = await listenSilently(0, host);
    const channel = openTo({ port });
    await expect.poll(() => sockets.size, soon).toBe(1);
    channel.close();
    await expect.poll(() => sockets.size, beforePings).toBe(0);
  });

  it("does not try again to open one", async ({ expect }) => {
    const port = await nextPort();
    const channel = openTo({ port });
    await expect.poll(() => channel.fault, soon).toBeDefined();
    channel.close();
    const { sockets } = await listenSilently(port, host);
    await sleep(2_500);
    expect(sockets.size).toBe(0);
  });

  it("opens none for a name that was being looked up", async ({ expect }) => {
    const { port, sockets } = await listenSilently(0, host);
    const { promise, resolve } = Promise.withResolvers<{ address: string }[]>();
    const channel = open(`service.test:${port}`, () => promise);
    channel.close();
    resolve([{ address: host }]);
    await sleep(500);
    expect(sockets.size).toBe(0);
  });
});

describe.concurrent("a channel to no process", () => {
  it("reports why, also to failed callers, until there is one", async ({ expect }) => {
    const late = new Process("late");
    late.port = await nextPort();
    const channel = openTo(late);
    const why = `No connection to ${host} (${host}, port ${late.port}): connect ECONNREFUSED`;
    await expect.poll(() => channel.fault?.message, soon).toContain(why);
    // A call made during an attempt to connect gets the outcome of that attempt instead.
    await expect
      .poll(() => call(channel, 300).catch((error) => error), soon)
      .toMatchObject({
        kind: "unavailable",
        message: "The service cannot be reached.",
        cause: { message: expect.stringContaining(why) },
      });
    await late.start();
    expect(await call(channel)).toBe("late");
    expect(channel.fault).toBeUndefined();
  });

  it("reports no fault for an address that is not needed", async ({ expect }) => {
    const a = await new Process("a").start();
    const channel = openTo({ port: await nextPort() }, a);
    await expect.poll(() => channel.hasServed, soon).toBe(true);
    await call(channel);
    expect(channel.fault).toBeUndefined();
  });

  it("reports that the name does not resolve", async ({ expect }) => {
    const channel = open("service.test:1", async () => {
      throw new Error("ENOTFOUND service.test");
    });
    await expect(call(channel, 300)).rejects.toMatchObject({ cause: { message: "ENOTFOUND service.test" } });
    expect(channel.fault?.message).toBe("ENOTFOUND service.test");
  });
});

describe.concurrent("a channel to a DNS name", () => {
  it("follows its addresses, and lets calls to a removed process finish", async ({ expect }) => {
    const a = await new Process("a").start("127.0.0.1");
    const b = new Process("b");
    b.port = a.port;
    await b.start("127.0.0.2");
    let addresses = ["127.0.0.1"];
    const channel = open(`dns:///service.test:${a.port}`, async () => addresses.map((address) => ({ address })));
    expect(await answersOf(channel, 3)).toEqual(new Set(["a"]));

    addresses = ["127.0.0.1", "127.0.0.2"];
    // Its addresses are looked up when a connection ends.
    await a.stop();
    await a.start("127.0.0.1");
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["a", "b"]));

    const { promise, resolve } = Promise.withResolvers<void>();
    b.before = () => promise;
    b.calls = 0;
    const calls = [call(channel, 15_000), call(channel, 15_000)];
    await expect.poll(() => b.calls, soon).toBe(1);
    addresses = ["127.0.0.1"];
    await a.stop();
    await a.start("127.0.0.1");
    // Longer than the interval at which a name is resolved again.
    await sleep(1_500);
    resolve();
    expect((await Promise.all(calls)).sort()).toEqual(["a", "b"]);
    expect(await answersOf(channel, 4)).toEqual(new Set(["a"]));
  });

  it("shares its lookup with everyone else in the process", ({ expect }) => {
    let lookups = 0;
    const counting = createHook({
      init: (_id, type) => {
        if (type === "GETADDRINFOREQWRAP") lookups += 1;
      },
    }).enable();
    open("localhost:1");
    open("localhost:2");
    counting.disable();
    expect(lookups).toBe(1);
  });

  it("looks it up once a second while it has no address", async ({ expect }) => {
    let lookups = 0;
    open("service.test:1", async () => {
      lookups += 1;
      return [];
    });
    await sleep(2_500);
    expect(lookups).toBeGreaterThan(1);
    expect(lookups).toBeLessThanOrEqual(3);
  });

  it("closes the connection to an address that is gone", async ({ expect }) => {
    const a = await new Process("a").start("127.0.0.1");
    const { sockets } = await listenSilently(a.port, "127.0.0.2");
    let addresses = ["127.0.0.1", "127.0.0.2"];
    const channel = open(`service.test:${a.port}`, async () => addresses.map((address) => ({ address })));
    await expect.poll(() => sockets.size, soon).toBe(1);
    addresses = ["127.0.0.1"];
    await a.stop();
    await a.start("127.0.0.1");
    await expect.poll(() => sockets.size, beforePings).toBe(0);
    expect(await call(channel)).toBe("a");
  });

  it("retries elsewhere if a removed process never answers", async ({ expect }) => {
    const a = await new Process("a").start("127.0.0.1");
    const b = new Process("b");
    b.port = a.port;
    await b.start("127.0.0.2");
    let addresses = ["127.0.0.1", "127.0.0.2"];
    let lookups = 0;
    const channel = open(`service.test:${a.port}`, async () => {
      lookups += 1;
      return addresses.map((address) => ({ address }));
    });
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["a", "b"]));
    b.before = () => new Promise(() => {});
    b.calls = 0;
    const calls = [call(channel, 15_000), call(channel, 15_000)];
    await expect.poll(() => b.calls, soon).toBe(1);
    addresses = ["127.0.0.1"];
    await a.stop();
    await a.start("127.0.0.1");
    expect(await Promise.all(calls)).toEqual(["a", "a"]);
    // Nothing is left of it that would go on looking for it.
    const before = lookups;
    await sleep(2_500);
    expect(lookups).toBe(before);
  });

  it("finds the successors of processes that vanished without closing their connections", async ({ expect }) => {
    const a = await new Process("a").start("127.0.0.1");
    const [b, c] = [new Process("b"), new Process("c")];
    b.port = a.port;
    c.port = a.port;
    await b.start("127.0.0.2");
    await c.start("127.0.0.3");
    let addresses = ["127.0.0.1", "127.0.0.2"];
    const channel = open(`service.test:${a.port}`, async () => addresses.map((address) => ({ address })));
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["a", "b"]));
    for (const process of [a, b]) process.before = () => new Promise(() => {});
    addresses = ["127.0.0.3"];
    const answer = () => call(channel, 1_000).catch(({ kind }) => kind);
    await expect.poll(answer, beforePings).toBe("c");
  });

  it("keeps its addresses if the name does not resolve", async ({ expect }) => {
    const a = await new Process("a").start();
    let fault: Error | undefined = new Error("ENOTFOUND");
    const channel = open(`service.test:${a.port}`, async () => {
      if (fault) throw fault;
      return [{ address: host }];
    });
    await expect(call(channel, 300)).rejects.toMatchObject({ kind: "unavailable" });
    fault = undefined;
    expect(await call(channel)).toBe("a");
    fault = new Error("ENOTFOUND");
    await a.stop();
    await a.start();
    expect(await call(channel)).toBe("a");
  });
});

describe.concurrent("a channel to several DNS names", () => {
  it("uses those that resolve, follows them and adds the others later", async ({ expect }) => {
    const a = await new Process("a").start("127.0.0.1");
    const b = new Process("b");
    b.port = a.port;
    await b.start("127.0.0.2");
    const addresses = new Map([["a.test", "127.0.0.1"]]);
    const channel = open(`a.test:${a.port},b.test:${a.port}`, async (name) => {
      const address = addresses.get(name);
      if (address === undefined) throw new Error(`ENOTFOUND ${name}`);
      return [{ address }];
    });
    expect(await call(channel)).toBe("a");

    // Another process replaces the first, while the second name still does not resolve.
    const next = new Process("next");
    next.port = a.port;
    await next.start("127.0.0.3");
    addresses.set("a.test", "127.0.0.3");
    await a.stop();
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["next"]));

    addresses.set("b.test", "127.0.0.2");
    await expect.poll(() => answersOf(channel, 4), soon).toEqual(new Set(["next", "b"]));
  });
});

describe("a target", () => {
  it.each([
    ["a.test:1", ["a.test"]],
    ["dns:a.test:1", ["a.test"]],
    ["dns:///a.test:1", ["a.test"]],
    ["dns:///a.test:1, b.test:2", ["a.test", "b.test"]],
    ["127.0.0.1:1,c.test", ["c.test"]],
    ["ipv4:127.0.0.1:1", []],
    ["[::1]:1", []],
  ])("accepts %s", async (target, names) => {
    const asked: string[] = [];
    open(target, async (name) => {
      asked.push(name);
      return [];
    });
    expect(asked).toEqual(names);
  });

  it.each(["", "a:b", "a:1:2", "a:0", "a:65536", "unix:/tmp/x", "http://a:1"])("rejects %j", (target) => {
    expect(() => open(target)).toThrow(/is no gRPC target/);
  });
});
