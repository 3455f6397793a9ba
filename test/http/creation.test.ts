import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { freshName } from "../support/fresh-name.ts";
import { isoTime, jsonType, userId, uuidV7 } from "../support/patterns.ts";
import { presetLife } from "../support/preset-life.ts";
import { upTo } from "../support/preset-store.ts";
import { requestRaw } from "../support/rest.ts";
import { type CreationParts, type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
const { storedVersions } = presetLife(() => stack);

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

const bodies: Record<Required<CreationParts>["dialect"], unknown> = {
  "chat/completions": {
    model: "openai/gpt-4.1",
    temperature: 0.3,
    stream: true,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ],
  },
  messages: {
    model: "openai/gpt-4.1",
    temperature: 0.3,
    system: [{ type: "text", text: "Be brief." }],
    messages: [{ role: "user", content: "Hello" }],
  },
  responses: { model: "openai/gpt-4.1", temperature: 0.3, instructions: "Be brief.", input: "Hello" },
};

const dialects = Object.keys(bodies) as (keyof typeof bodies)[];

describe.each(dialects)("a creation from %s", (dialect) => {
  const name = dialect.replace("/", "-");

  it("creates a preset with version 1 and exactly the documented fields", async () => {
    const slug = freshName(name);
    const { status, headers, json } = await stack.create(slug, bodies[dialect], { dialect });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(jsonType);
    const { data } = json;
    expect(json).toEqual({
      data: {
        id: expect.stringMatching(uuidV7),
        name: slug,
        slug,
        description: null,
        status: "active",
        status_updated_at: null,
        created_at: expect.stringMatching(isoTime),
        updated_at: data.created_at,
        creator_user_id: expect.stringMatching(userId),
        workspace_id: stack.workspaceId,
        designated_version_id: data.designated_version.id,
        designated_version: {
          id: expect.stringMatching(uuidV7),
          preset_id: data.id,
          version: 1,
          config: { model: "openai/gpt-4.1", temperature: 0.3 },
          system_prompt: "Be brief.",
          dialect,
          creator_id: data.creator_user_id,
          created_at: data.created_at,
          updated_at: data.created_at,
        },
      },
    });
    expect(data.creator_user_id).toBe(stack.userId);
    expect(Date.now() - Date.parse(data.created_at)).toBeLessThan(60_000);
    expect(await storedVersions(slug)).toEqual([
      { version: 1, config: '{"model":"openai/gpt-4.1","temperature":0.3}', system_prompt: "Be brief." },
    ]);
  });

  it("adds version 2 to an existing preset and designates it", async () => {
    const slug = freshName(`${name}-again`);
    const [first, second] = [
      await stack.create(slug, bodies[dialect], { dialect }),
      await stack.create(slug, bodies[dialect], { dialect }),
    ].map(({ json }) => json.data);
    expect(second).toEqual({
      ...first,
      updated_at: expect.stringMatching(isoTime),
      designated_version_id: second?.designated_version.id,
      designated_version: {
        ...first?.designated_version,
        id: expect.stringMatching(uuidV7),
        version: 2,
        created_at: second?.updated_at,
        updated_at: second?.updated_at,
      },
    });
    expect(second?.designated_version_id).not.toBe(first?.designated_version_id);
    expect(Date.parse(second?.updated_at ?? "")).toBeGreaterThanOrEqual(Date.parse(first?.updated_at ?? ""));
  });

  it("keeps values, key order and number spelling verbatim", async () => {
    const slug = freshName(`${name}-verbatim`);
    const config =
      '{"model":"m\\u00e9","temperature":1.0,"provider":{"b":1e2,"10":"x","2":-0,"__proto__":{"a":null}},"top_p":1.00}';
    const required = '"messages":[]';
    const { status, text } = await stack.create(slug, `{${required},${config.slice(1)}`, { dialect });
    expect(status).toBe(200);
    expect(text).toContain(`"config":${config}`);
    expect(await storedVersions(slug)).toMatchObject([{ config }]);
  });
});

describe("versions", () => {
  it("are numbered across dialects and inherit nothing", async () => {
    const slug = freshName("mixed");
    await stack.create(slug, bodies["chat/completions"]);
    await stack.create(slug, { model: "m", messages: null }, { dialect: "messages" });
    const { json } = await stack.create(slug, {}, { dialect: "responses" });
    expect(json.data.designated_version).toMatchObject({ version: 3, config: {}, system_prompt: null });
  });

  it("are numbered 1 to 100 for 100 simultaneous creations, each with its own content", async () => {
    const slug = freshName("crowd");
    const answers = await Promise.all(upTo(100).map((n) => stack.create(slug, { messages: [], seed: n })));
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200));
    const versions = answers.map(({ json }) => json.data.designated_version);
    expect(versions.map(({ version }) => version).sort((a, b) => a - b)).toEqual(upTo(100));
    expect(versions.map(({ config }) => config.seed)).toEqual(upTo(100));
    expect(new Set(answers.map(({ json }) => json.data.id)).size).toBe(1);
    expect((await storedVersions(slug)).map(({ version }) => version)).toEqual(upTo(100));
  });

  it("start at 1 in each workspace and for each casing of a slug", async () => {
    const slug = freshName("same");
    const other = await stack.tenants.createOrganization();
    const answers = [
      await stack.create(slug),
      await stack.create(slug.toUpperCase()),
      await stack.create(slug, undefined, { key: other.apiKey }),
    ];
    expect(answers.map(({ json }) => json.data.designated_version.version)).toEqual([1, 1, 1]);
    expect(answers.map(({ json }) => json.data.workspace_id)).toEqual([
      stack.workspaceId,
      stack.workspaceId,
      other.workspaceId,
    ]);
  });
});

describe("a slug", () => {
  it.each([
    ["one character", "a", "a"],
    ["a digit first", "0a", "0a"],
    ["every allowed character", "A.b_c~d-9", "A.b_c~d-9"],
    ["128 characters", "a".repeat(128), "a".repeat(128)],
    ["percent-encoded letters", "%61%2Eb", "a.b"],
    ["the name of a path segment", "versions", "versions"],
    ["the name of an Object.prototype member", "constructor", "constructor"],
  ])("may have %s", async (_name, path, slug) => {
    const { status, json } = await stack.create(path);
    expect(status).toBe(200);
    expect(json.data.slug).toBe(slug);
  });

  it.each([
    ["a hyphen first", "-a"],
    ["a dot first", ".a"],
    ["an underscore first", "_a"],
    ["a tilde first", "~a"],
    ["129 characters", "a".repeat(129)],
    ["5,000 characters", "a".repeat(5_000)],
    ["a space", "a%20b"],
    ["a slash", "a%2Fb"],
    ["an encoded percent sign", "a%2561"],
    ["a line break at the end", "a%0A"],
    ["a NUL", "a%00"],
    ["a plus", "a+b"],
    ["an at sign", "@preset"],
    ["a colon", "a:b"],
    ["a non-ASCII letter", "caf%C3%A9"],
    ["nothing", ""],
    ["two dots", ".."],
    ["two encoded dots", "%2e%2e"],
    ["a broken percent-encoding", "a%2"],
    ["invalid UTF-8", "a%FF"],
  ])("with %s returns 400 and stores nothing", async (_name, slug) => {
    const before = await presetCount();
    const { status, headers, json } = await requestRaw(
      "POST",
      stack.baseUrl,
      `/api/v1/presets/${slug}/chat/completions`,
      {
        headers: { authorization: `Bearer ${stack.apiKey}`, "content-type": "application/json" },
        chunks: ['{"messages":[]}'],
      },
    );
    expect(status).toBe(400);
    expect(headers.get("content-type")).toMatch(jsonType);
    expect(json.error).toMatchObject({ code: 400, metadata: { request_id: headers.get("x-request-id") } });
    expect(await presetCount()).toBe(before);
  });

  it("that breaks the rule is reported with the rule", async () => {
    const { json } = await stack.create("-a");
    expect(json.error.metadata.issues).toEqual([
      { path: "slug", message: "must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ -, with a letter or digit first" },
    ]);
  });

  it("that contains a key returns 400, which does not repeat the key, and stores nothing", async () => {
    const before = await presetCount();
    const { status, json, text } = await stack.create(stack.apiKey);
    expect(status).toBe(400);
    expect(json.error.metadata.issues).toEqual([
      { path: "slug", message: expect.stringMatching(/^must not contain .*: choose another slug/) },
    ]);
    expect(text).not.toContain(stack.apiKey.slice("sk-sp-v1-".length));
    expect(await presetCount()).toBe(before);
  });

  async function presetCount(): Promise<number> {
    const [rows] = await stack.presetPool.query<RowDataPacket[]>("SELECT COUNT(*) AS count FROM presets");
    return rows[0]?.count;
  }
});
