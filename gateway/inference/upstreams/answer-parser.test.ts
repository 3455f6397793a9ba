import { describe, expect, it } from "vitest";
import { MalformedAnswer } from "./answer-head.ts";
import { AnswerParser } from "./answer-parser.ts";

const ok = "HTTP/1.1 200 OK\r\n";
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;

function parsed(text: string, stepBytes = Number.POSITIVE_INFINITY) {
  const parser = new AnswerParser();
  const bytes = Buffer.from(text, "latin1");
  let body = "";
  for (let at = 0; at < bytes.length && !parser.fault; at += stepBytes) {
    // A copy, so that the result cannot be a part of the input.
    const step = Buffer.from(bytes.subarray(at, Math.min(bytes.length, at + stepBytes)));
    const piece = parser.read(step);
    step.fill(0);
    body += piece?.toString("latin1") ?? "";
  }
  const { head, isComplete, fault } = parser;
  return { status: head?.status, headers: { ...head?.headers }, idleMs: head?.idleMs, body, isComplete, fault, parser };
}

const steps = [Number.POSITIVE_INFINITY, 1, 2, 3, 7, 16];

describe.each(steps)("an answer read %d bytes at a time", (step) => {
  it.each([
    ["with content-length", `${ok}Content-Length: 5\r\n\r\nhello`, "hello"],
    ["with content-length 0", `${ok}content-length: 0\r\n\r\n`, ""],
    ["in chunks", `${chunked}5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`, "hello world"],
    [
      "in chunks with sizes in any notation",
      `${chunked}A\r\n0123456789\r\n00a\r\n0123456789\r\n000\r\n\r\n`,
      "01234567890123456789",
    ],
    ["in chunks with extensions", `${chunked}5;a=1;b="x y"\r\nhello\r\n0;last\r\n\r\n`, "hello"],
    ["in chunks with trailers", `${chunked}5\r\nhello\r\n0\r\nx-a: 1\r\nx-b:\r\n\r\n`, "hello"],
    ["in chunks that contain what looks like their end", `${chunked}7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n`, "\r\n0\r\n\r\n"],
    [
      "after interim answers",
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: <a>\r\n\r\n${ok}content-length: 2\r\n\r\n{}`,
      "{}",
    ],
    ["without a reason phrase", "HTTP/1.1 200\r\ncontent-length: 2\r\n\r\n{}", "{}"],
    ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", ""],
    ["without a body despite a content-length", "HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n", ""],
  ])("is read to its end: %s", (_name, text, body) => {
    expect(parsed(text, step)).toMatchObject({ body, isComplete: true, fault: undefined });
    // It does not end before its last byte.
    expect(parsed(text.slice(0, -1), step)).toMatchObject({ isComplete: false, fault: undefined });
  });

  it("has lower-case header names, verbatim values and lists for repeated names", () => {
    const { headers, parser } = parsed(
      `${ok}X-A:  b c\t \r\nx-a: é\xa0\r\nX-a:\r\n__proto__: p\r\ncontent-length: 0\r\n\r\n`,
      step,
    );
    expect(headers["x-a"]).toEqual(["b c", "é\xa0", ""]);
    expect(Object.entries(parser.head?.headers ?? {})).toContainEqual(["__proto__", "p"]);
  });

  it("without a length ends with its connection", () => {
    const { parser, body, isComplete } = parsed(`${ok}\r\nhello`, step);
    expect([body, isComplete, parser.head?.idleMs]).toEqual(["hello", false, 0]);
    parser.end();
    expect(parser.isComplete).toBe(true);
  });

  it.each([
    ["the head", ok],
    ["its content-length", `${ok}content-length: 6\r\n\r\nhello`],
    ["a chunk", `${chunked}6\r\nhello`],
    ["the last chunk", `${chunked}5\r\nhello\r\n`],
  ])("is incomplete if its connection ends before the end of %s", (_name, text) => {
    const { parser } = parsed(text, step);
    parser.end();
    expect(parser.isComplete).toBe(false);
  });

  it.each([
    ["of another protocol", "SSH-2.0-OpenSSH"],
    ["of another version of HTTP", "HTTP/2.0 200 OK\r\n"],
    ["of an unknown version of HTTP", "HTTP/1.2 200 OK\r\n"],
    ["without a status", "HTTP/1.1 OK\r\n"],
    ["with a status of two digits", "HTTP/1.1 20 OK\r\n"],
    ["with a status below 100", "HTTP/1.1 099 OK\r\n"],
    ["with lines that end with LF alone", "HTTP/1.1 200 OK\n"],
    ["with a header that ends with LF alone", `${ok}x: 1\n`],
    ["with CR in a header", `${ok}x: 1\r2\r\n`],
    ["with NUL in a header", `${ok}x: 1\0\r\n`],
    ["with a folded header", `${ok}x: 1\r\n 2\r\n`],
    ["with a header without a colon", `${ok}x\r\n`],
    ["with a header without a name", `${ok}: x\r\n`],
    ["with white space before a colon", `${ok}content-length : 5\r\n`],
    ["with content-length and chunks", `${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`],
    ["with two content-lengths", `${ok}content-length: 5\r\ncontent-length: 6\r\n\r\n`],
    ["with two content-lengths in one header", `${ok}content-length: 5, 6\r\n\r\n`],
    ["with a negative content-length", `${ok}content-length: -1\r\n\r\n`],
    ["with a signed content-length", `${ok}content-length: +1\r\n\r\n`],
    ["with a content-length that is not a number", `${ok}content-length: 0x5\r\n\r\n`],
    ["with an empty content-length", `${ok}content-length:\r\n\r\n`],
    ["with a content-length that is not a safe integer", `${ok}content-length: 99999999999999999999\r\n\r\n`],
    [
      "without a body, with two content-lengths",
      "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\n",
    ],
    [
      "without a body, with a content-length that is not a number",
      "HTTP/1.1 304 Not Modified\r\ncontent-length: 5;a\r\n\r\n",
    ],
    ["with an unsolicited encoding", `${ok}transfer-encoding: gzip, chunked\r\n\r\n`],
    ["with chunks in chunks", `${ok}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n`],
    ["with an encoding that only resembles chunked", `${ok}transfer-encoding: xchunked\r\n\r\n`],
    ["with a chunk without a size", `${chunked}\r\n`],
    ["with an empty chunk size", `${chunked};a=1\r\n`],
    ["with a chunk size that is not a number", `${chunked}5x\r\n`],
    ["with a signed chunk size", `${chunked}-5\r\n`],
    ["with a chunk size with 0x", `${chunked}0x5\r\n`],
    ["with white space after a chunk size", `${chunked}5 \r\n`],
    ["with a size that ends with LF alone", `${chunked}5\n`],
    ["with a size that ends with CR alone", `${chunked}5\rhello`],
    ["with a chunk size that is not a safe integer", `${chunked}${"f".repeat(13)}\r\n`],
    ["with a chunk longer than its size", `${chunked}4\r\nhello\r\n`],
    ["with a chunk that ends with LF alone", `${chunked}5\r\nhello\n`],
    ["with NUL in an extension", `${chunked}5;\0\r\n`],
    ["with LF in an extension", `${chunked}5;a\n`],
    ["with an endless extension", `${chunked}5;${"x".repeat(5_000)}`],
    ["with trailers that are not headers", `${chunked}0\r\nno header\r\n`],
    ["with endless trailers", `${chunked}0\r\n${"x: 1\r\n".repeat(12_000)}`],
    ["with an endless head", `${ok}${"x: 1\r\n".repeat(12_000)}`],
    ["with an endless line", `${ok}x: ${"x".repeat(70_000)}`],
    ["with endless interim answers", "HTTP/1.1 100 Continue\r\n\r\n".repeat(3_000)],
  ])("is rejected: %s", (_name, text) => {
    const { fault, isComplete } = parsed(text, step);
    expect([fault instanceof MalformedAnswer, isComplete]).toEqual([true, false]);
  });
});

it("accepts a head of nearly 64 KiB", () => {
  const text = `${ok}${"x: 1\r\n".repeat(10_900)}content-length: 0\r\n\r\n`;
  expect(text.length).toBeGreaterThan(65_000);
  expect(parsed(text).isComplete).toBe(true);
});

it("rejects a protocol upgrade, but not as malformed", () => {
  const { fault } = parsed("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n");
  expect(fault).toBeInstanceOf(Error);
  expect(fault).not.toBeInstanceOf(MalformedAnswer);
});

it("tells whether anything follows the answer, at once or later", () => {
  const text = `${ok}content-length: 2\r\n\r\n{}`;
  expect(parsed(text).parser.hasMore).toBe(false);
  expect(parsed(`${text}x`).parser.hasMore).toBe(true);
  expect(parsed(`${text}x`, text.length).parser.hasMore).toBe(true);
});

it("passes on everything received at once in one piece, even before an error", () => {
  const parser = new AnswerParser();
  const text = `${chunked}5\r\nhello\r\n6\r\n world\r\nx`;
  expect(parser.read(Buffer.from(text))?.toString()).toBe("hello world");
  expect(parser.fault).toBeInstanceOf(MalformedAnswer);
});

it("reads nothing after an error, because what follows may look like the end", () => {
  const { parser, fault } = parsed(`${chunked}5\r\nhello!`);
  expect(parser.read(Buffer.from("\r\n5\r\nworld\r\n0\r\n\r\n"))).toBeUndefined();
  expect([parser.isComplete, parser.fault === fault]).toEqual([false, true]);
});

it.each([
  ["", 30_000],
  ["connection: keep-alive\r\nkeep-alive: timeout=5, max=100\r\n", 3_000],
  ["keep-alive: max=3; timeout=600\r\n", 30_000],
  ["keep-alive: timeout=1\r\n", 0],
  ["connection: close\r\n", 0],
  ["connection: Keep-Alive, CLOSE\r\n", 0],
  ["connection: x\r\nconnection: close\r\n", 0],
  ["connection: disclose\r\n", 30_000],
])("returns how long the connection may idle: %j", (lines, idleMs) => {
  expect(parsed(`${ok}${lines}content-length: 0\r\n\r\n`).idleMs).toBe(idleMs);
  expect(parsed(`HTTP/1.0 200 OK\r\n${lines}content-length: 0\r\n\r\n`).idleMs).toBe(0);
});
