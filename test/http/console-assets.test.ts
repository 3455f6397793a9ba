import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { metricOf } from "../support/metrics.ts";
import { type Stack, startStack } from "../support/stack.ts";

const index = `<!doctype html><title>Setpoint</title>${"<p>".repeat(100)}`;
/** Larger than the network buffers, and not compressible. */
const script = `"${randomBytes(4 * 1024 * 1024).toString("base64")}"`;
const style = "p{}".repeat(100);

let stack: Stack;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-console-"));
  const dist = join(folder, "dist");
  mkdirSync(join(dist, "assets"), { recursive: true });
  writeFileSync(join(folder, "secret.js"), "secret");
  for (const [name, text] of [
    ["index.html", index],
    ["assets/index-abc.js", script],
    ["assets/index-abc.css", style],
  ] as const) {
    writeFileSync(join(dist, name), text);
    writeFileSync(join(dist, `${name}.br`), brotliCompressSync(text, { params: { 1: 1 } }));
    writeFileSync(join(dist, `${name}.gz`), gzipSync(text));
  }
  writeFileSync(join(dist, "assets/plain.svg"), "<svg/>");
  writeFileSync(join(dist, "sources.sha256"), "of the sources");
  symlinkSync(join(folder, "secret.js"), join(dist, "assets/link.js"));
  stack = await startStack({ gateway: { consoleFolder: dist } });
});

afterAll(async () => {
  await stack.close();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

/** With the raw path and the raw bytes, which `fetch` would normalize and decompress. */
function get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(stack.baseUrl);
    const outgoing = httpRequest({ hostname, port, path, method, headers, agent: false }, async (incoming) => {
      const bytes = await buffer(incoming);
      resolve({ status: incoming.statusCode, headers: incoming.headers, bytes });
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

describe("the console page", () => {
  it.each(["/console", "/console/", "/console/x", "/console/w/presets/a.b?v=7", "/console/w/presets/a/compare/5...7"])(
    "is served at %s and revalidated on each load",
    async (path) => {
      const { status, headers, bytes } = await get(path);
      expect([status, bytes.toString()]).toEqual([200, index]);
      expect(headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" });
      const again = await get(path, { "if-none-match": headers.etag as string });
      expect([again.status, again.bytes.length]).toEqual([304, 0]);
    },
  );

  it("is the redirect target of /", async () => {
    const { status, headers } = await get("/");
    expect([status, headers.location]).toEqual([302, "/console/"]);
  });

  it.each(["/console/", "/console/assets/index-abc.js"])(
    "forbids framing and connections to other origins: %s",
    async (path) => {
      const { headers } = await get(path);
      const policy = String(headers["content-security-policy"]).split("; ");
      expect(policy).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "require-trusted-types-for 'script'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ]);
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
      });
    },
  );
});

describe("a console asset", () => {
  it.each([
    ["br, gzip", "br", brotliDecompressSync],
    ["gzip, deflate, BR;q=0.5", "br", brotliDecompressSync],
    ["br;q=0, gzip", "gzip", gunzipSync],
    ["br; q=0.000,gzip;q=0.1", "gzip", gunzipSync],
    ["gzip", "gzip", gunzipSync],
    ["identity", undefined, (bytes: Buffer) => bytes],
    ["", undefined, (bytes: Buffer) => bytes],
    ["abrupt", undefined, (bytes: Buffer) => bytes],
    ["*", undefined, (bytes: Buffer) => bytes],
    ["identity;q=0, *;q=0", undefined, (bytes: Buffer) => bytes],
    [";q=1, ,;br, =gzip", undefined, (bytes: Buffer) => bytes],
    ["br;level=9, gzip;q=nonsense", "br", brotliDecompressSync],
    ["__proto__, constructor", undefined, (bytes: Buffer) => bytes],
    [`${"x,".repeat(4_000)}br`, undefined, (bytes: Buffer) => bytes],
  ])("requested with Accept-Encoding '%s' is sent as %s and cached forever", async (accepted, encoding, unpack) => {
    const { status, headers, bytes } = await get("/console/assets/index-abc.js", { "accept-encoding": accepted });
    expect([status, headers["content-encoding"]]).toEqual([200, encoding]);
    expect(unpack(bytes).equals(Buffer.from(script))).toBe(true);
    expect(headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "content-length": String(bytes.length),
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
    });
  });

  it("has a different ETag for each encoding", async () => {
    const etags = ["br", "gzip", ""].map(
      async (accepted) => (await get("/console/assets/index-abc.css", { "accept-encoding": accepted })).headers.etag,
    );
    expect(new Set(await Promise.all(etags)).size).toBe(3);
  });

  it("is sent unencoded if it has no compressed copy", async () => {
    const { headers, bytes } = await get("/console/assets/plain.svg", { "accept-encoding": "br" });
    expect([headers["content-encoding"], bytes.toString()]).toEqual([undefined, "<svg/>"]);
  });

  it("is not what caches keep if If-None-Match is malformed", async () => {
    const { status, headers } = await get("/console/assets/index-abc.js", { "if-none-match": "x" });
    expect([status, headers["cache-control"], headers.etag]).toEqual([400, undefined, undefined]);
  });

  it("answers HEAD with the same length and no body", async () => {
    const path = "/console/assets/index-abc.js";
    const { status, headers, bytes } = await get(path, { "accept-encoding": "br" }, "HEAD");
    expect([status, bytes.length]).toEqual([200, 0]);
    expect(headers["content-length"]).toBe((await get(path, { "accept-encoding": "br" })).headers["content-length"]);
  });

  it.each(["bytes=0-9", "bytes=-1", "bytes=0-0,2-3,5-", `bytes=${"0-,".repeat(500)}0-`])(
    "ignores Range and is sent whole",
    async (range) => {
      const { status, headers, bytes } = await get("/console/assets/index-abc.css", { range });
      expect([status, headers["accept-ranges"], bytes.toString()]).toEqual([200, "none", style]);
    },
  );

  it.each([
    "/console/assets/gone-123.js",
    "/console/assets/index-abc.js.br",
    "/console/assets/link.js",
    "/console/assets/../../secret.js",
    "/console/assets/..%2f..%2fsecret.js",
    "/console/assets/%2e%2e/%2e%2e/secret.js",
    "/console/assets/..%5c..%5csecret.js",
    "/console/assets/index-abc.js%00",
    "/console/assets//index-abc.js",
    "/console/assets/__proto__",
  ])("that is not part of the build returns 404, not cacheable: %s", async (path) => {
    const { status, headers, bytes } = await get(path);
    expect([status, JSON.parse(bytes.toString()).error.code]).toEqual([404, 404]);
    expect(headers["cache-control"]).toBe("no-store");
  });

  it.each(["/console/../secret.js", "/console/..%2fsecret.js", "/console/sources.sha256", "/console/constructor"])(
    "outside its folder is not served: %s",
    async (path) => {
      const { bytes } = await get(path);
      expect(["secret", "of the sources"]).not.toContain(bytes.toString());
    },
  );

  it.each(["POST", "PUT", "DELETE", "OPTIONS"])("returns 405 for %s", async (method) => {
    const { status, headers } = await get("/console/assets/index-abc.js", {}, method);
    expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
  });
});

/** What a connection may request before it stops reading. */
const manners: readonly (readonly [string, string])[] = [
  ["GET /console/assets/index-abc.js", ""],
  ["GET /console/assets/index-abc.js", "range: bytes=0-0,2-3,5-\r\n"],
  ["GET /console/assets/index-abc.js", `accept-encoding: ${"x,".repeat(4_000)}br\r\n`],
  ["GET /console/assets/index-abc.js", `if-none-match: ${'"x",'.repeat(2_000)}"x"\r\n`],
  ["HEAD /console/assets/index-abc.js", ""],
  ["GET /console/assets/..%2f..%2fsecret.js", ""],
  ["GET /console/w/presets", ""],
];

describe("500 clients that do not read", () => {
  it("do not block the API or make memory grow", async () => {
    const sockets = new Set<Socket>();
    const { hostname, port } = new URL(stack.baseUrl);
    const before = process.memoryUsage().rss;
    for (let n = 0; n < 500; n += 1) {
      const [line, header] = manners[n % manners.length] ?? [];
      const socket = connect(Number(port), hostname).pause();
      socket.on("error", () => {});
      socket.write(`${line} HTTP/1.1\r\nhost: test\r\n${header}\r\n`.repeat(4));
      sockets.add(socket);
    }
    try {
      const connections = () => metricOf(stack.metricsUrl, "setpoint_connections");
      await expect.poll(connections, { timeout: 60_000 }).toBeGreaterThanOrEqual(500);
      expect(await metricOf(stack.metricsUrl, "setpoint_inflight_bytes")).toBe(0);
      const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => stack.create(`beside-them-${n}`)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect((await get("/console/assets/index-abc.js")).bytes.equals(Buffer.from(script))).toBe(true);
      // As copies they would take 500 times 5.6 MB, and four times that.
      expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
    } finally {
      for (const socket of sockets) socket.resetAndDestroy();
    }
  }, 120_000);
});

/** Invalid builds, each in its own folder. */
const broken: readonly (readonly [string, (dist: string) => void])[] = [
  ["nothing", () => {}],
  ["a file in place of the folder", (dist) => writeFileSync(dist, "")],
  ["an empty page", (dist) => writeIn(dist, { "index.html": "" })],
  ["a folder in place of the page", (dist) => mkdirSync(join(dist, "index.html"), { recursive: true })],
  ["files without a page", (dist) => writeIn(dist, { "assets/index-abc.js": script })],
  [
    "a page without its script",
    (dist) => writeIn(dist, { "index.html": '<script type="module" src="/console/assets/index-xyz.js"></script>' }),
  ],
  [
    "a page without its style",
    (dist) =>
      writeIn(dist, {
        "index.html": '<script src="/console/assets/a.js"></script><link href="/console/assets/a.css">',
        "assets/a.js": "1",
      }),
  ],
];

function writeIn(dist: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(dist, "assets"), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dist, name), text);
}

describe.each(broken)("with %s in place of a build", (_name, write) => {
  it("serves the API, and explains on every console path why there is no console", async () => {
    const consoleFolder = mkdtempSync(join(folder, "broken-"));
    rmSync(consoleFolder, { recursive: true });
    write(consoleFolder);
    await stack.gateway.stop();
    await stack.gateway.start({ consoleFolder });
    for (const path of ["/console", "/console/w/presets", "/console/assets/index-abc.js"]) {
      const { status, headers, bytes } = await get(path);
      expect([status, headers["content-type"], headers["cache-control"]]).toEqual([
        503,
        "text/html; charset=utf-8",
        "no-store",
      ]);
      expect(headers["content-security-policy"]).toContain("default-src 'none'");
      expect(bytes.toString()).toContain("<code>npm run build:console</code>");
    }
    expect((await stack.create("without-console")).status).toBe(200);
  });
});
