import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { openChannel } from "../../services/platform/rpc/channel.ts";
import { grpcClient } from "../../services/platform/rpc/grpc-client.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { type LocalSystem, startLocalSystem } from "../support/local-system.ts";
import { request } from "../support/rest.ts";

const mebibyte = 1024 * 1024;
/** Of the pod in the manifests, and Node's own limits in it. */
const podBytes = 512 * mebibyte;
const heapOfPod = "--max-old-space-size=256";
const names = ["gateway", "preset"] as const;

const heavyCount = 64;
const text = "x".repeat(mebibyte - 100);
/** Creates a version with a config and a system prompt of one mebibyte each. */
const heavy = Buffer.from(JSON.stringify({ messages: [{ role: "system", content: text }], stop: [text] }));
/** Creates an empty version. */
const upload = Buffer.from(JSON.stringify({ messages: [{ role: "user", content: "x".repeat(9 * mebibyte) }] }));

let home: string;
let system: LocalSystem;
/** A management key may not call models. */
let secondKey: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "setpoint-memory-"));
  system = await startLocalSystem(home, { NODE_OPTIONS: heapOfPod });
  const { base_url: baseUrl, management_key: key } = system.credentials;
  const made = await request("POST", `${baseUrl}/api/v1/keys`, { key, body: { name: "second" } });
  secondKey = (made.json as unknown as { key: string }).key;
  expect((await create("small", 0, Buffer.from('{"messages":[]}'))).status).toBe(200);
  for (let n = 0; n < heavyCount; n += 1) expect((await create(`heavy-${n}`, 0, heavy)).status).toBe(200);
}, 240_000);

afterAll(async () => {
  await system.stop();
  rmSync(home, { recursive: true });
});

/** The two keys of the system in turn. */
function keyOf(n: number): string {
  const { api_key: apiKey, management_key: managementKey } = system.credentials;
  return n % 2 === 0 ? apiKey : managementKey;
}

function create(slug: string, n: number, body: Buffer) {
  const url = `${system.credentials.base_url}/api/v1/presets/${slug}/chat/completions`;
  return request("POST", url, { key: keyOf(n), body });
}

function get(slug: string, n: number) {
  return request("GET", `${system.credentials.base_url}/api/v1/presets/${slug}`, { key: keyOf(n) });
}

/** Not with `request`: an answer is as large as the request, and is not needed. */
async function infer(slug: string, n: number, content: string): Promise<Answered> {
  const { status, headers, body } = await fetch(`${system.credentials.base_url}/api/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${n % 2 === 0 ? system.credentials.api_key : secondKey}`,
      "content-type": "application/json",
    },
    body: `{"model":"echo/memory@preset/${slug}","messages":[{"role":"user","content":"${content}"}]}`,
  });
  for await (const _ of body ?? []);
  return { status, headers };
}

type Answered = Pick<Awaited<ReturnType<typeof get>>, "status" | "headers">;

function times<Result>(count: number, work: (n: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => work(n)));
}

/** The peak memory of a process since it was last reset. */
function peakBytes(name: (typeof names)[number]): number {
  const status = readFileSync(`/proc/${system.pidOf(name)}/status`, "utf8");
  return Number(status.match(/VmHWM:\s+(\d+) kB/)?.[1]) * 1024;
}

function expectDoneOrToldToWait(answers: readonly Answered[]): void {
  for (const { status, headers } of answers) {
    expect([200, 429, 503]).toContain(status);
    if (status !== 200) expect(headers.get("retry-after")).toMatch(/^\d+$/);
  }
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
}

/** Runs it, with small calls at the same time. */
async function endure(crowd: () => Promise<readonly Answered[]>): Promise<void> {
  const pids = names.map((name) => system.pidOf(name));
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, "5");
  const beside: Answered[] = [];
  let isOver = false;
  const running = crowd().finally(() => {
    isOver = true;
  });
  // If a small call fails, nothing awaits this promise any more.
  running.catch(() => {});
  while (!isOver) beside.push(await get("small", beside.length));
  expectDoneOrToldToWait(await running);
  expectDoneOrToldToWait(beside);
  expect(names.map((name) => system.pidOf(name))).toEqual(pids);
  for (const name of names) expect(peakBytes(name), name).toBeLessThan(podBytes);
}

describe("a pod stays below 512 MiB", () => {
  it("while 64 presets of 2 MiB are read at once", async () => {
    await endure(() => times(heavyCount, (n) => get(`heavy-${n}`, n)));
  }, 120_000);

  it("while 60 bodies of 9 MiB are sent at once", async () => {
    await endure(() => times(60, (n) => create(`upload-${n}`, n, upload)));
  }, 120_000);

  it("while 100 versions of 2 MiB are created at once", async () => {
    await endure(() => times(100, (n) => create(`heavy-${n}`, n, heavy)));
  }, 120_000);

  it.each([
    ["12 inference requests of 29 MiB", 12, 29],
    ["100 inference requests of 2 MiB", 100, 2],
  ])(
    "while %s are sent at once, each with a preset of 2 MiB",
    async (_, count, mebibytes) => {
      const content = "x".repeat(mebibytes * mebibyte);
      await endure(() => times(count, (n) => infer(`heavy-${n % heavyCount}`, n, content)));
    },
    120_000,
  );

  it("while three batches read 60 presets of 2 MiB each", async () => {
    const { preset_grpc: presetTarget, organization_grpc: organizationTarget, api_key: key } = system.credentials;
    const channels = [openChannel(organizationTarget, undefined), openChannel(presetTarget, undefined)] as const;
    const options = { requestId: "batch", deadlineMs: monotonicMs() + 60_000 };
    const { accessToken } = await grpcClient(AccessService, channels[0]).exchangeKey({ key }, options);
    const presets = grpcClient(PresetService, channels[1]);
    const slugs = Array.from({ length: 60 }, (_, n) => `heavy-${n}`);
    await endure(async () => {
      const batches = await times(3, () => presets.batchGetPresets({ slugs }, { ...options, accessToken }));
      for (const { outcomes } of batches) expect(outcomes.length).toBe(slugs.length);
      return [await get("small", 0)];
    });
    for (const channel of channels) channel.close();
  }, 120_000);
});
