import { afterAll, beforeAll, expect, it } from "vitest";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import type { ChangeJson, ListedPresetJson, VersionJson } from "../support/preset-answers.ts";
import { type Expected, type ModelPreset, PresetModel } from "../support/preset-model.ts";
import { upTo } from "../support/preset-store.ts";
import { oneOf, type Random, randomFrom } from "../support/random-json.ts";
import type { Answer, PresetJson } from "../support/rest.ts";
import { openSecondPresetService } from "../support/second-processes.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
const secondPreset = new Lifecycle(silentLogger());

beforeAll(async () => {
  stack = await startStack();
  await openSecondPresetService(stack, secondPreset);
});

afterAll(async () => {
  await secondPreset.close();
  await stack.close();
});

it.each([1, 2, 3, 4, 5, 6])("random calls, series %i, are answered as the model of a workspace says", async (seed) => {
  const { apiKey } = await stack.tenants.createOrganization();
  const walk = new Walk(randomFrom(seed), apiKey);
  for (const _ of upTo(150)) await walk.step();
  await walk.compareAll();
});

/** A change that was made, so that it can be repeated. */
interface Made {
  readonly send: () => Promise<Answer>;
  readonly text: string;
}

const dialects = ["chat/completions", "messages", "responses"] as const;

/** Calls with one key, one after the other, each compared with the model. */
class Walk {
  readonly #model = new PresetModel();
  readonly #random: Random;
  readonly #key: string;
  /** As of its last change, by slug. */
  readonly #answered = new Map<string, PresetJson>();
  /** All that a preset has had, oldest first. */
  readonly #tags = new Map<string, string[]>();
  readonly #made: Made[] = [];
  #steps = 0;

  constructor(random: Random, key: string) {
    this.#random = random;
    this.#key = key;
  }

  step(): Promise<void> {
    this.#steps += 1;
    const slug = oneOf(this.#random, ["a", "A", "b", "a.b"]);
    const steps = [
      () => this.#create(slug),
      () => this.#create(slug),
      () => this.#update(slug),
      () => this.#update(slug),
      () => this.#repeat(),
      () => this.#read(slug),
      () => this.#list(),
    ];
    return oneOf(this.#random, steps)();
  }

  async compareAll(): Promise<void> {
    for (const [slug, preset] of this.#model.presets) {
      await this.#read(slug);
      const { json } = await this.#get<ChangeJson[]>(`/presets/${slug}/changes?limit=100`);
      const changes = json.data.map(({ action, changes: fields }) => ({ action, changes: fields }));
      expect(changes).toEqual(preset.changes.toReversed().slice(0, 100));
      expect(json.total_count).toBe(preset.changes.length);
      expect(json.data.map(({ revision }) => revision)).toEqual(upTo(preset.changes.length).toReversed().slice(0, 100));
    }
    await this.#list();
  }

  async #create(slug: string): Promise<void> {
    const dialect = oneOf(this.#random, dialects);
    const prompt = oneOf(this.#random, [null, "Be brief.", "Sei höflich. 🙂"]);
    const config = {
      model: "m",
      temperature: this.#random(9) / 8,
      ...oneOf(this.#random, [{}, { top_k: this.#steps }]),
    };
    const { isStale, headers } = this.#condition(slug);
    const expected = this.#model.create(slug, { config, system_prompt: prompt, dialect }, isStale);
    const turns = [{ role: "user", content: "Hi" }];
    const systemTurns = prompt === null ? turns : [{ role: "system", content: prompt }, ...turns];
    const body = {
      "chat/completions": { ...config, messages: systemTurns },
      messages: { ...config, system: prompt, messages: turns },
      responses: { ...config, instructions: prompt, input: "Hi" },
    }[dialect];
    await this.#change(slug, expected, "POST", `/presets/${slug}/${dialect}`, body, headers);
  }

  async #update(slug: string): Promise<void> {
    const number = this.#random((this.#model.presets.get(slug)?.versions.length ?? 0) + 1) + 1;
    const all = {
      name: oneOf(this.#random, [slug, "Name", `Name ${this.#steps}`]),
      description: oneOf(this.#random, [null, "", "What it is for"]),
      status: oneOf(this.#random, ["active", "active", "disabled", "archived"]),
      designated_version: number,
    };
    const update = Object.fromEntries(Object.entries(all).filter(() => this.#random(2) === 0));
    const { isStale, headers } = this.#condition(slug);
    const expected = this.#model.update(slug, update, isStale);
    await this.#change(slug, expected, "PATCH", `/presets/${slug}`, update, headers);
  }

  /** Sends nothing, the current tag, or one that the preset had or that it never had. */
  #condition(slug: string): { readonly isStale: boolean; readonly headers: Readonly<Record<string, string>> } {
    const tags = this.#tags.get(slug) ?? [];
    const tag = oneOf(this.#random, [undefined, undefined, tags.at(-1), oneOf(this.#random, [...tags, '"never"'])]);
    return tag === undefined
      ? { isStale: false, headers: {} }
      : { isStale: tag !== tags.at(-1), headers: { "if-match": tag } };
  }

  async #change(
    slug: string,
    expected: Expected,
    method: string,
    path: string,
    body: unknown,
    condition: Readonly<Record<string, string>>,
  ): Promise<void> {
    const headers = { ...condition, "idempotency-key": `step ${this.#steps}` };
    const send = (): Promise<Answer> => stack.request(method, path, { key: this.#key, headers, body });
    const answer = await send();
    expect([answer.status, answer.text]).toEqual([expected.status, expect.anything()]);
    if (!expected.preset) return;
    expectPreset(answer.json.data, expected.preset);
    const tags = this.#tags.get(slug) ?? [];
    const tag = answer.headers.get("etag") ?? "";
    // An update that changes nothing leaves the tag.
    expect(tags.indexOf(tag)).toBe(expected.preset.changes.length === tags.length ? tags.length - 1 : -1);
    if (!tags.includes(tag)) this.#tags.set(slug, [...tags, tag]);
    this.#answered.set(slug, answer.json.data);
    this.#made.push({ send, text: answer.text });
  }

  /** A change that was made long ago is answered as it was then, and not made again. */
  async #repeat(): Promise<void> {
    if (this.#made.length === 0) return;
    const { send, text } = oneOf(this.#random, this.#made);
    expect((await send()).text).toBe(text);
  }

  async #read(slug: string): Promise<void> {
    const answer = await this.#get<PresetJson>(`/presets/${slug}`);
    const preset = this.#model.presets.get(slug);
    expect(answer.status).toBe(preset ? 200 : 404);
    if (!preset) return;
    expect(answer.json.data).toEqual(this.#answered.get(slug));
    expectPreset(answer.json.data, preset);
    expect(answer.headers.get("etag")).toBe(this.#tags.get(slug)?.at(-1));
    const offset = this.#random(preset.versions.length + 1);
    const { json } = await this.#get<VersionJson[]>(`/presets/${slug}/versions?limit=3&offset=${offset}`);
    expect(json.total_count).toBe(preset.versions.length);
    const versions = preset.versions.map((version, index) => ({ ...version, version: index + 1 }));
    expect(json.data).toMatchObject(versions.slice(offset, offset + 3));
    expect(json.data).toHaveLength(versions.slice(offset, offset + 3).length);
  }

  async #list(): Promise<void> {
    const statuses = oneOf(this.#random, [[], ["active"], ["disabled", "archived"]]);
    const limit = 1 + this.#random(4);
    const offset = this.#random(3);
    const query = `limit=${limit}&offset=${offset}${statuses.map((status) => `&status=${status}`).join("")}`;
    const { json } = await this.#get<ListedPresetJson[]>(`/presets?${query}`);
    const all = [...this.#answered.values()]
      .filter(({ status }) => statuses.length === 0 || statuses.includes(status))
      .sort((one, other) => byText(other.updated_at, one.updated_at) || byText(one.id, other.id));
    expect(json.total_count).toBe(all.length);
    const page = all.slice(offset, offset + limit);
    expect(json.data).toEqual(page.map(({ designated_version: _, ...listed }) => listed));
  }

  #get<Data>(path: string): Promise<Answer<Data>> {
    return stack.request("GET", path, { key: this.#key });
  }
}

function expectPreset(preset: PresetJson, model: ModelPreset): void {
  const { name, description, status, designated_version: number } = model;
  expect(preset).toMatchObject({ name, description, status, designated_version: { version: number } });
  expect(preset.designated_version).toMatchObject(model.versions[number - 1] ?? {});
  expect(preset.designated_version_id).toBe(preset.designated_version.id);
}

function byText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
