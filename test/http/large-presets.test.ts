import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { upTo } from "../support/preset-store.ts";
import type { Answer } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
const prompt = (n: number) => `${n} ${"x".repeat(900_000)}`;
const messages = (n: number) => [{ role: "system", content: prompt(n) }];

beforeAll(async () => {
  // All of them together take long on a busy machine.
  stack = await startStack({ gateway: { requestTimeoutMs: 60_000 } });
  for (const n of upTo(16)) expect((await stack.create(`large-${n}`, { messages: messages(n) })).status).toBe(200);
});

afterAll(() => stack.close());

/** Like a client that honours `Retry-After`: all of these answers at once exceed one key's in-flight limit. */
async function getPatiently(slug: string): Promise<Answer<unknown>> {
  for (;;) {
    const answer = await stack.request("GET", `/presets/${slug}`, { key: stack.apiKey });
    if (answer.status !== 429) return answer;
    await sleep(1_000 * Number(answer.headers.get("retry-after")));
  }
}

it("answers simultaneous reads that exceed one RPC message, each with its own preset", async () => {
  const asked = upTo(64).map((n) => (n % 16) + 1);
  const answers = await Promise.all(asked.map((n) => getPatiently(`large-${n}`)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const isOwn = answers.map(({ text }, index) => {
    const { system_prompt } = JSON.parse(text).data.designated_version;
    return system_prompt === prompt(asked[index] as number);
  });
  expect(new Set(isOwn)).toEqual(new Set([true]));
});
