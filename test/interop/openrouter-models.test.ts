import type { OpenRouter } from "@openrouter/sdk";
import { NotFoundResponseError, UnauthorizedResponseError } from "@openrouter/sdk/models/errors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRouterWith } from "../support/openrouter.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let client: OpenRouter;

beforeAll(async () => {
  stack = await startStack();
  client = openRouterWith(stack.apiKey, stack);
  for (const slug of ["first", "second", "third"]) await stack.create(slug);
});

afterAll(() => stack.close());

const ids = ["@preset/third", "@preset/second", "@preset/first"];

describe("models in the OpenRouter client", () => {
  it("are listed, whole and in pages", async () => {
    const { result } = await client.models.list();
    expect(result).toMatchObject({ totalCount: 3, links: { next: null } });
    expect(result.data.map(({ id }) => id)).toEqual(ids);
    const paged: string[] = [];
    for await (const page of await client.models.list({ limit: 2 }))
      paged.push(...page.result.data.map(({ id }) => id));
    expect(paged).toEqual(ids);
  });

  it("are listed for the user", async () => {
    const { result } = await client.models.listForUser({ bearer: stack.apiKey });
    expect(result.data.map(({ id }) => id)).toEqual(ids);
  });

  it("are read by their parts", async () => {
    const { data } = await client.models.get({ author: "@preset", slug: "second" });
    expect(data).toMatchObject({ id: "@preset/second", name: "second" });
    await expect(client.models.get({ author: "@preset", slug: "fourth" })).rejects.toBeInstanceOf(
      NotFoundResponseError,
    );
  });

  it("are counted", async () => {
    expect(await client.models.count()).toEqual({ data: { count: 3 } });
  });

  it("are listed with a management key as well", async () => {
    expect((await openRouterWith(stack.managementKey, stack).models.count()).data.count).toBe(3);
  });

  it("return an error for a wrong key", async () => {
    await expect(openRouterWith("wrong", stack).models.listForUser({ bearer: "wrong" })).rejects.toBeInstanceOf(
      UnauthorizedResponseError,
    );
  });
});
