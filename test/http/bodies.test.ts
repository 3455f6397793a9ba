import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { jsonType } from "../support/patterns.ts";
import { RawConnection } from "../support/raw-connection.ts";
import { type Answer, requestRaw } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

const mebibyte = 1024 * 1024;
const bodyBytesMax = 10 * mebibyte;
const good = '{"messages":[]}';

let stack: Stack;

beforeAll(async () => {
  // Bodies of the maximum size follow one another, and one may be released only after the next has arrived.
  stack = await startStack({ gateway: { inFlightBytesMax: 512 * 1024 * 1024 } });
});

afterAll(() => stack.close());

/** Expects an error that stores nothing, and returns its issues. */
async function refused(answer: Promise<Answer>, status: number) {
  const { headers, json, ...got } = await answer;
  expect(got.status, got.text).toBe(status);
  expect(headers.get("content-type")).toMatch(jsonType);
  expect(json.error).toMatchObject({ code: status, message: expect.stringMatching(/\w/) });
  expect(json.error.metadata.request_id).toBe(headers.get("x-request-id"));
  const [rows] = await stack.presetPool.query<RowDataPacket[]>("SELECT slug FROM presets WHERE slug = 'refused'");
  expect(rows).toEqual([]);
  return json.error.metadata.issues;
}

/** JSON text nested this deep, including the outermost object. */
function nested(depth: number): string {
  return `{"messages":[],"provider":${'{"a":'.repeat(depth - 2)}{}${"}".repeat(depth - 2)}}`;
}

/** A valid body of exactly this many bytes, most of them in a field that is not stored. */
function bodyOf(bytes: number): string {
  const frame = '{"messages":[{"role":"user","content":""}]}';
  return frame.replace('""', `"${"x".repeat(bytes - frame.length)}"`);
}

describe("a request body", () => {
  it.each([
    ["white space around and inside", ' \r\n{\t"messages" : [ ] }\n'],
    ["a byte order mark", '\uFEFF{"messages":[]}'],
    ["64 levels", nested(64)],
    ["a duplicate key, of which the last wins", '{"messages":1,"messages":[]}'],
    ["unknown fields", '{"messages":[],"no_such_field":{"a":[1]}}'],
    ["null fields, which count as not sent", '{"messages":[],"temperature":null,"stop":null}'],
  ])("is accepted with %s", async (_name, body) => {
    const { status, text } = await stack.create("taken", body);
    expect(status, text).toBe(200);
  });

  it.each([
    ["nothing", ""],
    ["only white space", "  \n"],
    ["broken JSON", '{"messages":[}'],
    ["JSON that ends early", '{"messages":['],
    ["more than one value", "{}{}"],
    ["a trailing comma", '{"messages":[],}'],
    ["single quotes", "{'messages':[]}"],
    ["NaN", '{"messages":[],"temperature":NaN}'],
    ["a comment", '{"messages":[] /* none */}'],
    ["null", "null"],
    ["a list", "[]"],
    ["a string", '"{}"'],
    ["a number", "1"],
    ["two byte order marks", "\uFEFF\uFEFF{}"],
    ["65 levels", nested(65)],
    ["a million open brackets", "[".repeat(1_000_000)],
    ["invalid UTF-8", Buffer.from('{"messages":[],"model":"\xff"}', "latin1")],
    ["UTF-16", Buffer.from(good, "utf16le")],
  ])("with %s returns 400 with an issue for the whole body", async (_name, body) => {
    expect(await refused(stack.create("refused", body), 400)).toMatchObject([{ path: "" }]);
  });

  it("that is missing returns 400", async () => {
    const headers = { authorization: `Bearer ${stack.apiKey}` };
    const path = "/api/v1/presets/refused/responses";
    await refused(requestRaw("POST", stack.baseUrl, path, { headers }), 400);
    const withType = { ...headers, "content-type": "application/json" };
    await refused(requestRaw("POST", stack.baseUrl, path, { headers: withType }), 400);
  });

  it("has all violations reported at once, each with its path", async () => {
    const body = `{
      "model": "@preset/other", "temperature": 2.5, "top_p": "1", "frequency_penalty": -2.1, "stop": ["a","b","c","d","e"],
      "seed": 9007199254740993, "metadata": {"k": 1}, "session_id": "${"x".repeat(257)}", "stream": "yes",
      "messages": [{"role": "system", "content": [{"type": "image_url"}]}, {"content": "no role"}]
    }`;
    const issues = await refused(stack.create("refused", body), 400);
    expect(issues?.map(({ path }) => path).sort()).toEqual([
      "frequency_penalty",
      "messages[0].content[0]",
      "messages[1].role",
      "metadata.k",
      "model",
      "seed",
      "session_id",
      "stop",
      "stream",
      "temperature",
      "top_p",
    ]);
    expect(issues).toContainEqual({ path: "temperature", message: "must be at most 2" });
  });

  it.each([
    ["chat/completions", "{}", ["messages"]],
    ["chat/completions", '{"messages":null}', ["messages"]],
    ["messages", "{}", ["messages", "model"]],
    ["messages", '{"messages":[],"model":null}', ["model"]],
  ] as const)("for %s with the content %s is reported to lack %j", async (dialect, body, paths) => {
    const issues = await refused(stack.create("refused", body, { dialect }), 400);
    expect(issues?.map(({ path }) => path)).toEqual(paths);
  });

  it.each([
    ["config", (bytes: number) => `{"messages":[],"model":"${"x".repeat(bytes - '{"model":""}'.length)}"}`],
    ["system_prompt", (bytes: number) => `{"messages":[{"role":"system","content":"${"x".repeat(bytes)}"}]}`],
  ] as const)("accepts a %s of 1 MiB and not a byte more", async (path, bodyFor) => {
    const { status, text } = await stack.create(`large-${path}`, bodyFor(mebibyte));
    expect(status).toBe(200);
    expect(text.length).toBeGreaterThan(mebibyte);
    const issues = await refused(stack.create("refused", bodyFor(mebibyte + 1)), 400);
    expect(issues).toMatchObject([{ path, message: expect.stringContaining("1048576 bytes") }]);
  });
});

describe("a body of the maximum size", () => {
  it("is accepted", async () => {
    expect((await stack.create("largest", bodyOf(bodyBytesMax))).status).toBe(200);
    const chunked = await requestRaw("POST", stack.baseUrl, "/api/v1/presets/largest/chat/completions", {
      headers: { authorization: `Bearer ${stack.apiKey}`, "content-type": "application/json" },
      chunks: [bodyOf(bodyBytesMax)],
    });
    expect(chunked.status).toBe(200);
  });

  it.each([
    ["one byte", bodyBytesMax + 1],
    ["20 MiB", bodyBytesMax + 20 * mebibyte],
  ])("plus %s returns 413, and the client can read the answer", async (_name, bytes) => {
    const body = bodyOf(bytes);
    const headers = { authorization: `Bearer ${stack.apiKey}`, "content-type": "application/json" };
    const path = "/api/v1/presets/refused/chat/completions";
    await refused(stack.create("refused", body), 413);
    expect((await stack.create("refused", body)).json.error.message).toBe(
      `The body is too large. Send one of at most ${bodyBytesMax} bytes.`,
    );
    const length = { ...headers, "content-length": String(bytes) };
    await refused(requestRaw("POST", stack.baseUrl, path, { headers: length, chunks: [body] }), 413);
    await refused(requestRaw("POST", stack.baseUrl, path, { headers, chunks: [body] }), 413);
  });

  describe.each(["close", "keep-alive"])(
    "exceeded by a client that reads only after sending everything, connection: %s",
    (connection) => {
      it.each([
        ["a content-length", `content-length: ${30 * mebibyte}`, Array(30).fill("x".repeat(mebibyte))],
        [
          "chunked encoding",
          "transfer-encoding: chunked",
          [...Array(30).fill(`100000\r\n${"x".repeat(mebibyte)}\r\n`), "0\r\n\r\n"],
        ],
      ])("returns 413 with %s, and 401 with a bad key", async (_name, length, body) => {
        for (const [key, status] of [
          [stack.apiKey, 413],
          ["wrong", 401],
        ] as const) {
          const head = [
            "POST /api/v1/presets/refused/chat/completions HTTP/1.1",
            "host: localhost",
            `authorization: Bearer ${key}`,
            "content-type: application/json",
            `connection: ${connection}`,
            length,
          ];
          const socket = connect(stack.gateway.config.port, "127.0.0.1");
          socket.on("error", () => {});
          for (const part of [`${head.join("\r\n")}\r\n\r\n`, ...body]) await write(socket, part);
          const [answer] = await once(socket.setEncoding("utf8"), "data");
          expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} .*"code":${status}`, "s"));
          socket.destroy();
        }
      });
    },
  );

  function write(socket: Socket, text: string): Promise<void> {
    return new Promise((resolve, reject) => socket.write(text, (error) => (error ? reject(error) : resolve())));
  }
});

describe("a content type", () => {
  it.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "Application/JSON",
  ])("accepts %s", async (type) => {
    const { status, text } = await stack.create("typed", good, { headers: { "content-type": type } });
    expect(status, text).toBe(200);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonl",
    "application/json-patch+json",
    "application/vnd.api+json",
    "text/json",
    "json",
    "*/*",
  ])("%s returns 415", async (type) => {
    await refused(stack.create("refused", good, { headers: { "content-type": type } }), 415);
  });

  it("that is missing returns 415", async () => {
    const headers = { authorization: `Bearer ${stack.apiKey}` };
    const path = "/api/v1/presets/refused/chat/completions";
    await refused(requestRaw("POST", stack.baseUrl, path, { headers, chunks: [good] }), 415);
  });
});

describe("a content encoding", () => {
  it.each([
    ["gzip", gzipSync(good)],
    ["gzip", good],
    ["deflate", good],
    ["br", good],
  ])("%s returns 415", async (encoding, body) => {
    await refused(stack.create("refused", body, { headers: { "content-encoding": encoding } }), 415);
  });

  it("accepts identity", async () => {
    const { status } = await stack.create("plain", good, { headers: { "content-encoding": "identity" } });
    expect(status).toBe(200);
  });
});

describe("a transfer encoding", () => {
  const send = (encoding: string, path: string) =>
    requestRaw("POST", stack.baseUrl, `/api/v1${path}`, {
      headers: {
        authorization: `Bearer ${stack.apiKey}`,
        "content-type": "application/json",
        "transfer-encoding": encoding,
      },
      chunks: [good],
    });

  it.each(["gzip, chunked", "deflate, chunked", "identity, chunked"])(
    "%s returns 400, for presets and for inference",
    async (encoding) => {
      const issues = [{ path: "Transfer-Encoding", message: "must be `chunked`, or not be given" }];
      expect(await refused(send(encoding, "/presets/refused/chat/completions"), 400)).toEqual(issues);
      expect(await refused(send(encoding, "/chat/completions"), 400)).toEqual(issues);
    },
  );

  it.each(["identity", "gzip", "gzip, chunked"])("%s ends the connection, and the answer says so", async (encoding) => {
    const connection = await RawConnection.open(stack.baseUrl);
    const end = encoding.endsWith("chunked") ? "0\r\n\r\n" : good;
    connection.send(`GET /api/v1/key HTTP/1.1\r\nhost: x\r\ntransfer-encoding: ${encoding}\r\n\r\n${end}`);
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 400 .+\r\nconnection: close\r\n/is);
  });

  it("accepts chunked in any case", async () => {
    expect((await send("Chunked", "/presets/plain/chat/completions")).status).toBe(200);
  });
});
