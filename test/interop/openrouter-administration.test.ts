import type { OpenRouter } from "@openrouter/sdk";
import {
  BadRequestResponseError,
  NotFoundResponseError,
  OpenRouterDefaultError,
  UnauthorizedResponseError,
} from "@openrouter/sdk/models/errors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator } from "../support/administration-rest.ts";
import { freshName } from "../support/fresh-name.ts";
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

const inAnHour = () => new Date(Date.now() + 3_600_000);

describe("keys in the OpenRouter client", () => {
  it("are created, used, read, listed, updated and deleted", async () => {
    const expiresAt = inAnHour();
    const { data, key } = await management.apiKeys.create({
      requestBody: { name: "From the SDK", expiresAt, limit: null, includeByokInLimit: false },
    });
    expect(data).toMatchObject({
      name: "From the SDK",
      workspaceId: stack.workspaceId,
      creatorUserId: stack.userId,
      disabled: false,
      expiresAt,
      limit: null,
      usage: 0,
    });
    const { data: presets } = (await openRouterWith(key, stack).presets.list()).result;
    expect(presets).toEqual([]);

    // It was used since, recorded to about a minute; the SDK does not expose it.
    const { hash } = data;
    expect((await management.apiKeys.get({ hash })).data).toEqual(data);
    expect((await management.apiKeys.list()).data[0]).toEqual(data);

    const { data: changed } = await management.apiKeys.update({ hash, requestBody: { name: "Other", disabled: true } });
    expect(changed).toMatchObject({ hash, name: "Other", disabled: true, updatedAt: expect.any(String) });
    await expect(openRouterWith(key, stack).presets.list()).rejects.toBeInstanceOf(UnauthorizedResponseError);
    expect((await management.apiKeys.list({ offset: 0 })).data.map((each) => each.hash)).not.toContain(hash);
    expect((await management.apiKeys.list({ includeDisabled: true })).data[0]?.hash).toBe(hash);

    expect(await management.apiKeys.delete({ hash })).toEqual({ deleted: true });
    await expect(management.apiKeys.get({ hash })).rejects.toBeInstanceOf(NotFoundResponseError);
  });

  it("belong to the named workspace", async () => {
    const slug = freshName("sdk-keys");
    const { data: workspace } = await management.workspaces.create({
      createWorkspaceRequest: { name: "Keys", slug },
    });
    const { data } = await management.apiKeys.create({ requestBody: { name: "There", workspaceId: workspace.id } });
    expect(data.workspaceId).toBe(workspace.id);
    expect((await management.apiKeys.list({ workspaceId: workspace.id })).data).toEqual([data]);
  });

  it("describe themselves", async () => {
    const { data } = await client.apiKeys.getCurrentKeyMetadata();
    expect(data).toMatchObject({
      label: expect.stringMatching(/^sk-sp-v1-/),
      isManagementKey: false,
      isProvisioningKey: false,
      organizationId: stack.organizationId,
      workspaceId: stack.workspaceId,
      rateLimit: { requests: -1 },
      freeModelDailyRequests: { limit: 0, remaining: 0, used: 0 },
    });
    expect((await management.apiKeys.getCurrentKeyMetadata()).data.isManagementKey).toBe(true);
  });
});

describe("workspaces in the OpenRouter client", () => {
  it("are created, read, listed, updated and deleted", async () => {
    const { data } = await management.workspaces.create({
      createWorkspaceRequest: { name: "Staging", slug: "sdk-staging", description: "For tests", defaultTextModel: "m" },
    });
    expect(data).toMatchObject({
      id: expect.stringMatching(uuidV7),
      name: "Staging",
      slug: "sdk-staging",
      description: "For tests",
      defaultTextModel: "m",
      defaultImageModel: null,
      createdBy: stack.userId,
      updatedAt: null,
      ioLoggingApiKeyIds: null,
    });
    for (const id of [data.id, data.slug]) expect((await management.workspaces.get({ id })).data).toEqual(data);
    const { data: changed } = await management.workspaces.update({
      id: data.slug,
      updateWorkspaceRequest: { name: "Production", description: null, disabledServerTools: [] },
    });
    expect(changed).toEqual({ ...data, name: "Production", description: null, updatedAt: expect.any(String) });

    const listed: string[] = [];
    for await (const { result } of await management.workspaces.list({ limit: 1 })) {
      expect(result.totalCount).toBeGreaterThan(1);
      listed.push(...result.data.map(({ id }) => id));
    }
    expect(listed[0]).toBe(stack.workspaceId);
    expect(listed).toContain(data.id);

    expect(await management.workspaces.delete({ id: data.id })).toEqual({ deleted: true });
    await expect(management.workspaces.get({ id: data.id })).rejects.toBeInstanceOf(NotFoundResponseError);
  });

  it("gain and lose members", async () => {
    const slug = freshName("sdk-team");
    const { data: workspace } = await management.workspaces.create({
      createWorkspaceRequest: { name: "Team", slug },
    });
    const userId = await administrator(stack).makeMember(`${slug}@example.com`);
    const userIds = [userId];
    const added = await management.workspaces.bulkAddMembers({
      id: workspace.id,
      bulkAddWorkspaceMembersRequest: { userIds },
    });
    expect(added).toMatchObject({ addedCount: 1, data: [{ userId, workspaceId: workspace.id, role: "member" }] });
    const roles: string[] = [];
    for await (const { result } of await management.workspaces.listMembers({ id: slug, limit: 1 })) {
      expect(result.totalCount).toBe(2);
      roles.push(...result.data.map(({ role }) => role));
    }
    expect(roles).toEqual(["admin", "member"]);
    const removed = await management.workspaces.bulkRemoveMembers({
      id: workspace.id,
      bulkRemoveWorkspaceMembersRequest: { userIds },
    });
    expect(removed).toEqual({ removedCount: 1 });
  });
});

describe("members in the OpenRouter client", () => {
  it("include those added and updated over REST", async () => {
    const { call, makeMember } = administrator(stack);
    const email = `${freshName("listed")}@example.com`;
    const id = await makeMember(email);
    await call("PATCH", `/organization/members/${id}`, { role: "org:admin", first_name: "Ada" });
    const { result } = await management.organization.listMembers();
    expect(result.data.find((member) => member.id === id)).toMatchObject({
      email,
      firstName: "Ada",
      lastName: null,
      role: "org:admin",
    });
  });
});

describe("errors in the OpenRouter client", () => {
  const create = (requestBody: Parameters<typeof management.apiKeys.create>[0]["requestBody"]) =>
    management.apiKeys.create({ requestBody });
  const createWorkspace = (slug: string) =>
    management.workspaces.create({ createWorkspaceRequest: { name: "a", slug } });

  it.each<[string, () => Promise<unknown>, new (...parts: never[]) => Error]>([
    ["an API key", () => client.apiKeys.list(), UnauthorizedResponseError],
    ["an API key on workspaces", () => client.workspaces.list(), UnauthorizedResponseError],
    ["a spending limit", () => create({ name: "a", limit: 10 }), BadRequestResponseError],
    ["a limit with a reset", () => create({ name: "a", limitReset: "daily" }), BadRequestResponseError],
    ["no name", () => create({ name: "" }), BadRequestResponseError],
    ["a missing key", () => management.apiKeys.get({ hash: "0".repeat(64) }), NotFoundResponseError],
    ["a deletion without a key", () => management.apiKeys.delete({ hash: "nothing" }), NotFoundResponseError],
    ["an invalid slug", () => createWorkspace("Bad Slug"), BadRequestResponseError],
    ["a duplicate slug", () => createWorkspace("twice").then(() => createWorkspace("twice")), BadRequestResponseError],
    ["the default workspace", () => management.workspaces.delete({ id: stack.workspaceId }), BadRequestResponseError],
    ["a missing workspace", () => management.workspaces.delete({ id: "nowhere" }), NotFoundResponseError],
    ["an empty list of members", () => management.workspaces.listMembers({ id: "nowhere" }), NotFoundResponseError],
    ["a limit out of bounds", () => management.workspaces.list({ limit: 101 }), OpenRouterDefaultError],
  ])("for %s have their own type", async (_name, call, type) => {
    await expect(call()).rejects.toBeInstanceOf(type);
  });

  it("carry the message and the issues", async () => {
    const error = (await create({ name: "", limit: 10 }).catch((thrown: unknown) => thrown)) as BadRequestResponseError;
    expect(error.message).toMatch(/^name must be 1 to 255 characters.* \(and 1 more\)$/);
    expect(error.error.metadata?.issues).toMatchObject([{ path: "name" }, { path: "limit" }]);
  });
});
