import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LocalSystem, type ProcessName, startLocalSystem } from "../support/local-system.ts";
import { request } from "../support/rest.ts";

const slugs = ["hot", "warm-1", "warm-2", "warm-3"];
const callers = 12;
const startTimeoutMs = 120_000;

let home: string;
let system: LocalSystem;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "setpoint-kill-"));
  system = await startLocalSystem(home);
}, startTimeoutMs);

afterAll(async () => {
  await system?.stop();
  rmSync(home, { recursive: true });
}, startTimeoutMs);

/** A creation and how it was answered. */
interface Attempt {
  readonly slug: string;
  /** Identifies the creation in what it stores. */
  readonly seed: number;
  readonly status: number;
  /** If it was answered with 200. */
  readonly version: { readonly id: string; readonly version: number } | undefined;
}

let seeds = 0;

function newSeed(): number {
  seeds += 1;
  return seeds;
}

async function create(seed = newSeed(), headers: Record<string, string> = {}): Promise<Attempt> {
  const slug = slugs[seed % slugs.length] as string;
  const { base_url, api_key: key } = system.credentials;
  const url = `${base_url}/api/v1/presets/${slug}/chat/completions`;
  const { status, json } = await request("POST", url, { key, headers, body: { messages: [], seed } });
  return { slug, seed, status, version: status === 200 ? (json.data as Preset).designated_version : undefined };
}

interface Preset {
  readonly designated_version: { readonly id: string; readonly version: number };
}

/** Like a careful caller: repeats the request with the same idempotency key until it is answered. */
async function createStubbornly(): Promise<Attempt> {
  const seed = newSeed();
  for (;;) {
    const attempt = await create(seed, { "idempotency-key": `seed ${seed}` }).catch(() => undefined);
    if (attempt && attempt.status !== 503) return attempt;
    await sleep(50);
  }
}

/** Creates from all callers at once until `until` has happened and each has been answered since. */
async function createUntil(until: Promise<unknown>, createOne: () => Promise<Attempt>): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  let isOver = false;
  void until.finally(() => {
    isOver = true;
  });
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let isLast = false; !isLast; ) {
        isLast = isOver;
        attempts.push(await createOne());
      }
    }),
  );
  await until;
  return attempts;
}

/** Kills a process in the middle of creations, and waits until its replacement works. */
async function killAmidCreations(name: ProcessName, pid: number): Promise<void> {
  const firstSeed = seeds;
  await expect.poll(() => seeds - firstSeed, { interval: 5 }).toBeGreaterThan(10 * callers);
  process.kill(pid, "SIGKILL");
  await expect.poll(() => system.pidOf(name)).not.toBe(pid);
  await expect.poll(async () => (await createStubbornly()).status).toBe(200);
}

interface Stored {
  readonly id: string;
  readonly version: number;
  readonly config: { readonly seed: number };
}

async function listStored(slug: string): Promise<Stored[]> {
  const { base_url, api_key: key } = system.credentials;
  const stored: Stored[] = [];
  for (let total = 1; stored.length < total; ) {
    const url = `${base_url}/api/v1/presets/${slug}/versions?limit=100&offset=${stored.length}`;
    const { json } = await request<Stored[]>("GET", url, { key });
    stored.push(...json.data);
    total = json.total_count;
  }
  return stored;
}

/** Versions have no gaps; what was answered with 200 is stored once as answered; the rest is not stored. */
async function expectStoredOnce(attempts: readonly Attempt[]): Promise<void> {
  const bySeed = new Map(attempts.map((attempt) => [attempt.seed, attempt]));
  for (const slug of slugs) {
    const stored = await listStored(slug);
    expect(stored.map(({ version }) => version)).toEqual(stored.map((_, index) => index + 1));
    const kept = stored.filter(({ config }) => bySeed.has(config.seed));
    const answered = attempts.filter((attempt) => attempt.slug === slug && attempt.version);
    expect(answered.length).toBeGreaterThan(0);
    expect(kept.length).toBe(answered.length);
    for (const { id, version, config } of kept) expect(bySeed.get(config.seed)?.version).toMatchObject({ id, version });
  }
}

describe("creations while a process is killed", () => {
  it.for([
    ["preset", create],
    ["organization", create],
    ["database", create],
    ["gateway", createStubbornly],
  ] as const)(
    "are stored once if answered, and not at all if rejected: %s",
    { timeout: 120_000 },
    async ([name, createOne], { skip }) => {
      const pid = system.pidOf(name);
      if (pid === undefined) return skip(`the ${name} runs in a container`);
      const attempts = await createUntil(killAmidCreations(name, pid), () => createOne());
      expect(attempts.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
      await expectStoredOnce(attempts);
    },
  );
});
