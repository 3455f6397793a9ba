import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { PresetJson } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

type VersionJson = PresetJson["designated_version"];

const script = join(import.meta.dirname, "../../docs/examples/copy-presets.mjs");

let stack: Stack;
/** A key for a workspace of its own, which is empty. */
let target: string;
let closers: (() => void)[];

beforeAll(async () => {
  stack = await startStack();
});

beforeEach(async () => {
  target = await keyOfNewWorkspace();
  closers = [];
});

afterEach(() => {
  for (const close of closers) close();
});

afterAll(() => stack.close());

async function keyOfNewWorkspace(): Promise<string> {
  const workspaceId = await stack.tenants.createWorkspace(stack);
  return (await stack.tenants.createKey(stack, { workspaceId })).secret;
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function variables(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const url = `${stack.baseUrl}/api/v1`;
  return { PATH: process.env.PATH, FROM_URL: url, TO_URL: url, TO_KEY: target, ...environment };
}

function copy(environment: NodeJS.ProcessEnv, ...slugs: string[]): Promise<Ran> {
  const env = variables(environment);
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [script, ...slugs], { env }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

async function presetOf(key: string, slug: string): Promise<PresetJson> {
  return (await stack.request<PresetJson>("GET", `/presets/${slug}`, { key })).json.data;
}

async function contentsOf(key: string, slug: string) {
  const { json } = await stack.request<VersionJson[]>("GET", `/presets/${slug}/versions?limit=100`, { key });
  return json.data.map(({ version, config, system_prompt, dialect }) => ({ version, config, system_prompt, dialect }));
}

/** A server with one preset, which is not one of ours: its versions come newest first, and have no dialect. */
async function serveElsewhere(versions: readonly object[], members: object = {}): Promise<string> {
  const all = versions.map((version, index) => ({ id: `v${index + 1}`, version: index + 1, ...version }));
  const preset = {
    slug: "from-elsewhere",
    name: "Elsewhere",
    description: null,
    status: "active",
    designated_version_id: "v1",
    ...members,
  };
  let refusals = 1;
  return serve(({ url = "" }, response) => {
    if (refusals > 0) {
      refusals -= 1;
      response.writeHead(429, { "retry-after": "1" }).end();
      return;
    }
    const { pathname, searchParams } = new URL(url, "http://elsewhere");
    const items = pathname.endsWith("/versions") ? all.toReversed() : [preset];
    const offset = Number(searchParams.get("offset"));
    // Pages of two, whatever was asked for.
    response.end(JSON.stringify({ data: items.slice(offset, offset + 2), total_count: items.length }));
  });
}

/** Something else that is listening, and where. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  closers.push(() => server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/`;
}

describe("copying presets", () => {
  it("copies every version, what is served, names and status", async () => {
    const source = await keyOfNewWorkspace();
    const parts = { key: source };
    const tool = { name: "look_up", input_schema: { type: "object" } };
    await stack.create(
      "support-bot",
      { model: "a/b", temperature: 0, messages: [{ role: "system", content: "Hi" }] },
      parts,
    );
    await stack.create("support-bot", { model: "a/b", messages: [] }, parts);
    await stack.create(
      "support-bot",
      { model: "a/c", max_tokens: 9, tools: [tool], system: "Hello", messages: [] },
      { ...parts, dialect: "messages" },
    );
    await stack.create(
      "summary",
      { model: "a/d", instructions: "Sum up", text: { verbosity: "low" } },
      { ...parts, dialect: "responses" },
    );
    const change = { name: "Support", description: "Answers customers", status: "disabled", designated_version: 2 };
    expect((await stack.request("PATCH", "/presets/support-bot", { ...parts, body: change })).status).toBe(200);

    const { code, stdout, stderr } = await copy({ FROM_KEY: source });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n").toSorted()).toEqual([
      "",
      "summary: 1 version, 1 of them copied now",
      "support-bot: 3 versions, 3 of them copied now",
    ]);
    for (const slug of ["support-bot", "summary"]) {
      expect(await contentsOf(target, slug)).toEqual(await contentsOf(source, slug));
    }
    const { name, description, status, designated_version } = await presetOf(target, "support-bot");
    expect({ name, description, status, designated_version: designated_version.version }).toEqual(change);
  });

  it("copies only what is new, if it is repeated", async () => {
    const source = await keyOfNewWorkspace();
    await stack.create("growing", { model: "a/one", messages: [] }, { key: source });
    expect((await copy({ FROM_KEY: source })).stdout).toBe("growing: 1 version, 1 of them copied now\n");
    const before = await presetOf(target, "growing");
    expect((await copy({ FROM_KEY: source })).stdout).toBe("growing: 1 version, 0 of them copied now\n");
    expect(await presetOf(target, "growing")).toEqual(before);
    await stack.create("growing", { model: "a/two", messages: [] }, { key: source });
    expect((await copy({ FROM_KEY: source }, "growing")).stdout).toBe("growing: 2 versions, 1 of them copied now\n");
    expect((await presetOf(target, "growing")).designated_version.config).toEqual({ model: "a/two" });
  });

  it("goes on where it was killed, even with the largest versions", async () => {
    const source = await keyOfNewWorkspace();
    const largest = { model: "a/b", text: { filler: "s".repeat(1_000_000) } };
    const body = { ...largest, instructions: "p".repeat(1_000_000) };
    for (let n = 1; n <= 6; n += 1) {
      const { status } = await stack.create("large", { ...body, top_k: n }, { key: source, dialect: "responses" });
      expect(status).toBe(200);
    }
    const child = execFile(process.execPath, [script], { env: variables({ FROM_KEY: source }) });
    const path = "/presets/large/versions?limit=1";
    const countNow = async () => (await stack.request("GET", path, { key: target })).json.total_count ?? 0;
    await expect.poll(countNow, { interval: 1 }).toBeGreaterThan(0);
    child.kill("SIGKILL");
    await once(child, "close");
    expect((await copy({ FROM_KEY: source })).code).toBe(0);
    expect(await contentsOf(target, "large")).toEqual(await contentsOf(source, "large"));
  });

  it("copies what is new of a preset that was archived when it was copied before", async () => {
    const source = await keyOfNewWorkspace();
    const setStatus = (status: string) =>
      stack.request("PATCH", "/presets/revived", { key: source, body: { status, name: "Revived" } });
    await stack.create("revived", { model: "a/one", messages: [] }, { key: source });
    await setStatus("archived");
    expect((await copy({ FROM_KEY: source })).code).toBe(0);
    await setStatus("active");
    await stack.create("revived", { model: "a/two", messages: [] }, { key: source });
    await setStatus("archived");
    expect(await copy({ FROM_KEY: source })).toEqual({
      code: 0,
      stdout: "revived: 2 versions, 1 of them copied now\n",
      stderr: "",
    });
    expect(await presetOf(target, "revived")).toMatchObject({ status: "archived", name: "Revived" });
    for (const status of ["active", "disabled"]) await setStatus(status);
    expect((await copy({ FROM_KEY: source })).stderr).toBe("");
    expect((await presetOf(target, "revived")).status).toBe("disabled");
  });

  it("leaves a preset alone that has other versions there, and copies the rest", async () => {
    const source = await keyOfNewWorkspace();
    for (const slug of ["ours", "fresh"]) await stack.create(slug, { model: "a/b", messages: [] }, { key: source });
    await stack.create("ours", { model: "a/b", messages: [] }, { key: target });
    await stack.create("ours", { model: "a/changed-here", messages: [] }, { key: target });
    const { code, stdout, stderr } = await copy({ FROM_KEY: source });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "fresh: 1 version, 1 of them copied now\n" });
    expect(stderr).toMatch(/^ours was not copied, or not all of it: version 2 of it at http\S+ is not from here\n$/);
    expect(await contentsOf(target, "ours")).toHaveLength(2);
  });

  it("stops if somebody else changes the preset there meanwhile, so that its versions get no other numbers", async () => {
    const source = await keyOfNewWorkspace();
    for (const model of ["a/one", "a/two", "a/three"]) {
      await stack.create("shared", { model, messages: [] }, { key: source });
    }
    let creations = 0;
    const there = await serve(async (request, response) => {
      const { method = "", url, headers } = request;
      const body = Buffer.concat(await request.toArray()).toString() || null;
      if (method === "POST") creations += 1;
      if (creations === 2) await stack.create("shared", { model: "a/colleague", messages: [] }, { key: target });
      const sent = ["authorization", "content-type", "idempotency-key", "if-match", "if-none-match"].flatMap((name) =>
        headers[name] === undefined ? [] : [[name, String(headers[name])] as [string, string]],
      );
      const answer = await fetch(stack.baseUrl + url, { method, headers: sent, body });
      response.writeHead(answer.status, { etag: answer.headers.get("etag") ?? "" }).end(await answer.text());
    });
    const { code, stdout, stderr } = await copy({ FROM_KEY: source, TO_URL: there });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^shared was not copied, or not all of it: POST \S+ was answered with 412: /);
    expect((await contentsOf(target, "shared")).map(({ config }) => config.model)).toEqual(["a/one", "a/colleague"]);
  });

  it("finds the dialect of versions that have none, waits where it is told to, and names fields that are not kept", async () => {
    const model = "a/b";
    const versions = [
      { config: { model, temperature: 0.5, price_max: 3, seed: null }, system_prompt: "One" },
      { config: { model, thinking: { type: "disabled" }, max_tokens: 5 }, system_prompt: "Two" },
      {
        config: { model, tools: [{ name: "a", input_schema: { type: "object" } }], max_tokens: 5 },
        system_prompt: null,
      },
      { config: { model, max_output_tokens: 5 }, system_prompt: "" },
      { config: { model, tools: [{ type: "function", name: "a", parameters: {} }] }, system_prompt: "Five" },
    ];
    const elsewhere = await serveElsewhere(versions);
    const { code, stdout, stderr } = await copy({ FROM_URL: elsewhere, FROM_KEY: "key" });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(
      "from-elsewhere: 5 versions, 5 of them copied now\n  not kept, because a preset has no such field there: price_max\n",
    );
    expect(await contentsOf(target, "from-elsewhere")).toEqual([
      { version: 1, config: { model, temperature: 0.5 }, system_prompt: "One", dialect: "chat/completions" },
      { version: 2, ...versions[1], dialect: "messages" },
      { version: 3, ...versions[2], dialect: "messages" },
      { version: 4, ...versions[3], system_prompt: null, dialect: "responses" },
      { version: 5, ...versions[4], dialect: "responses" },
    ]);
    expect((await presetOf(target, "from-elsewhere")).designated_version.version).toBe(1);
    expect((await copy({ FROM_URL: elsewhere, FROM_KEY: "key" })).stdout).toContain(
      "5 versions, 0 of them copied now\n",
    );
  });

  it.each([
    [{ FROM_KEY: "" }, [], /^Set FROM_URL and FROM_KEY/],
    [{ FROM_KEY: "key", TO_KEY: "" }, [], /^Set FROM_URL and FROM_KEY/],
    [{ FROM_KEY: "key" }, [], /^GET http\S+\/presets\?\S+ was answered with 401: .*key/],
    [{ FROM_KEY: "a key that …" }, [], /^FROM_KEY must be one line of ASCII without spaces\.\n$/],
    [
      { FROM_KEY: "key", FROM_URL: "http://127.0.0.1:2/api/v1" },
      [],
      /failed: .*ECONNREFUSED.* Try again to go on\.\n$/,
    ],
  ])("says what is wrong: %j", async (environment, slugs, message) => {
    const { code, stdout, stderr } = await copy(environment, ...slugs);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(message);
  });

  it("says which preset is not there, and which address has no presets", async () => {
    const parts = { FROM_KEY: stack.apiKey };
    expect((await copy(parts, "nowhere")).stderr).toMatch(/has no preset nowhere\.\n$/);
    expect((await copy({ ...parts, FROM_URL: stack.baseUrl })).stderr).toMatch(/must end with \/api\/v1\.\n$/);
  });

  it.each<[string, RequestListener, RegExp]>([
    [
      "a page for people",
      (_request, response) => response.end("<html>"),
      /answered with 200: .* must end with \/api\/v1/,
    ],
    ["another API", (_request, response) => response.end("{}"), /answered with 200: .* must end with \/api\/v1/],
    [
      "a redirect",
      (_request, response) => response.writeHead(301, { location: "https://presets.example/" }).end(),
      /answered with 301: it is at https:\/\/presets\.example\/\n$/,
    ],
  ])("says that the address leads to %s", async (_what, listener, message) => {
    const elsewhere = await serve(listener);
    const { code, stdout, stderr } = await copy({ FROM_URL: elsewhere, FROM_KEY: "key" });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(message);
  });

  it("says that there are no presets", async () => {
    const { code, stdout } = await copy({ FROM_KEY: await keyOfNewWorkspace() });
    expect(code).toBe(0);
    expect(stdout).toMatch(/ has no presets in the workspace of this key\.\n$/);
  });

  it("ends the list where a server repeats its first page", async () => {
    const version = { id: "v1", version: 1, config: { model: "a/b" }, system_prompt: null };
    const preset = { slug: "repeated", status: "active" };
    const elsewhere = await serve(({ url = "" }, response) => {
      response.end(JSON.stringify({ data: [url.includes("/versions") ? version : preset] }));
    });
    const { stdout } = await copy({ FROM_URL: elsewhere, FROM_KEY: "key" });
    expect(stdout).toBe("repeated: 1 version, 1 of them copied now\n");
  });

  it("names versions that have other numbers there, and takes one without a config", async () => {
    const elsewhere = await serveElsewhere([
      { config: null, system_prompt: "One" },
      { version: 3, config: { model: "a/b" } },
    ]);
    const { code, stdout } = await copy({ FROM_URL: elsewhere, FROM_KEY: "key" });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "from-elsewhere: 2 versions, 2 of them copied now\n  with other numbers there, counted from 1: 3\n",
    });
  });

  it.each([
    ["has no versions", [], {}, /it has no versions\n$/],
    ["would lead to another call", [{ config: { model: "a/b" } }], { slug: ".." }, /a preset cannot have this slug\n$/],
  ])("does not copy a preset that %s", async (_what, versions, members, message) => {
    const elsewhere = await serveElsewhere(versions, members);
    const { code, stderr } = await copy({ FROM_URL: elsewhere, FROM_KEY: "key" });
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
  });
});
