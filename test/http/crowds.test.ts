import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "../../services/platform/domain/ids.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
  await stack.create("popular");
});

afterAll(() => stack.close());

it("answers 1,000 simultaneous reads of one preset, even with long request ids", async () => {
  const ask = () =>
    stack.request("GET", "/presets/popular", {
      key: stack.apiKey,
      headers: { "x-request-id": newId().padEnd(128, "x") },
    });
  // The first round also exchanges the key, so its requests are not simultaneous.
  for (let round = 0; round < 2; round += 1) {
    const answers = await Promise.all(Array.from({ length: 1_000 }, ask));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  }
});
