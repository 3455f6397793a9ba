import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type PresetClient, presetClient } from "../../gateway/clients/preset-client.ts";
import { ServiceReach } from "../../gateway/clients/service-reach.ts";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { Metrics } from "../../services/platform/observe/metrics.ts";
import { Health } from "../../services/platform/process/health.ts";
import { type Channel, openChannel } from "../../services/platform/rpc/channel.ts";
import { type CallOptions, grpcClient } from "../../services/platform/rpc/grpc-client.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { blockProcess } from "../support/block-process.ts";
import { openStubService, type StubService } from "../support/stub-service.ts";

// A process that does not run for a while, because its machine is busy, suspended, or the process was stopped.

const timeoutMs = 500;

let stub: StubService;
let channel: Channel;
/** What the service has stored. */
let stored: string[];
/** What happens in the turn in which this process runs again. */
let onResume: () => void;

beforeEach(async () => {
  stored = [];
  onResume = () => {};
  const store = ({ slug }: { slug: string }) => {
    stored.push(slug);
    return { slug };
  };
  stub = await openStubService({
    methods: {
      createVersion: async (request) => {
        blockOnceAnswered();
        return { preset: store(request) };
      },
      batchCreateVersions: async ({ requests }) => {
        blockOnceAnswered();
        return { outcomes: requests.map((each) => ({ outcome: { case: "preset" as const, value: store(each) } })) };
      },
      updatePreset: async (request) => {
        blockOnceAnswered();
        return { preset: store(request) };
      },
      getPreset: async (request) => {
        blockOnceAnswered();
        return { preset: store(request) };
      },
    },
  });
  channel = openChannel(`127.0.0.1:${stub.grpcPort}`, undefined);
});

afterEach(async () => {
  channel.close();
  await stub.close();
});

/** Nothing else runs here until the caller's time is up; by then the answer lies in the caller's socket. */
function blockOnceAnswered(): void {
  setImmediate(() => {
    blockProcess(timeoutMs + 100);
    onResume();
  });
}

async function openClient(): Promise<PresetClient> {
  await expect.poll(() => channel.hasServed).toBe(true);
  return presetClient(grpcClient(PresetService, channel), new Metrics("test"));
}

function newOptions(): CallOptions {
  return { accessToken: stub.token, requestId: "r", deadlineMs: monotonicMs() + timeoutMs };
}

describe("a gateway blocked past a call's deadline reads the answers it has received", () => {
  it.for([1, 3])("to creations: %i", async (count) => {
    const client = await openClient();
    const options = newOptions();
    const slugs = Array.from({ length: count }, (_, index) => `slug-${index}`);
    const answers = await Promise.all(slugs.map((slug) => client.createVersion({ slug }, options)));
    expect(answers.map(({ slug }) => slug)).toEqual(slugs);
    expect(stored).toEqual(slugs);
    expect(monotonicMs()).toBeGreaterThan(options.deadlineMs);
  });

  it("to other changes", async () => {
    const client = await openClient();
    const options = newOptions();
    const preset = await client.updatePreset({ slug: "slug" }, options);
    expect(preset.slug).toBe("slug");
    expect(monotonicMs()).toBeGreaterThan(options.deadlineMs);
  });
});

describe("a gateway blocked for longer than a service may be silent", () => {
  it("considers the service reachable if its answer has arrived", async () => {
    await openClient();
    const { getPreset } = grpcClient(PresetService, channel);
    const reach = new ServiceReach(timeoutMs);
    const seen: boolean[] = [];
    onResume = () => seen.push(reach.isOutOfReach);
    const asked = reach.watch(getPreset({ slug: "slug" }, { ...newOptions(), deadlineMs: monotonicMs() + 10_000 }));
    void asked.then(() => seen.push(reach.isOutOfReach));
    await reach.answeredOrOutOfReach(asked, monotonicMs());
    expect(seen).toEqual([false, false]);
  });
});

describe("a process blocked for longer than a readiness check may take", () => {
  it("is ready if the answer to the check has arrived", async () => {
    const database = createServer((socket) => {
      socket.write("answer");
      blockProcess(2_100);
    });
    await once(database.listen(0, "127.0.0.1"), "listening");
    const socket = connect((database.address() as AddressInfo).port, "127.0.0.1");
    const check = async () => {
      await once(socket, "data");
    };
    expect(await new Health({ check }, () => false).fault()).toBeUndefined();
    socket.destroy();
    database.close();
  });
});
