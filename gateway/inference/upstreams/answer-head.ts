/** By lower-case name; of a header that is there several times, its values in turn. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What came is not HTTP/1.1, or not so that its end is certain. It tells what is wrong, and nothing that was sent. */
export class MalformedAnswer extends Error {}

/** The head of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** In bytes; infinite where the body ends with its connection. */
  readonly bodyLength: number | "chunked";
  /** For how long its connection may wait for another request; 0 where it may not. */
  readonly idleMs: number;
}

const statusLine = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** No white space ahead of the colon or of the line: it is read in different ways. */
const headerLine = /^[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*$/;
const closing = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const idleHint = /(?:^|[,;])[\t ]*timeout=(\d{1,9})/i;

/** Where an upstream does not say how long: most close their side after a minute. */
const idleMsMax = 30_000;
/** A request may be on its way when the upstream closes. */
const idleMarginMs = 2_000;

/** The beginning of every answer, as far as a text has it. */
export function beginsAnswer(text: string): boolean {
  return "HTTP/1.".startsWith(text.slice(0, "HTTP/1.".length));
}

/** Adds the header that a line is. */
export function addHeader(headers: Record<string, string | string[] | undefined>, line: string): void {
  if (!headerLine.test(line)) fail("a line that is no header");
  const colon = line.indexOf(":");
  const key = line.slice(0, colon).toLowerCase();
  const value = trimmed(line, colon + 1);
  const before = headers[key];
  if (before === undefined) headers[key] = value;
  else if (typeof before === "string") headers[key] = [before, value];
  else before.push(value);
}

/** What stands from there on. Not by `trim`: that also takes 0xa0, with which many a letter of UTF-8 ends. */
function trimmed(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isSpace(line.charCodeAt(start))) start += 1;
  while (end > start && isSpace(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(start, end);
}

function isSpace(character: number): boolean {
  return character === 0x20 || character === 0x09;
}

/** The status that the first line of a head tells, and whether the connection may stay open. */
export function readStatusLine(line: string): { readonly status: number; readonly mayStay: boolean } {
  if (!statusLine.test(line)) fail("a first line without a status");
  const minorAt = "HTTP/1.".length;
  return { status: Number(line.slice(minorAt + 2, minorAt + 5)), mayStay: line[minorAt] === "1" };
}

export function answerHead(status: number, mayStay: boolean, headers: AnswerHeaders): AnswerHead {
  const bodyLength = bodyLengthOf(status, headers);
  const isLast = !mayStay || bodyLength === Number.POSITIVE_INFINITY || closing.test(joined(headers.connection));
  return { status, headers, bodyLength, idleMs: isLast ? 0 : idleMsOf(headers) };
}

function bodyLengthOf(status: number, headers: AnswerHeaders): number | "chunked" {
  const { "transfer-encoding": encoding, "content-length": length } = headers;
  if (encoding !== undefined && length !== undefined) fail("a length beside a transfer encoding");
  if (status === 204 || status === 304) return 0;
  if (encoding !== undefined) {
    return joined(encoding).toLowerCase() === "chunked" ? "chunked" : fail("a transfer encoding that is not known");
  }
  if (length === undefined) return Number.POSITIVE_INFINITY;
  return typeof length === "string" && /^\d{1,15}$/.test(length) ? Number(length) : fail("a length that is no number");
}

function idleMsOf(headers: AnswerHeaders): number {
  const seconds = idleHint.exec(joined(headers["keep-alive"]))?.[1];
  if (seconds === undefined) return idleMsMax;
  return Math.max(0, Math.min(idleMsMax, Number(seconds) * 1_000 - idleMarginMs));
}

function joined(value: string | string[] | undefined): string {
  return typeof value === "string" ? value : (value?.join(", ") ?? "");
}

function fail(what: string): never {
  throw new MalformedAnswer(what);
}
