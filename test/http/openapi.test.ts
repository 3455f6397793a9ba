import { execFile } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { promisify } from "node:util";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { administrator } from "../support/administration-rest.ts";
import { type Document, expectDocumented, type Operation } from "../support/answers.ts";
import { requestRaw } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let document: Document;
/** The paths of all routes of the gateway, as written by Fastify. */
const urls = new Set<string>();

beforeAll(async () => {
  subscribe("fastify.initialization", collectUrls);
  stack = await startStack();
  unsubscribe("fastify.initialization", collectUrls);
  document = (await (await get("/openapi.json")).json()) as Document;
});

afterAll(() => stack.close());

function collectUrls(message: unknown): void {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook("onRoute", ({ url }) => {
    urls.add(url);
  });
}

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(stack.baseUrl + path, { headers, redirect: "manual" });
}

function operations(): [string, string, Operation][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Operation] => [method, path, operation]),
  );
}

describe("the OpenAPI document", () => {
  it("is public and cacheable for five minutes", async () => {
    const { status, headers } = await get("/openapi.json");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch("application/json");
    expect(headers.get("cache-control")).toBe("public, max-age=300");
  });

  it("is OpenAPI 3.1 with the package version", () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.version).toBe(packageJson.version);
  });

  it("lists exactly the operations of the API", async () => {
    const console = ["/", "/console", "/console/*", "/console/session"];
    const notOfTheApi = ["/healthz", "/readyz", "/openapi.json", "/docs", "/docs/*", ...console];
    const taken: string[] = [];
    for (const url of [...urls].filter((each) => !notOfTheApi.includes(each))) {
      const { headers } = await fetch(stack.baseUrl + url.replaceAll(/:\w+/g, "1"), { method: "OPTIONS" });
      const allowed = headers.get("allow")?.split(", ") ?? [];
      const path = url.replaceAll(/:(\w+)/g, "{$1}");
      taken.push(...allowed.filter((method) => method !== "HEAD").map((method) => `${method} ${path}`));
    }
    expect(taken.sort()).toEqual(
      operations()
        .map(([method, path]) => `${method.toUpperCase()} ${path}`)
        .sort(),
    );
  });

  it("passes the linter, including examples", async () => {
    await promisify(execFile)("npm", ["run", "--silent", "check:openapi"]);
  }, 120_000);

  it("declares x-api-key exactly for the operations that accept it", async () => {
    for (const [method, path, { security = [] }] of operations()) {
      const headers = { "x-api-key": stack.apiKey, "content-type": "application/json" };
      const { status } = await fetch(stack.baseUrl + path, { method: method.toUpperCase(), headers });
      const isTaken = security.some((scheme) => "apiKeyHeader" in scheme);
      expect(status === 401, `${method} ${path}`).toBe(!isTaken);
    }
  });

  it("has example bodies that are accepted", async () => {
    const tenant = await stack.tenants.createOrganization();
    const { call, makeKey, makeMember, makeWorkspace } = administrator({ ...stack, ...tenant });
    const [key, workspace, member] = [
      await makeKey(),
      await makeWorkspace("tried"),
      await makeMember("tried@example.com"),
    ];
    const parameters = { slug: "tried", hash: key.data.hash, workspace: workspace.id, user_id: member };
    // Inference bodies are checked by the upstream.
    const tried = operations().filter(([, , { requestBody, tags }]) => requestBody && !tags.includes("Inference"));
    expect(tried.length).toBeGreaterThan(10);
    for (const [method, path, { requestBody, responses }] of tried) {
      const filled = Object.entries(parameters).reduce((text, [name, value]) => text.replace(`{${name}}`, value), path);
      const { example } = requestBody?.content["application/json"] ?? {};
      // The users of the examples do not exist.
      const body = path.includes("/members/") && method === "post" ? { user_ids: [member] } : example;
      const answer = await call(method.toUpperCase(), filled.replace("/api/v1", ""), body);
      expect(answer.status, `${path}: ${answer.text}`).toBe(Number(Object.keys(responses).sort()[0]));
    }
  });

  it("allows undocumented error statuses for inference only", () => {
    for (const [, path, { responses, tags }] of operations()) {
      expect("default" in responses, path).toBe(tags.includes("Inference"));
    }
  });

  it("names the same headers for an error in either shape", () => {
    const messages = document.paths["/api/v1/messages"]?.post?.responses ?? {};
    for (const [status, ours] of Object.entries(document.paths["/api/v1/responses"]?.post?.responses ?? {})) {
      if (!("$ref" in ours)) continue;
      const { headers } = document.components.responses[ours.$ref.split("/").at(-1) ?? ""] ?? {};
      const theirs = messages[status];
      expect(theirs && "headers" in theirs && theirs.headers, status).toMatchObject(headers ?? {});
      expect(theirs, status).toHaveProperty("headers.request-id");
    }
  });

  it("describes every field of every body", () => {
    const bodies = operations().filter(([, , { requestBody }]) => requestBody);
    for (const [, path, { requestBody }] of bodies) {
      const fields = requestBody?.content["application/json"].schema.properties ?? {};
      expect(Object.keys(fields).length, path).toBeGreaterThan(0);
      for (const [name, { description }] of Object.entries(fields)) {
        // More than the note on how the field is used.
        expect(description, `${path}: ${name}`).toMatch(/^\S.*/);
      }
    }
  });
});

describe("a schema of the OpenAPI document", () => {
  it("has patterns that mean the same in every language", () => {
    const patterns = schemas().flatMap(({ pattern }) => (pattern === undefined ? [] : String(pattern)));
    expect(patterns.length).toBeGreaterThan(20);
    // Go and Rust have no look-around, Python has no properties of Unicode, and JavaScript has them only with a flag.
    for (const pattern of patterns) expect(pattern).not.toMatch(/\(\?[^:]|\\[pPu]/);
  });

  it("is that of an integer for the numbers of versions in a path", () => {
    const parameters = operations().flatMap(([, , operation]) => operation.parameters ?? []);
    const versions = parameters.filter(({ in: place, name }) => place === "path" && /^(version|from|to)$/.test(name));
    expect(versions.map(({ schema }) => schema)).toEqual(Array(3).fill({ type: "integer", minimum: 1 }));
  });

  it.each([
    ["/api/v1/presets", "get", "status", { maxItems: 100 }],
    ["/api/v1/presets/{slug}/messages", "post", "If-None-Match", { enum: ["*"] }],
  ])("has the rule that %s %s checks %s by", (path, method, name, rule) => {
    const parameter = document.paths[path]?.[method]?.parameters?.find((each) => each.name === name);
    expect(parameter?.schema).toMatchObject(rule);
  });

  it("has a type where its values are listed", () => {
    const lists = schemas().filter((schema) => "enum" in schema);
    expect(lists.length).toBeGreaterThan(20);
    for (const schema of lists) expect(schema).toHaveProperty("type");
  });

  function schemas(): Record<string, unknown>[] {
    const found: Record<string, unknown>[] = [];
    JSON.stringify(document, (key, value) => {
      if (key === "schema" || key === "properties" || key === "schemas")
        found.push(...[value, Object.values(value)].flat());
      return value;
    });
    return found.filter((each) => typeof each === "object");
  }
});

describe("an answer in the tests", () => {
  const path = "/api/v1/presets/a/versions/1/diff/2";
  const data = { from: 1, to: 2, config: { added: {}, removed: {}, changed: {} }, system_prompt_changed: false };
  const expectAnswer = (status: number, body: unknown, headers = new Headers({ "x-request-id": "a" })) =>
    expect(expectDocumented("GET", path, { status, headers, text: JSON.stringify(body) }));

  it("passes if it matches the document", async () => {
    await expectAnswer(200, { data }).resolves.toBeUndefined();
  });

  it.each([
    ["a field that is not in the document", 200, { data: { ...data, more: 1 } }, undefined],
    ["a missing field", 200, { data: { ...data, to: undefined } }, undefined],
    ["a field of another type", 200, { data: { ...data, system_prompt_changed: "no" } }, undefined],
    ["a status that is not in the document", 201, { data }, undefined],
    ["a missing header", 200, { data }, new Headers()],
    ["an error of another shape", 404, { message: "Not found" }, undefined],
  ])("fails with %s", async (_name, status, body, headers) => {
    await expectAnswer(status, body, headers).rejects.toThrow(/document/);
  });
});

describe("the reference page", () => {
  it.each(["/docs", "/docs/"])("is public at %s", async (path) => {
    const { status, headers } = await get(path);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  });

  it("shows the document, and does not store a key entered to try calls", async () => {
    const initializer = await (await get("/docs/static/swagger-initializer.js")).text();
    expect(initializer).toContain("url: resolveUrl('./json')");
    expect(initializer).toContain('"tryItOutEnabled":true');
    expect(initializer).not.toContain("persistAuthorization");
    expect(await (await get("/docs/json")).json()).toEqual(document);
  });

  it("links only to its own files, and all of them exist", async () => {
    const html = await (await get("/docs")).text();
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = ""]) => link);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) {
      expect(link).toMatch(/^\/docs\/static\//);
      const file = await get(link);
      expect(file.status, link).toBe(200);
      if (!link.endsWith(".css")) continue;
      for (const [, source] of (await file.text()).matchAll(/url\(["']?([^"')]+)/g)) expect(source).toMatch(/^data:/);
    }
  });

  it.each(["/docs", "/docs/static/swagger-ui-bundle.js"])(
    "has a policy that forbids other origins: %s",
    async (path) => {
      const policy = (await get(path)).headers.get("content-security-policy") ?? "";
      const sources = policy.split(";").flatMap((directive) => directive.trim().split(" ").slice(1));
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("connect-src 'self'");
      expect(new Set(sources.filter(Boolean))).toEqual(new Set(["'none'", "'self'", "data:"]));
    },
  );

  it("returns 304 to a client that has it", async () => {
    const path = "/docs/static/swagger-ui-bundle.js";
    const etag = (await get(path)).headers.get("etag") ?? "";
    const { status, headers } = await get(path, { "if-none-match": etag });
    expect(status).toBe(304);
    expect(headers.get("content-type")).toBeNull();
  });

  it("answers HEAD with the content length of GET", async () => {
    const { status, headers } = await fetch(`${stack.baseUrl}/docs`, { method: "HEAD" });
    expect(status).toBe(200);
    expect(headers.get("content-length")).toBe(String((await (await get("/docs")).text()).length));
  });

  it.each([
    "/docs/nowhere",
    "/docs/static/nowhere.js",
    "/docs/static/../index.js",
    "/docs/static/..%2findex.js",
    "/docs/static/..%2f..%2f..%2f..%2fpackage.json",
    "/docs/static/%00",
  ])("returns 404 with the error body for %s", async (path) => {
    const { status, json } = await requestRaw("GET", stack.baseUrl, path);
    expect(status).toBe(404);
    expect(json.error).toMatchObject({ code: 404, message: expect.stringContaining(path) });
  });

  it.each(["/openapi.json", "/docs", "/docs/static/index.css"])("returns 405 for POST: %s", async (path) => {
    const { status, headers, json } = await requestRaw("POST", stack.baseUrl, path);
    expect(status).toBe(405);
    expect(headers.get("allow")).toBe("GET, HEAD");
    expect(json.error.code).toBe(405);
  });
});
