import { Buffer } from "node:buffer";
import {
  type AnswerHead,
  addHeader,
  answerHead,
  beginsAnswer,
  MalformedAnswer,
  readStatusLine,
} from "./answer-head.ts";

/** The head, with all interim ones ahead of it; and the trailers. */
const headBytesMax = 64 * 1024;
/** What stands behind the size of a chunk, and is of no use. */
const extensionBytesMax = 4 * 1024;
/** 16 to this power is still an exact number. */
const sizeDigitsMax = 12;

const [tab, lineFeed, carriageReturn, space, semicolon, deleteSign] = [0x09, 0x0a, 0x0d, 0x20, 0x3b, 0x7f];

const headEnd = Buffer.from("\r\n\r\n");

type Part = "head" | "body" | "size" | "extension" | "size-end" | "chunk" | "chunk-end" | "chunk-end-2" | "trailers";

/** Reads one answer of HTTP/1.1 to a POST from the bytes of its connection, strictly: no two readers may differ on where it ends. */
export class AnswerParser {
  /** Once it is there. */
  head: AnswerHead | undefined;
  isComplete = false;
  /** Bytes came behind its end. */
  hasMore = false;
  /** Why nothing more can be read. */
  fault: Error | undefined;
  #part: Part = "head";
  /** As far as it has come. */
  #line = "";
  #lineBytes = 0;
  #status: ReturnType<typeof readStatusLine> | undefined;
  // Of no prototype: a header may have any name.
  #headers: Record<string, string | string[] | undefined> = Object.create(null);
  /** Of the body, or of its chunk. */
  #left = 0;
  #sizeDigits = 0;
  #extensionBytes = 0;

  /**
   * Reads what has come, the first `count` bytes. Returns what they have of the body, in one piece of its own: for that,
   * pieces of it are put together in place.
   */
  read(bytes: Buffer, count = bytes.length): Buffer | undefined {
    let bodyAt = 0;
    let bodyEnd = 0;
    let at = 0;
    if (this.fault) return undefined;
    try {
      while (at < count && !this.isComplete) {
        if (this.#part === "body" || this.#part === "chunk") {
          const end = Math.min(count, at + this.#left);
          if (bodyEnd === 0) bodyAt = bodyEnd = at;
          else bytes.copyWithin(bodyEnd, at, end);
          bodyEnd += end - at;
          this.#tookBody(end - at);
          at = end;
        } else if (this.#part === "head" || this.#part === "trailers") {
          at = this.#readWholeHead(bytes, at, count) ?? this.#readLine(bytes, at, count);
        } else {
          this.#readFrame(bytes[at] as number);
          at++;
        }
      }
    } catch (error) {
      this.fault = error as Error;
    }
    this.hasMore = at < count;
    return bodyEnd > bodyAt ? copyOf(bytes, bodyAt, bodyEnd) : undefined;
  }

  /** The connection has ended: so has a body that has no other end. */
  end(): void {
    if (this.#part === "body" && this.#left === Number.POSITIVE_INFINITY) this.isComplete = true;
  }

  #tookBody(count: number): void {
    this.#left -= count;
    if (this.#left > 0) return;
    if (this.#part === "body") this.isComplete = true;
    else this.#part = "chunk-end";
  }

  /** As nearly always: it has come in one piece, and is made a text in one piece. Undefined where it has not. */
  #readWholeHead(bytes: Buffer, from: number, count: number): number | undefined {
    if (this.#status || this.#line !== "") return undefined;
    const end = bytes.indexOf(headEnd, from) + headEnd.length;
    if (end < headEnd.length || end > count) return undefined;
    const text = bytes.toString("latin1", from, end);
    this.#tookBytes(text.length);
    for (let at = 0; at < text.length; ) {
      const next = text.indexOf("\n", at) + 1;
      this.#tookText(text.slice(at, next));
      at = next;
    }
    return end;
  }

  #readLine(bytes: Buffer, from: number, count: number): number {
    const index = bytes.indexOf(lineFeed, from);
    const found = index < count ? index : -1;
    const to = found < 0 ? count : found + 1;
    this.#tookBytes(to - from);
    this.#line += bytes.toString("latin1", from, to);
    if (found < 0) {
      this.#checkBeginning(this.#line);
      return to;
    }
    const line = this.#line;
    this.#line = "";
    this.#tookText(line);
    return to;
  }

  #tookBytes(count: number): void {
    this.#lineBytes += count;
    if (this.#lineBytes > headBytesMax) throw new MalformedAnswer("a head without an end");
  }

  #checkBeginning(text: string): void {
    if (!this.#status && !beginsAnswer(text)) throw new MalformedAnswer("another protocol");
  }

  /** A line with its end. */
  #tookText(text: string): void {
    this.#checkBeginning(text);
    if (!text.endsWith("\r\n")) throw new MalformedAnswer("a line that does not end with CR LF");
    this.#tookLine(text.slice(0, -2));
  }

  #tookLine(line: string): void {
    if (!this.#status) this.#status = readStatusLine(line);
    else if (line !== "") addHeader(this.#headers, line);
    else if (this.#part === "trailers") this.isComplete = true;
    else this.#tookHead(this.#status);
  }

  #tookHead({ status, mayStay }: ReturnType<typeof readStatusLine>): void {
    const headers = this.#headers;
    this.#headers = Object.create(null);
    // Nobody asked to go on with another protocol.
    if (status === 101) throw new Error("It changes the protocol");
    if (status < 200) {
      this.#status = undefined;
      return;
    }
    this.head = answerHead(status, mayStay, headers);
    const { bodyLength } = this.head;
    this.#part = bodyLength === "chunked" ? "size" : "body";
    this.#left = bodyLength === "chunked" ? 0 : bodyLength;
    this.isComplete = bodyLength === 0;
    this.#lineBytes = 0;
  }

  /** What stands between chunks, byte by byte: most of it is but a few. */
  #readFrame(byte: number): void {
    switch (this.#part) {
      case "size":
        this.#readSize(byte);
        break;
      case "extension":
        if (byte === carriageReturn) this.#part = "size-end";
        else if ((byte < space && byte !== tab) || byte === deleteSign) throw malformedChunk();
        else if (++this.#extensionBytes > extensionBytesMax) throw malformedChunk();
        break;
      case "size-end":
        if (byte !== lineFeed) throw malformedChunk();
        this.#part = this.#left > 0 ? "chunk" : "trailers";
        this.#sizeDigits = 0;
        this.#extensionBytes = 0;
        break;
      case "chunk-end":
        if (byte !== carriageReturn) throw malformedChunk();
        this.#part = "chunk-end-2";
        break;
      default:
        if (byte !== lineFeed) throw malformedChunk();
        this.#part = "size";
    }
  }

  #readSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.#left = this.#left * 16 + digit;
      if (++this.#sizeDigits > sizeDigitsMax) throw malformedChunk();
    } else if (this.#sizeDigits === 0) {
      throw malformedChunk();
    } else if (byte === carriageReturn) {
      this.#part = "size-end";
    } else if (byte === semicolon) {
      this.#part = "extension";
    } else {
      throw malformedChunk();
    }
  }
}

function copyOf(bytes: Buffer, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - from);
  bytes.copy(copy, 0, from, to);
  return copy;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function malformedChunk(): MalformedAnswer {
  return new MalformedAnswer("a chunk without a size or an end");
}
