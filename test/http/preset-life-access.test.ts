import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../services/platform/domain/ids.ts";
import type { Answer } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";
import type { Tenant } from "../support/tenants.ts";

const reads = {
  "GET /presets/{slug}": ["GET", "/presets/owned"],
  "GET /presets/{slug}/versions": ["GET", "/presets/owned/versions"],
  "GET /presets/{slug}/versions/{version}": ["GET", "/presets/owned/versions/1"],
  "GET /presets/{slug}/versions/{from}/diff/{to}": ["GET", "/presets/owned/versions/1/diff/2"],
  "GET /presets/{slug}/changes": ["GET", "/presets/owned/changes"],
} as const;

const change = { "PATCH /presets/{slug}": ["PATCH", "/presets/owned", { name: "Changed" }] } as const;

const creations = {
  "POST /presets/{slug}/chat/completions": ["POST", "/presets/owned/chat/completions", { messages: [] }],
  "POST /presets/{slug}/messages": ["POST", "/presets/owned/messages", { messages: [], model: "m" }],
  "POST /presets/{slug}/responses": ["POST", "/presets/owned/responses", {}],
} as const;

const list = { "GET /presets": ["GET", "/presets"] } as const;

type Route = readonly [method: string, path: string, body?: unknown];

const every: [string, Route][] = Object.entries({ ...reads, ...list, ...change, ...creations });
const ofOnePreset: [string, Route][] = Object.entries({ ...reads, ...change });
const reading: [string, Route][] = Object.entries({ ...reads, ...list });
const writing: [string, Route][] = Object.entries({ ...change, ...creations });

let stack: Stack;
let readOnly: string;
let writeOnly: string;
let inferenceOnly: string;
let other: Tenant;

beforeAll(async () => {
  stack = await startStack();
  await stack.create("owned");
  await stack.create("owned", { messages: [], seed: 1 });
  readOnly = (await stack.tenants.createKey(stack, { permissions: ["presets:read"] })).secret;
  writeOnly = (await stack.tenants.createKey(stack, { permissions: ["presets:write"] })).secret;
  inferenceOnly = (await stack.tenants.createKey(stack, { permissions: ["inference"] })).secret;
  other = await stack.tenants.createOrganization();
});

afterAll(() => stack.close());

function send([method, path, body]: Route, key: string | undefined, query = ""): Promise<Answer> {
  return stack.request(method, path + query, { key, body });
}

async function stateOfOwned(): Promise<string[]> {
  const answers = await Promise.all(Object.values(reads).map((route) => send(route, stack.apiKey)));
  return answers.map(({ text }) => text);
}

describe("a read-only key", () => {
  it.each(reading)("may %s", async (_name, route) => {
    expect((await send(route, readOnly)).status).toBe(200);
  });

  it.each(writing)("gets 403 and changes nothing: %s", async (_name, route) => {
    const before = await stateOfOwned();
    const { status, json } = await send(route, readOnly);
    expect(status).toBe(403);
    expect(json.error).toMatchObject({ code: 403, message: expect.stringContaining("presets:write") });
    expect(await stateOfOwned()).toEqual(before);
  });

  it.each(writing)("gets 403 before its body or slug is checked: %s", async (_name, [method, path]) => {
    expect((await send([method, path.replace("owned", "-bad"), "{"], readOnly)).status).toBe(403);
  });
});

describe("a write-only key", () => {
  it.each(reading)("gets 403: %s", async (_name, route) => {
    const { status, json } = await send(route, writeOnly);
    expect(status).toBe(403);
    expect(json.error.message).toContain("presets:read");
  });

  it.each(writing)("may %s", async (_name, route) => {
    expect((await send(route, writeOnly)).status).toBe(200);
  });
});

describe("an inference-only key", () => {
  it.each(every)("gets 403: %s", async (_name, route) => {
    const before = await stateOfOwned();
    expect((await send(route, inferenceOnly)).status).toBe(403);
    expect(await stateOfOwned()).toEqual(before);
  });
});

describe("a key of another organization", () => {
  it.each(ofOnePreset)("gets 404 without a hint that the preset exists: %s", async (_name, route) => {
    const before = await stateOfOwned();
    const theirs = await send(route, other.apiKey);
    expect(theirs.status).toBe(404);
    const nowhere = await send([route[0], route[1].replace("owned", "nobody"), route[2]], other.apiKey);
    expect(theirs.json.error.message).toBe(nowhere.json.error.message.replace("nobody", "owned"));
    expect(await stateOfOwned()).toEqual(before);
  });

  it("does not list it", async () => {
    const { json } = await send(["GET", "/presets"], other.apiKey);
    expect(json).toMatchObject({ data: [], total_count: 0 });
  });

  it("creates a preset of its own under the same slug", async () => {
    const before = await stateOfOwned();
    const { apiKey: key, workspaceId } = await stack.tenants.createOrganization();
    const mine = await stack.create("owned", undefined, { key });
    expect(mine.json.data).toMatchObject({ workspace_id: workspaceId, designated_version: { version: 1 } });
    expect(await stateOfOwned()).toEqual(before);
  });
});

describe("workspace_id", () => {
  let second: string;
  let secondKey: string;

  beforeAll(async () => {
    second = await stack.tenants.createWorkspace(stack);
    secondKey = (await stack.tenants.createKey(stack, { workspaceId: second })).secret;
    for (const seed of [2, 3]) await stack.create("owned", { messages: [], seed }, { key: secondKey });
  });

  // A page of versions or changes names no workspace, so a read is compared with that of the workspace's own key.
  it.each(reading)("selects any workspace of the organization for a management key: %s", async (_name, route) => {
    const { status, text } = await send(route, stack.managementKey, `?workspace_id=${second}`);
    expect([status, text]).toEqual([200, (await send(route, secondKey)).text]);
    expect(text).not.toBe((await send(route, stack.apiKey)).text);
  });

  it.each(reading)("defaults to the default workspace for a management key: %s", async (_name, route) => {
    const { status, text } = await send(route, stack.managementKey);
    expect([status, text]).toEqual([200, (await send(route, stack.apiKey)).text]);
  });

  it.each(writing)("directs a management key's change to that workspace: %s", async (_name, route) => {
    const elsewhere = await send(route, stack.managementKey, `?workspace_id=${second}`);
    const here = await send(route, stack.managementKey);
    expect([elsewhere.status, here.status]).toEqual([200, 200]);
    expect([elsewhere, here].map(({ json }) => json.data.workspace_id)).toEqual([second, stack.workspaceId]);
  });

  it.each(every)("of another organization returns 404: %s", async (_name, route) => {
    expect((await send(route, stack.managementKey, `?workspace_id=${other.workspaceId}`)).status).toBe(404);
  });

  it.each(every)("that does not exist returns 404: %s", async (_name, route) => {
    expect((await send(route, stack.managementKey, `?workspace_id=${newId()}`)).status).toBe(404);
  });

  it.each(every)("may name an API key's own workspace and no other: %s", async (_name, route) => {
    expect((await send(route, stack.apiKey, `?workspace_id=${stack.workspaceId}`)).status).toBe(200);
    expect((await send(route, stack.apiKey, `?workspace_id=${second}`)).status).toBe(404);
  });

  it.each(["", "default", `${newId()}&workspace_id=${newId()}`])("returns 400 for ?workspace_id=%s", async (value) => {
    const { status, json } = await send(["GET", "/presets"], stack.managementKey, `?workspace_id=${value}`);
    expect(status).toBe(400);
    expect(json.error.metadata.issues?.map(({ path }) => path)).toEqual(["workspace_id"]);
  });

  it("keeps presets with the same slug in two workspaces apart", async () => {
    const [first, theirs] = [
      await send(reads["GET /presets/{slug}"], stack.managementKey),
      await send(reads["GET /presets/{slug}"], stack.managementKey, `?workspace_id=${second}`),
    ].map(({ json }) => json.data);
    expect(first?.id).not.toBe(theirs?.id);
    expect([first?.workspace_id, theirs?.workspace_id]).toEqual([stack.workspaceId, second]);
  });
});

describe("every route", () => {
  it.each(every)("returns 401 without a valid key: %s", async (_name, route) => {
    expect((await send(route, undefined)).status).toBe(401);
    expect((await send(route, "wrong")).status).toBe(401);
  });

  it.each(every)("returns 404 once the key's workspace is deleted: %s", async (_name, route) => {
    const workspaceId = await stack.tenants.createWorkspace(stack);
    const { secret } = await stack.tenants.createKey(stack, { workspaceId });
    await stack.tenants.deleteWorkspace(workspaceId);
    expect((await send(route, secret)).status).toBe(404);
  });
});
