/** By lower-case name. A header that came several times has a list of its values. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The answer is not HTTP/1.1, or its end is ambiguous. The message says what is wrong, and repeats nothing that came.
 */
export class MalformedAnswer extends Error {}

/** The head of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** In bytes. Infinite if the body ends with the connection. */
  readonly bodyLength: number | "chunked";
  /** How long its connection may be kept for another request; 0 if it may not. */
  readonly idleMs: number;
}

const statusLinePattern = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** Without white space before the name or the colon, which parsers treat differently. */
const headerLinePattern = /^[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*$/;
const closing = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const idleHint = /(?:^|[,;])[\t ]*timeout=(\d{1,9})/i;

/** Also if an upstream does not say how long: most close idle connections after a minute. */
const idleMsMax = 30_000;
/** So that no request is on its way when the upstream closes the connection. */
const idleMarginMs = 2_000;

/** Whether an answer may begin with this text, which may be incomplete. */
export function beginsAnswer(text: string): boolean {
  return "HTTP/1.".startsWith(text.slice(0, "HTTP/1.".length));
}

/** Adds the header of one line. */
export function addHeader(headers: Record<string, string | string[] | undefined>, line: string): void {
  if (!headerLinePattern.test(line)) fail("a line that is no header");
  const colon = line.indexOf(":");
  const key = line.slice(0, colon).toLowerCase();
  const value = trimmed(line, colon + 1);
  const before = headers[key];
  if (before === undefined) headers[key] = value;
  else if (typeof before === "string") headers[key] = [before, value];
  else before.push(value);
}

/**
 * The rest of the line without surrounding white space. `trim` would also remove 0xa0, with which many letters of UTF-8
 * end.
 */
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

/** What the first line of a head says. */
export interface StatusLine {
  readonly status: number;
  /** Whether the connection may stay open: with HTTP/1.0 it may not. */
  readonly isKeepAliveDefault: boolean;
}

export function readStatusLine(line: string): StatusLine {
  if (!statusLinePattern.test(line)) fail("a first line without a status");
  const minorAt = "HTTP/1.".length;
  return { status: Number(line.slice(minorAt + 2, minorAt + 5)), isKeepAliveDefault: line[minorAt] === "1" };
}

export function answerHead(status: number, isKeepAliveDefault: boolean, headers: AnswerHeaders): AnswerHead {
  const bodyLength = bodyLengthOf(status, headers);
  const isLast =
    !isKeepAliveDefault || bodyLength === Number.POSITIVE_INFINITY || closing.test(joined(headers.connection));
  return { status, headers, bodyLength, idleMs: isLast ? 0 : idleMsOf(headers) };
}

function bodyLengthOf(status: number, headers: AnswerHeaders): number | "chunked" {
  // Looked at in any case: a length is passed on even of an answer that has no body.
  const declared = declaredLength(headers);
  return status === 204 || status === 304 ? 0 : declared;
}

function declaredLength({
  "transfer-encoding": encoding,
  "content-length": length,
}: AnswerHeaders): number | "chunked" {
  if (encoding !== undefined && length !== undefined) fail("a length beside a transfer encoding");
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
