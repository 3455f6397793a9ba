import type { OpenRouter } from "@openrouter/sdk";
import {
  BadRequestResponseError,
  ConflictResponseError,
  ForbiddenResponseError,
  NotFoundResponseError,
  OpenRouterDefaultError,
  UnauthorizedResponseError,
} from "@openrouter/sdk/models/errors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import { openRouterWith } from "../support/openrouter.ts";
import { uuidV7 } from "../support/patterns.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let client: OpenRouter;
let management: OpenRouter;

beforeAll(async () => {
  stack = await startStack();
  client = openRouterWith(stack.apiKey, stack);
  management = openRouterWith(stack.managementKey, stack);
});

afterAll(() => stack.close());

function create(openRouter: OpenRouter, slug: string, content = "Be brief.") {
  const chatRequest = { model: "openai/gpt-4.1", messages: [{ role: "system" as const, content }] };
  return openRouter.presets.createPresetsChatCompletions({ slug, chatRequest });
}

describe("presets in the OpenRouter client", () => {
  it("are created from a chat request", async () => {
    const { data } = await client.presets.createPresetsChatCompletions({
      slug: "sdk-chat",
      chatRequest: {
        model: "openai/gpt-4.1",
        temperature: 0.3,
        maxCompletionTokens: 100,
        stop: ["END"],
        provider: { order: ["openai"], allowFallbacks: false },
        responseFormat: { type: "json_object" },
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Hello" },
        ],
      },
    });
    expect(data).toMatchObject({
      id: expect.stringMatching(uuidV7),
      slug: "sdk-chat",
      name: "sdk-chat",
      description: null,
      status: "active",
      statusUpdatedAt: null,
      creatorUserId: stack.userId,
      workspaceId: stack.workspaceId,
      designatedVersionId: data.designatedVersion?.id,
      designatedVersion: { presetId: data.id, version: 1, systemPrompt: "Be brief.", creatorId: stack.userId },
    });
    expect(data.designatedVersion?.config).toEqual({
      model: "openai/gpt-4.1",
      temperature: 0.3,
      max_completion_tokens: 100,
      stop: ["END"],
      provider: { order: ["openai"], allow_fallbacks: false },
      response_format: { type: "json_object" },
    });
  });

  it("are created from a messages request", async () => {
    const { data } = await client.presets.createPresetsMessages({
      slug: "sdk-messages",
      messagesRequest: {
        model: "anthropic/claude-sonnet-4.5",
        maxTokens: 1024,
        stopSequences: ["END"],
        system: [
          { type: "text", text: "Be brief." },
          { type: "text", text: "Be kind." },
        ],
        messages: [{ role: "user", content: "Hello" }],
      },
    });
    expect(data.designatedVersion).toMatchObject({ version: 1, systemPrompt: "Be brief.\n\nBe kind." });
    expect(data.designatedVersion?.config).toEqual({
      model: "anthropic/claude-sonnet-4.5",
      max_tokens: 1024,
      stop_sequences: ["END"],
    });
  });

  it("are created from a responses request, without the client's injected defaults", async () => {
    const { data } = await client.presets.createPresetsResponses({
      slug: "sdk-responses",
      responsesRequest: { model: "openai/gpt-4.1", instructions: "Be brief.", input: "Hello", maxOutputTokens: 64 },
    });
    expect(data.designatedVersion?.systemPrompt).toBe("Be brief.");
    expect(data.designatedVersion?.config).toEqual({ model: "openai/gpt-4.1", max_output_tokens: 64 });
  });

  it("get a new version for an existing slug", async () => {
    await create(client, "sdk-again");
    expect((await create(client, "sdk-again")).data.designatedVersion?.version).toBe(2);
  });

  it("are read back, with all their versions", async () => {
    await create(client, "sdk-history", "One.");
    const { data: created } = await create(client, "sdk-history", "Two.");
    expect((await client.presets.get({ slug: "sdk-history" })).data).toEqual(created);
    expect((await client.presets.getVersion({ slug: "sdk-history", version: "1" })).data?.systemPrompt).toBe("One.");
    const versions: (number | undefined)[] = [];
    for await (const page of await client.presets.listVersions({ slug: "sdk-history", limit: 1 })) {
      versions.push(...page.result.data.map((each) => each?.version));
    }
    expect(versions).toEqual([1, 2]);
    const { result } = await client.presets.list({ limit: 1 });
    expect(result.data.map(({ slug }) => slug)).toEqual(["sdk-history"]);
  });
});

describe("members in the OpenRouter client", () => {
  it("are listed page by page to the end", async () => {
    const tenant = await stack.tenants.createOrganization();
    await stack.tenants.addMembers(
      tenant,
      Array.from({ length: 6 }, (_, index) => ({
        email: `sdk-${index}@example.com`,
        firstName: "Ada",
        lastName: undefined,
        role: "org:member" as const,
        createdAt: new Date(Date.now() + index),
      })),
    );
    const pages = [];
    for await (const { result } of await openRouterWith(tenant.managementKey, stack).organization.listMembers({
      limit: 3,
    })) {
      expect(result.totalCount).toBe(7);
      pages.push(result.data);
    }
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
    expect(pages[0]?.[0]).toMatchObject({ id: tenant.userId, role: "org:admin", firstName: null, lastName: null });
    expect(pages[2]?.[0]).toMatchObject({ email: "sdk-5@example.com", role: "org:member", firstName: "Ada" });
  });

  it("are listed without parameters", async () => {
    const { result } = await management.organization.listMembers();
    expect(result).toMatchObject({ totalCount: 1, data: [{ id: stack.userId }] });
  });
});

describe("errors in the OpenRouter client", () => {
  it.each<[string, () => Promise<unknown>, new (...parts: never[]) => Error]>([
    ["an invalid slug", () => create(client, "-bad"), BadRequestResponseError],
    ["a wrong key", () => create(openRouterWith("wrong", stack), "sdk-error"), UnauthorizedResponseError],
    ["an API key on members", () => client.organization.listMembers(), UnauthorizedResponseError],
    [
      "a read-only key",
      async () => create(openRouterWith(await readOnlyKey(), stack), "sdk-error"),
      ForbiddenResponseError,
    ],
    [
      "a deleted workspace",
      async () => create(openRouterWith(await orphanedKey(), stack), "sdk-error"),
      NotFoundResponseError,
    ],
    ["an archived preset", () => createArchived(), ConflictResponseError],
    ["a limit out of bounds", () => management.organization.listMembers({ limit: 101 }), OpenRouterDefaultError],
  ])("for %s have their own type", async (_name, call, type) => {
    await expect(call()).rejects.toBeInstanceOf(type);
  });

  it("carry the message, the issues and the request id", async () => {
    const error = (await create(client, "-bad").catch((thrown: unknown) => thrown)) as BadRequestResponseError;
    expect(error.message).toMatch(/^slug must be/);
    expect(error.error).toMatchObject({ code: 400, metadata: { issues: [{ path: "slug" }] } });
    expect(error.error.metadata?.request_id).toBe(error.headers.get("x-request-id"));
  });

  async function readOnlyKey(): Promise<string> {
    return (await stack.tenants.createKey(stack, { permissions: ["presets:read"] })).secret;
  }

  async function orphanedKey(): Promise<string> {
    const workspaceId = await stack.tenants.createWorkspace(stack);
    const { secret } = await stack.tenants.createKey(stack, { workspaceId });
    await stack.tenants.deleteWorkspace(workspaceId);
    return secret;
  }

  async function createArchived(): Promise<unknown> {
    await create(client, "sdk-archived");
    await stack.presetPool.execute("UPDATE presets SET status = 'archived' WHERE workspace_id = ? AND slug = ?", [
      idToBytes(stack.workspaceId),
      "sdk-archived",
    ]);
    return create(client, "sdk-archived");
  }
});
