import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { freshName } from "../support/fresh-name.ts";
import type { ChangeJson, ListedPresetJson, VersionJson } from "../support/preset-answers.ts";
import { upTo } from "../support/preset-store.ts";
import type { Answer, RequestParts } from "../support/rest.ts";
import { openSecondPresetService } from "../support/second-processes.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
const secondPreset = new Lifecycle(silentLogger());

beforeAll(async () => {
  // So that many requests complete however slow the machine is.
  stack = await startStack({ gateway: { requestTimeoutMs: 120_000 } });
  await openSecondPresetService(stack, secondPreset);
});

afterAll(async () => {
  await secondPreset.close();
  await stack.close();
});

function get<Data>(path: string): Promise<Answer<Data>> {
  return stack.request("GET", path, { key: stack.apiKey });
}

function patch(slug: string, body: unknown, parts: RequestParts = {}): Promise<Answer> {
  return stack.request("PATCH", `/presets/${slug}`, { key: stack.apiKey, body, ...parts });
}

/** All pages of a list. */
async function listAll<Data>(path: string): Promise<Data[]> {
  const items: Data[] = [];
  for (let total = 1; items.length < total; ) {
    const { json } = await get<Data[]>(`${path}?limit=100&offset=${items.length}`);
    items.push(...json.data);
    total = json.total_count;
  }
  return items;
}

describe("200 clients changing one preset with If-Match at once", () => {
  it("succeed one per round, and no change is lost", async () => {
    const slug = freshName("raced");
    const clients = 200;
    const rounds = 3;
    let tag = (await stack.create(slug)).headers.get("etag") as string;
    const winners: string[] = [];
    for (const round of upTo(rounds)) {
      const headers = { "if-match": tag };
      const answers = await Promise.all(
        upTo(clients).map((n) => patch(slug, { name: `Round ${round}, client ${n}` }, { headers })),
      );
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 412)).toHaveLength(clients - 1);
      winners.push(won[0]?.json.data.name as string);
      tag = won[0]?.headers.get("etag") as string;
      const now = await get<{ name: string }>(`/presets/${slug}`);
      expect([now.json.data.name, now.headers.get("etag")]).toEqual([winners.at(-1), tag]);
    }
    const changes = await listAll<ChangeJson>(`/presets/${slug}/changes`);
    expect(changes.map(({ changes: [change] }) => change?.to)).toEqual([...winners.toReversed(), 1]);
  }, 120_000);
});

describe("rollbacks while two processes create versions", () => {
  const slug = "rolled";
  const creations = 100;
  const rollbacks = 40;
  const clients = 4;
  let created: Answer[];
  let rolledBack: Answer[];
  let seen: Answer[];

  beforeAll(async () => {
    await stack.create(slug, { messages: [], seed: 1 });
    await stack.create(slug, { messages: [], seed: 2 });
    let running = true;
    const read = async (): Promise<Answer[]> => {
      const answers: Answer[] = [];
      while (running) answers.push(await stack.request("GET", `/presets/${slug}`, { key: stack.apiKey }));
      return answers;
    };
    const inTurn = async (count: number, work: (n: number) => Promise<Answer>): Promise<Answer[]> => {
      const answers: Answer[] = [];
      await Promise.all(
        // Few: a creation that waits three seconds for its row is told to retry.
        upTo(clients).map(async (client) => {
          for (let n = client; n <= count; n += clients) answers.push(await work(n));
        }),
      );
      return answers;
    };
    const reading = read();
    [created, rolledBack] = await Promise.all([
      inTurn(creations, (n) => stack.create(slug, { messages: [], seed: n + 2 })),
      inTurn(rollbacks, (n) => patch(slug, { designated_version: 1 + (n % 2), name: `Name ${n}` })),
    ]);
    running = false;
    seen = await reading;
  }, 120_000);

  it("are all acknowledged", () => {
    expect([...created, ...rolledBack, ...seen].filter(({ status }) => status !== 200)).toEqual([]);
    expect([created.length, rolledBack.length]).toEqual([creations, rollbacks]);
    expect(seen.length).toBeGreaterThan(0);
  });

  it("leave version numbers without gaps or duplicates, each with its own content", async () => {
    const versions = await listAll<VersionJson>(`/presets/${slug}/versions`);
    expect(versions.map(({ version }) => version)).toEqual(upTo(creations + 2));
    expect(new Set(versions.map(({ config }) => config.seed))).toEqual(new Set(upTo(creations + 2)));
    const byNumber = new Map(created.map(({ json }) => [json.data.designated_version.version, json.data]));
    for (const version of versions.slice(2)) {
      expect(byNumber.get(version.version)?.designated_version).toEqual(version);
    }
  });

  it("return an existing designated version in every answer", async () => {
    const versions = await listAll<VersionJson>(`/presets/${slug}/versions`);
    for (const { json } of [...created, ...rolledBack, ...seen]) {
      const { designated_version, designated_version_id } = json.data;
      expect(designated_version.id).toBe(designated_version_id);
      expect(versions[designated_version.version - 1]).toEqual(designated_version);
    }
  });

  it("leave a change log with exactly the acknowledged changes", async () => {
    const changes = await listAll<ChangeJson>(`/presets/${slug}/changes`);
    expect(changes.map(({ revision }) => revision)).toEqual(upTo(2 + creations + rollbacks).toReversed());
    const names = changes.flatMap((change) => change.changes.filter(({ field }) => field === "name"));
    expect(names.map(({ to }) => to).sort()).toEqual(rolledBack.map(({ json }) => json.data.name).sort());
    const added = changes.filter(({ action }) => action === "version_created");
    expect(added.map(({ changes: [change] }) => change?.to).toReversed()).toEqual(upTo(creations + 2).slice(1));
    // Each entry starts where the previous one ended.
    const designated = changes
      .toReversed()
      .flatMap((change) => change.changes.filter(({ field }) => field === "designated_version"));
    expect(designated.slice(1).map(({ from }) => from)).toEqual(designated.slice(0, -1).map(({ to }) => to));
    const { json } = await get<{ designated_version: VersionJson }>(`/presets/${slug}`);
    expect(designated.at(-1)?.to).toBe(json.data.designated_version.version);
  });
});

describe("a list read while presets are created", () => {
  it("has no duplicates on a page and misses no preset across pages", async () => {
    const { apiKey: key } = await stack.tenants.createOrganization();
    const create = (n: number) => stack.create(`listed-${n}`, undefined, { key });
    const page = (offset: number) =>
      stack.request<ListedPresetJson[]>("GET", `/presets?limit=20&offset=${offset}`, { key });
    await Promise.all(upTo(80).map(create));
    let creating = true;
    const walk = async (): Promise<void> => {
      while (creating) {
        const seen = new Set<string>();
        for (let offset = 0, total = 1; offset < total; offset += 20) {
          const { json } = await page(offset);
          expect(new Set(json.data.map(({ id }) => id)).size).toBe(json.data.length);
          expect(json.data).toHaveLength(Math.min(20, Math.max(0, json.total_count - offset)));
          for (const { slug } of json.data) seen.add(slug);
          total = json.total_count;
        }
        // New presets come first, so existing ones move to later pages and are never skipped.
        for (const n of upTo(80)) expect(seen).toContain(`listed-${n}`);
      }
    };
    const walking = walk();
    for (const start of [80, 100, 120, 140]) await Promise.all(upTo(20).map((n) => create(start + n)));
    creating = false;
    await walking;
    expect((await page(0)).json.total_count).toBe(160);
  });
});

describe("one Idempotency-Key used at two processes", () => {
  it("creates one version and gives one answer", async () => {
    const slug = freshName("both");
    const parts = { headers: { "idempotency-key": slug } };
    const answers = await Promise.all(upTo(40).map(() => stack.create(slug, { messages: [] }, parts)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect((await get(`/presets/${slug}/versions`)).json.total_count).toBe(1);
  });
});
