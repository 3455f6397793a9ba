import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { Metrics } from "../../services/platform/observe/metrics.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { openChannel } from "../../services/platform/rpc/channel.ts";
import { grpcClient } from "../../services/platform/rpc/grpc-client.ts";
import { openServers } from "../../services/platform/rpc/servers.ts";
import { serveOpenService } from "../../services/platform/rpc/service.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { nextPort } from "../support/ports.ts";

// A fifth of what it is in a cluster: answers of DNS are kept for 30 s, and a pod that is told to end serves on for 45 s.
const dnsCacheMs = 6_000;
const shutdownDelayMs = 9_000;
const logger = silentLogger();
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A service that answers with its own address. */
async function startPod(host: string, grpcPort: number): Promise<{ lifecycle: Lifecycle; port: number }> {
  const lifecycle = new Lifecycle(logger);
  const metrics = new Metrics("test");
  const access = serveOpenService(
    AccessService,
    {
      exchangeKey: async () => ({}),
      batchExchangeKeys: async () => ({}),
      getWorkspaceState: async () => ({}),
      getKeySet: async () => {
        // Long enough that calls are always in flight.
        await sleep(20);
        return { jwksJson: host };
      },
    },
    { logger, metrics },
  );
  const { grpc } = await openServers(lifecycle, {
    host,
    grpcPort,
    httpPort: 0,
    logLevel: "silent",
    shutdownDelayMs,
    drainTimeoutMs: 5_000,
    grpcTls: undefined,
    traces: undefined,
    services: [access],
    readinessChecks: {},
    operations: {},
    logger,
    metrics,
  });
  closers.push(() => lifecycle.close());
  return { lifecycle, port: grpc };
}

/** The addresses of a name, as seen through a DNS cache. */
class CachedName {
  addresses: readonly string[] = [];
  #answer: readonly { readonly address: string }[] = [];
  #askedAtMs = Number.NEGATIVE_INFINITY;

  lookUp = async (): Promise<readonly { readonly address: string }[]> => {
    if (monotonicMs() - this.#askedAtMs > dnsCacheMs) {
      this.#askedAtMs = monotonicMs();
      this.#answer = this.addresses.map((address) => ({ address }));
    }
    return this.#answer;
  };
}

it("loses no call when every pod is replaced faster than DNS updates", async () => {
  const name = new CachedName();
  const first = await startPod("127.0.0.1", await nextPort());
  const pods = [first, await startPod("127.0.0.2", first.port)];
  name.addresses = ["127.0.0.1", "127.0.0.2"];
  const channel = openChannel(`service.test:${first.port}`, undefined, name.lookUp);
  closers.push(() => channel.close());
  const client = grpcClient(AccessService, channel);

  const answers = new Map<string, number>();
  let isOver = false;
  const callers = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const options = { requestId: "test", deadlineMs: monotonicMs() + 10_000 };
      const answer = await client.getKeySet({}, options).then(
        ({ jwksJson }) => jwksJson,
        (error) => (error as Error).message,
      );
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  });
  // Shortly before the change, so that the cached answer is wrong for as long as possible.
  await expect.poll(() => answers.size).toBe(2);
  await sleep(dnsCacheMs);
  await name.lookUp();
  const ends = [];
  for (const [index, pod] of pods.entries()) {
    await startPod(`127.0.0.${index + 3}`, first.port);
    // Like a Service: a pod that is told to stop is removed at once.
    name.addresses = [...name.addresses.slice(1), `127.0.0.${index + 3}`];
    ends.push(pod.lifecycle.shutDown(shutdownDelayMs));
  }
  await Promise.all(ends);
  const before = new Map(answers);
  await expect.poll(() => (answers.get("127.0.0.4") ?? 0) - (before.get("127.0.0.4") ?? 0)).toBeGreaterThan(20);
  isOver = true;
  await Promise.all(callers);

  expect([...answers.keys()].sort()).toEqual(["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"]);
  const old = ["127.0.0.1", "127.0.0.2"];
  expect(old.map((each) => answers.get(each))).toEqual(old.map((each) => before.get(each)));
}, 120_000);
