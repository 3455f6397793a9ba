import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ConfigError } from "../../services/platform/process/environment.ts";
import {
  answerWith,
  chunkOf,
  HostileUpstream,
  headOf,
  lastChunk,
  silence,
  streamOf,
} from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

let upstream: HostileUpstream;
let stack: InferenceStack;
const soon = { interval: 100 };

const secret = "sk-upstream-secret-1";
const entry = (name: string, more: object = {}) => entryOf(upstream, { name, models: [`${name}/*`], ...more });

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack({ upstreams: [entry("one")] });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
});

beforeEach(() => upstream.reset());

/** Hooks have no `expect.poll`. */
function becomes(read: () => Promise<number>, expected: number): Promise<void> {
  return vi.waitFor(async () => expect(await read()).toBe(expected), { timeout: 30_000, ...soon });
}

async function useOne(): Promise<void> {
  await stack.file.write({ upstreams: [entry("one")] });
  await becomes(() => statusOf("one/x"), 200);
  await becomes(fault, 0);
  upstream.received.length = 0;
}

const statusOf = async (model: string) => (await stack.send("chat/completions", { model })).status;
const fault = () => stack.metric("setpoint_upstreams_file_fault");

describe("the upstreams file", () => {
  beforeEach(useOne);

  it("is reloaded when it changes, without affecting requests in progress", async () => {
    upstream.script = silence;
    const held = stack.send("chat/completions", { model: "one/x" });
    await expect.poll(() => upstream.received.length).toBe(1);
    const { last } = upstream;
    upstream.reset();
    await stack.file.write({ upstreams: [entry("two", { base_url: `${upstream.url}/2` })] });
    await expect.poll(() => statusOf("two/x"), soon).toBe(200);
    expect(await statusOf("one/x")).toBe(404);
    last.socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
    expect((await held).status).toBe(200);
  });

  it("can change without preventing the retry of a request in progress", async () => {
    upstream.script = silence;
    const held = stack.send("chat/completions", { model: "one/x" });
    await expect.poll(() => upstream.received.length).toBe(1);
    const { last } = upstream;
    upstream.reset();
    await stack.file.write({ upstreams: [entry("two")] });
    await expect.poll(() => statusOf("one/x"), soon).toBe(404);
    upstream.received.length = 0;
    await answerWith(429, "{}", { "retry-after": "0" })(last, last.socket);
    expect((await held).status).toBe(200);
    expect(upstream.received).toHaveLength(1);
    await expect.poll(() => upstream.openConnections, soon).toBe(0);
  });

  it("can change without ending the reuse of connections to an upstream that stays", async () => {
    await stack.file.write({ upstreams: [entry("one"), entry("two")] });
    await expect.poll(() => statusOf("two/x"), soon).toBe(200);
    for (let n = 0; n < 2; n += 1) expect(await statusOf("one/x")).toBe(200);
    expect(upstream.last.earlierOnConnection).toBeGreaterThan(0);
  });

  it("is reloaded when a symlink above it is swapped, as Kubernetes does", async () => {
    const folder = (name: string) => stack.file.beside(name);
    for (const name of ["one", "two"]) {
      await mkdir(folder(`..${name}`), { recursive: true });
      await writeFile(folder(`..${name}/upstreams.json`), JSON.stringify({ upstreams: [entry(name)] }));
    }
    await rm(folder("..data"), { force: true });
    await symlink("..one", folder("..data"));
    await unlink(stack.file.path);
    await symlink("..data/upstreams.json", stack.file.path);
    await expect.poll(() => statusOf("one/x"), soon).toBe(200);
    await symlink("..two", folder("..data_tmp"));
    await rename(folder("..data_tmp"), folder("..data"));
    await expect.poll(() => statusOf("two/x"), soon).toBe(200);
  });

  it.each([
    ["is not JSON", `{"upstreams": "${secret}`],
    ["has an unknown field", () => ({ upstreams: [entry("one", { api_key: secret })] })],
    ["has a secret in its URL", () => ({ upstreams: [entry("one", { base_url: `http://user:${secret}@127.0.0.1` })] })],
    ["names a variable that is not set", () => ({ upstreams: [entry("one", { credential: { env: "NOT_THERE" } })] })],
    ["is empty", ""],
  ])("that %s changes nothing, and is reported in the log and the metrics", async (_name, content) => {
    const before = stack.log().length;
    await stack.file.write(typeof content === "function" ? content() : content);
    await expect.poll(fault, soon).toBe(1);
    expect(await statusOf("one/x")).toBe(200);
    const log = stack.log().slice(before);
    expect(log).toContain("the upstreams file cannot be used");
    expect(log).not.toContain(secret);
    expect(await (await fetch(stack.metricsUrl)).text()).not.toContain(secret);
  });

  it("can be deleted after it was read", async () => {
    await unlink(stack.file.path);
    await expect.poll(fault, soon).toBe(1);
    expect(await statusOf("one/x")).toBe(200);
  });

  it("that is invalid at startup keeps the gateway from starting, and says why", async () => {
    const refused = await startInferenceStack({
      upstreams: [{ name: "One", dialects: ["chat"], models: [], base_url: "ftp://x" }],
    }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConfigError);
    const { message } = refused as Error;
    expect(message).toContain("UPSTREAMS_FILE");
    expect(message).toContain("upstreams[0].name must be lower-case letters");
    expect(message).toContain("upstreams[0].dialects[0] must be one of chat/completions, messages, responses");
    expect(message).toContain("upstreams[0].models must have at least 1 element");
  });
});

describe("a gateway with an invalid upstreams file", () => {
  it.each([
    [
      "an unknown field",
      () => ({ upstreams: [entry("one", { api_key: secret })] }),
      "upstreams[0].api_key is not a known field",
    ],
    ["nothing in it", () => "", "must be a JSON object"],
  ])("with %s exits with 78 and logs what to write", async (_name, content, said) => {
    await stack.file.write(content());
    const environment = { ...process.env, UPSTREAMS_FILE: stack.file.path, PORT: "0", METRICS_PORT: "0" };
    const gateway = promisify(execFile)(process.execPath, ["gateway/main.ts", "serve"], { env: environment });
    const ended = await gateway.catch((error: unknown) => error);
    expect(ended).toMatchObject({
      code: 78,
      stdout: expect.stringContaining(said),
    });
    expect(JSON.stringify(ended)).not.toContain(secret);
  });
});

describe("a credential", () => {
  it("is read from its file, and again when that changes", async () => {
    const file = stack.file.beside("key");
    await writeFile(file, `${secret}\n`);
    await stack.file.write({ upstreams: [entry("keyed", { credential: { header: "x-api-key", file } })] });
    await expect.poll(() => statusOf("keyed/x"), soon).toBe(200);
    expect(upstream.last.headers["x-api-key"]).toBe(secret);
    await writeFile(file, "second-secret");
    const shown = async () => {
      await statusOf("keyed/x");
      return upstream.last.headers["x-api-key"];
    };
    await expect.poll(shown, soon).toBe("second-secret");
    // Half-written or missing: the last valid one is kept.
    await writeFile(file, "");
    await expect.poll(fault, soon).toBe(1);
    expect(await shown()).toBe("second-secret");
    expect(stack.log()).not.toMatch(/sk-upstream-secret|second-secret/);
  });

  it("is renewed even while the table, or the credential of another upstream, is faulty", async () => {
    await useOne();
    const [file, other] = [stack.file.beside("key"), stack.file.beside("other-key")];
    await Promise.all([writeFile(file, "first"), writeFile(other, "other")]);
    const upstreams = [entry("other", { credential: { file: other } }), entry("keyed", { credential: { file } })];
    await stack.file.write({ upstreams });
    const sent = async () => {
      const status = await statusOf("keyed/x");
      return status === 200 ? upstream.last.headers.authorization : status;
    };
    await expect.poll(sent, soon).toBe("Bearer first");
    await unlink(other);
    await expect.poll(fault, soon).toBe(1);
    await writeFile(file, "second");
    await expect.poll(sent, soon).toBe("Bearer second");
    await writeFile(other, "other");
    await expect.poll(fault, soon).toBe(0);
    await stack.file.write("{");
    await expect.poll(fault, soon).toBe(1);
    await writeFile(file, "third");
    await expect.poll(sent, soon).toBe("Bearer third");
  });

  it.each(['"', "'"])("is not used with %s around it, which its upstream would refuse and show", async (quote) => {
    await useOne();
    const file = stack.file.beside("key");
    await writeFile(file, `${quote}${secret}${quote}\n`);
    await stack.file.write({ upstreams: [entry("keyed", { credential: { file } })] });
    await expect.poll(fault, soon).toBe(1);
    expect(stack.log()).toContain(`cannot be sent: the file ${file} must hold no quotes around it`);
    expect(stack.log()).not.toContain(secret);
  });

  async function useKeyed(): Promise<void> {
    // So that what is read next is not an older one.
    await useOne();
    const file = stack.file.beside("key");
    await writeFile(file, secret);
    await stack.file.write({ upstreams: [entry("keyed", { credential: { file } })] });
    await becomes(() => statusOf("keyed/x"), 200);
  }

  describe("repeated by its upstream", () => {
    beforeAll(useKeyed);

    it("is masked in an error answer", async () => {
      upstream.script = answerWith(401, `{"error":"${secret} is wrong: ${secret}"}`);
      const answer = await stack.send("chat/completions", { model: "keyed/x" });
      const stars = "*".repeat(secret.length);
      expect([answer.status, await answer.text()]).toEqual([401, `{"error":"${stars} is wrong: ${stars}"}`]);
    });

    it("is masked in a successful answer and its headers", async () => {
      const stars = "*".repeat(secret.length);
      upstream.script = answerWith(200, `{"you_sent":"${secret}"}`, {
        "content-type": `application/json; x="${secret}"`,
        "openai-organization": secret,
        "x-ratelimit-a": `${secret}, ${secret}`,
      });
      const answer = await stack.send("chat/completions", { model: "keyed/x" });
      expect([answer.status, await answer.text()]).toEqual([200, `{"you_sent":"${stars}"}`]);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        "content-type": `application/json; x="${stars}"`,
        "openai-organization": stars,
        "x-ratelimit-a": `${stars}, ${stars}`,
      });
      const event = `data: {"model":"${secret}","choices":[]}\n\n`;
      upstream.script = streamOf([event, event.slice(0, 25), event.slice(25), "data: [DONE]\n\n"]);
      const streamed = await stack.send("chat/completions", { model: "keyed/x", stream: true });
      const shown = event.replace(secret, stars);
      expect(await streamed.text()).toBe(`${shown}${shown}data: [DONE]\n\n`);
    });

    it("may be begun at the end of an answer, which then is passed on whole", async () => {
      const text = `"${secret.slice(0, 9)}`;
      upstream.script = answerWith(200, text);
      expect(await (await stack.send("chat/completions", { model: "keyed/x" })).text()).toBe(text);
      upstream.script = streamOf([text]);
      expect(await (await stack.send("chat/completions", { model: "keyed/x", stream: true })).text()).toBe(text);
    });

    it("is masked in a compressed error", async () => {
      for (const [encoding, compress] of [
        ["gzip", gzipSync],
        ["deflate", deflateSync],
        ["deflate", deflateRawSync],
        ["br", brotliCompressSync],
        ["zstd", zstdCompressSync],
        ["br, GZIP", (text: string) => gzipSync(brotliCompressSync(text))],
        ["gzip,identity", gzipSync],
      ] as const) {
        upstream.script = answerWith(401, compress(`{"error":"${secret} is wrong"}`), { "content-encoding": encoding });
        const answer = await stack.send("chat/completions", { model: "keyed/x" });
        const text = `{"error":"${"*".repeat(secret.length)} is wrong"}`;
        expect([answer.status, answer.headers.get("content-encoding"), await answer.text()]).toEqual([401, null, text]);
      }
    });

    it("leaves only the status of a compressed error that is empty, corrupt or too large", async () => {
      for (const body of ["", "{}", gzipSync("x".repeat(2 * 1024 * 1024)), randomBytes(70_000)]) {
        upstream.script = answerWith(401, body, { "content-encoding": "gzip" });
        const answer = await stack.send("chat/completions", { model: "keyed/x" });
        expect([answer.status, await answer.text()]).toEqual([401, ""]);
      }
    });

    it("is masked in an error that arrives in pieces", async () => {
      const text = `{"error":"${secret} is wrong: ${secret.slice(0, 9)}, ${secret}`;
      for (const type of ["application/json", "text/event-stream"]) {
        upstream.script = async (_request, socket) => {
          socket.write(headOf(401, { "content-type": type, "transfer-encoding": "chunked" }));
          for (let at = 0; at < text.length; at += 7) {
            await new Promise((resolve) => socket.write(chunkOf(text.slice(at, at + 7)), resolve));
            await sleep(5);
          }
          socket.write(lastChunk);
        };
        const answer = await stack.send("chat/completions", { model: "keyed/x" });
        expect(await answer.text()).toBe(text.replaceAll(secret, "*".repeat(secret.length)));
      }
    });
  });

  it("that the table itself holds in a header or in an address is masked, but not other headers", async () => {
    await useOne();
    const [inHeader, inAddress] = [`${secret}-in-header`, `${secret}-in-address`];
    const headers = { Authorization: `Bearer ${inHeader}`, "x-auth-type": "some-type-of-authorization" };
    const base_url = `${upstream.url}?key=${inAddress}`;
    await stack.file.write({ upstreams: [entry("keyed", { base_url, headers })] });
    await becomes(() => statusOf("keyed/x"), 200);
    upstream.script = (request, socket) => {
      const { authorization, "x-auth-type": type } = request.headers;
      const sent = `${authorization} ${request.requestLine} ${type}`;
      return answerWith(401, sent, { "openai-organization": sent })(request, socket);
    };
    const answer = await stack.send("chat/completions", { model: "keyed/x" });
    const [stars, others] = [inHeader, inAddress].map((each) => "*".repeat(each.length));
    const shown = `Bearer ${stars} POST /v1/chat/completions?key=${others} HTTP/1.1 some-type-of-authorization`;
    expect([await answer.text(), answer.headers.get("openai-organization")]).toEqual([shown, shown]);
  });

  it("that JSON escapes is masked in an error", async () => {
    await useOne();
    const file = stack.file.beside("key");
    await writeFile(file, 'with-"a-quote"-and-a-\\');
    await stack.file.write({ upstreams: [entry("keyed", { credential: { header: "x-api-key", file } })] });
    await becomes(() => statusOf("keyed/x"), 200);
    upstream.script = (request, socket) =>
      answerWith(401, JSON.stringify({ error: request.headers["x-api-key"] }))(request, socket);
    const answer = await stack.send("chat/completions", { model: "keyed/x" });
    expect(await answer.json()).toEqual({ error: "*".repeat(25) });
  });

  it("is masked in an answer that arrives after it was replaced", async () => {
    await useKeyed();
    upstream.next.push(silence);
    const { length } = upstream.received;
    const answer = stack.send("chat/completions", { model: "keyed/x" });
    await expect.poll(() => upstream.received.length).toBe(length + 1);
    const waiting = upstream.last;
    await writeFile(stack.file.beside("key"), "the-secret-that-comes-after-it");
    const shown = async () => {
      await statusOf("keyed/x");
      return upstream.last.headers.authorization;
    };
    await expect.poll(shown, soon).toBe("Bearer the-secret-that-comes-after-it");
    await answerWith(401, `{"error":"${secret} has ended"}`)(waiting, waiting.socket);
    expect(await (await answer).text()).toBe(`{"error":"${"*".repeat(secret.length)} has ended"}`);
  });
});

describe("a request that no upstream serves", () => {
  beforeEach(useOne);

  it("returns 404: another model, another dialect", async () => {
    await stack.file.write({ upstreams: [entry("one", { dialects: ["messages"] })] });
    await expect.poll(() => statusOf("one/x"), soon).toBe(404);
    const answer = await stack.send("chat/completions", { model: "one/x" });
    const message =
      "No upstream serves the model one/x in chat/completions. It is served only in messages; requests are not translated.";
    expect(await answer.json()).toMatchObject({ error: { code: 404, message } });
    expect((await stack.send("messages", { model: "one/x" })).status).toBe(200);
    const other = await stack.send("messages", { model: "other" });
    expect(await other.json()).toMatchObject({
      error: {
        type: "not_found_error",
        message: "No upstream serves the model other in messages. GET /api/v1/models lists what there is.",
      },
    });
  });

  it("says so if there are no upstreams at all", async () => {
    await stack.file.write({ upstreams: [] });
    await expect.poll(() => statusOf("one/x"), soon).toBe(404);
    const answer = await stack.send("chat/completions", { model: "one/x" });
    expect(await answer.text()).toContain("UPSTREAMS_FILE");
  });
});
