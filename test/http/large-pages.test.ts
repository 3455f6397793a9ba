import { afterAll, beforeAll, expect, it } from "vitest";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

const versionCount = 12;
/** Two bytes of a request and six of an answer, each. */
const prompt = (n: number) => `${n}${"\u0001".repeat(170_000)}`;
const config = (n: number) => ({ top_k: n, text: { filler: "s".repeat(1_000_000) } });

it("sends a page that is larger than any message between the services, whole and in order", async () => {
  const numbers = Array.from({ length: versionCount }, (_, index) => index + 1);
  for (const n of numbers) {
    const { status } = await stack.create("large", { instructions: prompt(n), ...config(n) }, { dialect: "responses" });
    expect(status).toBe(200);
  }
  const page = async (query: string) => {
    const answer = await stack.request<Stored[]>("GET", `/presets/large/versions?${query}`, { key: stack.apiKey });
    expect(answer.status).toBe(200);
    expect(answer.json.total_count).toBe(versionCount);
    return answer.json.data;
  };
  const all = await page("limit=100");
  expect(all.map(({ version }) => version)).toEqual(numbers);
  expect(all.every(({ version, system_prompt }) => system_prompt === prompt(version))).toBe(true);
  expect(all.every((each) => JSON.stringify(each.config) === JSON.stringify(config(each.version)))).toBe(true);
  expect((await page("offset=5&limit=4")).map(({ version }) => version)).toEqual([6, 7, 8, 9]);
  expect((await page("offset=10")).map(({ version }) => version)).toEqual([11, 12]);
});

interface Stored {
  readonly version: number;
  readonly config: unknown;
  readonly system_prompt: string;
}
