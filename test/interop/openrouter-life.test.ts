import type { OpenRouter } from "@openrouter/sdk";
import { BadRequestResponseError, NotFoundResponseError, OpenRouterDefaultError } from "@openrouter/sdk/models/errors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRouterWith } from "../support/openrouter.ts";
import { upTo } from "../support/preset-store.ts";
import { type Stack, startStack } from "../support/stack.ts";

const presetCount = 250;

let stack: Stack;
let client: OpenRouter;

beforeAll(async () => {
  stack = await startStack();
  client = openRouterWith(stack.apiKey, stack);
  for (const start of [0, 50, 100, 150, 200]) {
    await Promise.all(upTo(50).map((n) => stack.create(`preset-${start + n}`, { messages: [], seed: start + n })));
  }
});

afterAll(() => stack.close());

describe("presets.list", () => {
  it.each([
    ["its default pages", {}, [50, 50, 50, 50, 50]],
    ["pages of 100", { limit: 100 }, [100, 100, 50]],
    ["pages of 60", { limit: 60 }, [60, 60, 60, 60, 10]],
    ["what follows an offset", { offset: 230, limit: 100 }, [20]],
  ])("iterates over all presets, in %s", async (_name, request, lengths) => {
    const slugs: string[] = [];
    const pages: number[] = [];
    for await (const { result } of await client.presets.list(request)) {
      expect(result.totalCount).toBe(presetCount);
      pages.push(result.data.length);
      slugs.push(...result.data.map(({ slug }) => slug));
    }
    // Whether it requests another page after a full last one is up to the client.
    expect(pages.filter((length) => length > 0)).toEqual(lengths);
    expect(new Set(slugs).size).toBe(slugs.length);
    if (!("offset" in request)) expect(new Set(slugs)).toEqual(new Set(upTo(presetCount).map((n) => `preset-${n}`)));
  });

  it("returns every field", async () => {
    await stack.request("PATCH", "/presets/preset-7", {
      key: stack.apiKey,
      body: { name: "Seven", description: "D", status: "disabled" },
    });
    const { result } = await client.presets.list({ limit: 1 });
    expect(result.data[0]).toMatchObject({
      slug: "preset-7",
      name: "Seven",
      description: "D",
      status: "disabled",
      creatorUserId: stack.userId,
      workspaceId: stack.workspaceId,
    });
    expect(Date.parse(String(result.data[0]?.statusUpdatedAt))).not.toBeNaN();
  });
});

describe("presets.get", () => {
  it("returns a preset with the version designated by a rollback", async () => {
    await stack.create("preset-8", { messages: [{ role: "system", content: "Second." }] });
    expect((await client.presets.get({ slug: "preset-8" })).data.designatedVersion).toMatchObject({
      version: 2,
      systemPrompt: "Second.",
    });
    await stack.request("PATCH", "/presets/preset-8", { key: stack.apiKey, body: { designated_version: 1 } });
    const { data } = await client.presets.get({ slug: "preset-8" });
    expect(data.designatedVersion).toMatchObject({ version: 1, systemPrompt: null, config: { seed: 8 } });
    expect(data.designatedVersionId).toBe(data.designatedVersion?.id);
  });

  it("distinguishes a missing preset from an invalid slug", async () => {
    await expect(client.presets.get({ slug: "none" })).rejects.toBeInstanceOf(NotFoundResponseError);
    const failure = await client.presets.get({ slug: "-bad" }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ statusCode: 400 });
    expect([BadRequestResponseError, OpenRouterDefaultError].some((type) => failure instanceof type)).toBe(true);
  });
});

describe("presets.listVersions and getVersion", () => {
  const versionCount = 120;

  beforeAll(async () => {
    await Promise.all(upTo(versionCount).map(() => stack.create("versioned")));
  });

  it.each([
    ["its default pages", {}],
    ["pages of 100", { limit: 100 }],
    ["pages of 7", { limit: 7 }],
  ])("iterate over all versions, in %s", async (_name, request) => {
    const versions: (number | undefined)[] = [];
    for await (const { result } of await client.presets.listVersions({ slug: "versioned", ...request })) {
      expect(result.totalCount).toBe(versionCount);
      versions.push(...result.data.map((version) => version?.version));
    }
    expect(versions).toEqual(upTo(versionCount));
  });

  it("return one version", async () => {
    const { data } = await client.presets.getVersion({ slug: "preset-9", version: "1" });
    expect(data).toMatchObject({ version: 1, systemPrompt: null, creatorId: stack.userId });
    expect(data?.config).toEqual({ seed: 9 });
    await expect(client.presets.getVersion({ slug: "preset-9", version: "2" })).rejects.toBeInstanceOf(
      NotFoundResponseError,
    );
  });
});
