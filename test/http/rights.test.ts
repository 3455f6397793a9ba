import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApiDocument } from "../../gateway/openapi-document.ts";
import { knownPermissions } from "../../services/platform/auth/principal.ts";
import { newId } from "../../services/platform/domain/ids.ts";
import type { Document } from "../support/answers.ts";
import { type Stack, startStack } from "../support/stack.ts";

// Every operation of the document, and what a key needs for it: a new one has to be added here.

const forReaders = [
  "diffPresetVersions",
  "getPreset",
  "getPresetVersion",
  "listPresetChanges",
  "listPresetVersions",
  "listPresets",
  "listWorkspaceChanges",
  "resolvePresetsChatCompletions",
  "resolvePresetsMessages",
  "resolvePresetsResponses",
];
const forWriters = ["createPresetsChatCompletions", "createPresetsMessages", "createPresetsResponses", "updatePreset"];
const forInference = [
  "countMessagesTokens",
  "countResponsesTokens",
  "createMessages",
  "createResponses",
  "sendChatCompletionRequest",
];
const forManagement = [
  "addOrganizationMember",
  "bulkAddWorkspaceMembers",
  "bulkRemoveWorkspaceMembers",
  "createKeys",
  "createWorkspace",
  "deleteKeys",
  "deleteWorkspace",
  "getKey",
  "getWorkspace",
  "listKeys",
  "listOrganizationChanges",
  "listOrganizationMembers",
  "listWorkspaceMembers",
  "listWorkspaces",
  "removeOrganizationMember",
  "rotateKey",
  "updateKeys",
  "updateOrganizationMember",
  "updateWorkspace",
];
const forEveryKey = [
  "countModels",
  "getCurrentKey",
  "getModel",
  "listModels",
  "listModelsUser",
  "retrieveModel",
  "retrieveModelByParts",
];

const document: Document = JSON.parse(await openApiDocument());
const routes = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => [operationId, { method, path }] as const),
  ),
);

let stack: Stack;
/** By what they may do: each permission, or all but one. */
const keys: Record<string, string> = {};

beforeAll(async () => {
  stack = await startStack();
  for (const permission of knownPermissions) {
    const others = knownPermissions.filter((each) => each !== permission);
    keys[permission] = (await stack.tenants.createKey(stack, { permissions: [permission] })).secret;
    keys[`all but ${permission}`] = (await stack.tenants.createKey(stack, { permissions: others })).secret;
  }
});

afterAll(() => stack.close());

/** The status of a call that names nothing that exists, so that it changes nothing whatever the key may do. */
async function statusOf(operationId: string, key: string | undefined): Promise<number> {
  const { method, path } = routes.get(operationId) ?? { method: "", path: "" };
  const url = path.replace("/api/v1", "").replaceAll(/\{\w+\}/g, newId());
  return (await stack.request(method.toUpperCase(), url, { key, ...(method === "get" ? {} : { body: {} }) })).status;
}

it("names every operation", () => {
  const named = [...forReaders, ...forWriters, ...forInference, ...forManagement, ...forEveryKey];
  expect(named.sort()).toEqual([...routes.keys()].sort());
});

it.each([...routes.keys()])("%s returns 401 without a key", async (operationId) => {
  expect(await statusOf(operationId, undefined)).toBe(401);
});

describe.each([
  ["presets:read", forReaders],
  ["presets:write", forWriters],
  ["inference", forInference],
])("the permission %s", (permission, operationIds) => {
  it.each(operationIds)("alone is enough for %s, and all others are not", async (operationId) => {
    expect([401, 403]).not.toContain(await statusOf(operationId, keys[permission]));
    expect(await statusOf(operationId, keys[`all but ${permission}`])).toBe(403);
  });
});

describe("a management key", () => {
  it.each(forManagement)("is needed for %s", async (operationId) => {
    expect([401, 403]).not.toContain(await statusOf(operationId, stack.managementKey));
    expect(await statusOf(operationId, stack.apiKey)).toBe(401);
  });

  it.each([...forReaders, ...forWriters])("has the permission for %s", async (operationId) => {
    expect([401, 403]).not.toContain(await statusOf(operationId, stack.managementKey));
  });

  it.each(forInference)("is not accepted for %s", async (operationId) => {
    expect(await statusOf(operationId, stack.managementKey)).toBe(403);
  });
});

it.each(forEveryKey)("%s takes every key", async (operationId) => {
  for (const key of [...knownPermissions.map((each) => keys[each]), stack.managementKey]) {
    expect([401, 403]).not.toContain(await statusOf(operationId, key));
  }
});
