import { Buffer } from "node:buffer";
import {
  type AnswerHead,
  addHeader,
  answerHead,
  beginsAnswer,
  MalformedAnswer,
  readStatusLine,
  type StatusLine,
} from "./answer-head.ts";

/** For the head together with all interim ones before it; and separately for the trailers. */
const headBytesMax = 64 * 1024;
/** For what may follow the size of a chunk in its line. It is ignored. */
const extensionBytesMax = 4 * 1024;
/** Hexadecimal digits of the size of a chunk. A number of this length is still exact. */
const sizeDigitsMax = 12;

const [tab, lineFeed, carriageReturn, space, semicolon, deleteSign] = [0x09, 0x0a, 0x0d, 0x20, 0x3b, 0x7f];

const headEnd = Buffer.from("\r\n\r\n");

/** What is read next. Those that end with `-cr` or `-lf` are a single byte that must come. */
type Part = "head" | "body" | "size" | "extension" | "size-lf" | "chunk" | "chunk-cr" | "chunk-lf" | "trailers";

/**
 * Parses one HTTP/1.1 answer to a POST from the bytes of its connection, strictly: no two parsers may disagree on where
 * it ends.
 */
export class AnswerParser {
  /** Undefined until it is complete. */
  head: AnswerHead | undefined;
  isComplete = false;
  /** Whether bytes came after its end. */
  hasMore = false;
  /** Why parsing cannot continue. */
  fault: Error | undefined;
  #part: Part = "head";
  /** An incomplete line of the head or the trailers. */
  #unfinishedLine = "";
  /** How many bytes of the head, or of the trailers, have come. */
  #headBytes = 0;
  /** Undefined until the first line has come. */
  #statusLine: StatusLine | undefined;
  // Without a prototype: a header may have any name.
  #headers: Record<string, string | string[] | undefined> = Object.create(null);
  /** How many bytes of the body, or of its current chunk, are still to come. */
  #bytesLeft = 0;
  #sizeDigits = 0;
  #extensionBytes = 0;

  /**
   * Parses the first `count` bytes. Returns a copy of the part of the body in them, in one piece: for that, the chunks
   * are moved together within `bytes`.
   */
  read(bytes: Buffer, count = bytes.length): Buffer | undefined {
    let bodyAt = 0;
    let bodyEnd = 0;
    let at = 0;
    if (this.fault) return undefined;
    try {
      while (at < count && !this.isComplete) {
        if (this.#part === "body" || this.#part === "chunk") {
          const end = Math.min(count, at + this.#bytesLeft);
          if (bodyEnd === 0) bodyAt = bodyEnd = at;
          else bytes.copyWithin(bodyEnd, at, end);
          bodyEnd += end - at;
          this.#consumeBody(end - at);
          at = end;
        } else if (this.#part === "head" || this.#part === "trailers") {
          at = this.#readWholeHead(bytes, at, count) ?? this.#readPartOfHead(bytes, at, count);
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

  /** The connection has ended, and with it a body that has no other end. */
  end(): void {
    if (this.#part === "body" && this.#bytesLeft === Number.POSITIVE_INFINITY) this.isComplete = true;
  }

  #consumeBody(count: number): void {
    this.#bytesLeft -= count;
    if (this.#bytesLeft > 0) return;
    if (this.#part === "body") this.isComplete = true;
    else this.#part = "chunk-cr";
  }

  /** A head that came in one piece, as nearly all do, is converted to text at once. Undefined if it did not. */
  #readWholeHead(bytes: Buffer, from: number, count: number): number | undefined {
    if (this.#statusLine || this.#unfinishedLine !== "") return undefined;
    const end = bytes.indexOf(headEnd, from) + headEnd.length;
    if (end < headEnd.length || end > count) return undefined;
    const text = bytes.toString("latin1", from, end);
    this.#countHeadBytes(text.length);
    for (let at = 0; at < text.length; ) {
      const next = text.indexOf("\n", at) + 1;
      this.#readTerminatedLine(text.slice(at, next));
      at = next;
    }
    return end;
  }

  /** Reads up to the end of a line, or of what has come. */
  #readPartOfHead(bytes: Buffer, from: number, count: number): number {
    const index = bytes.indexOf(lineFeed, from);
    const found = index < count ? index : -1;
    const to = found < 0 ? count : found + 1;
    this.#countHeadBytes(to - from);
    this.#unfinishedLine += bytes.toString("latin1", from, to);
    if (found < 0) {
      this.#checkBeginning(this.#unfinishedLine);
      return to;
    }
    const line = this.#unfinishedLine;
    this.#unfinishedLine = "";
    this.#readTerminatedLine(line);
    return to;
  }

  #countHeadBytes(count: number): void {
    this.#headBytes += count;
    if (this.#headBytes > headBytesMax) throw new MalformedAnswer("a head without an end");
  }

  #checkBeginning(text: string): void {
    if (!this.#statusLine && !beginsAnswer(text)) throw new MalformedAnswer("another protocol");
  }

  /** A line that has come whole, with its end. */
  #readTerminatedLine(text: string): void {
    this.#checkBeginning(text);
    if (!text.endsWith("\r\n")) throw new MalformedAnswer("a line that does not end with CR LF");
    this.#readHeadLine(text.slice(0, -2));
  }

  #readHeadLine(line: string): void {
    if (!this.#statusLine) this.#statusLine = readStatusLine(line);
    else if (line !== "") addHeader(this.#headers, line);
    else if (this.#part === "trailers") this.isComplete = true;
    else this.#endHead(this.#statusLine);
  }

  #endHead({ status, isKeepAliveDefault }: StatusLine): void {
    const headers = this.#headers;
    this.#headers = Object.create(null);
    // We never ask for another protocol.
    if (status === 101) throw new Error("It changes the protocol");
    // An interim answer: another head follows.
    if (status < 200) {
      this.#statusLine = undefined;
      return;
    }
    this.head = answerHead(status, isKeepAliveDefault, headers);
    const { bodyLength } = this.head;
    this.#part = bodyLength === "chunked" ? "size" : "body";
    this.#bytesLeft = bodyLength === "chunked" ? 0 : bodyLength;
    this.isComplete = bodyLength === 0;
    this.#headBytes = 0;
  }

  /** Parses what is between chunks byte by byte, because it is short. */
  #readFrame(byte: number): void {
    switch (this.#part) {
      case "size":
        this.#readSize(byte);
        break;
      case "extension":
        if (byte === carriageReturn) this.#part = "size-lf";
        else if ((byte < space && byte !== tab) || byte === deleteSign) throw malformedChunk();
        else if (++this.#extensionBytes > extensionBytesMax) throw malformedChunk();
        break;
      case "size-lf":
        if (byte !== lineFeed) throw malformedChunk();
        this.#part = this.#bytesLeft > 0 ? "chunk" : "trailers";
        this.#sizeDigits = 0;
        this.#extensionBytes = 0;
        break;
      case "chunk-cr":
        if (byte !== carriageReturn) throw malformedChunk();
        this.#part = "chunk-lf";
        break;
      default:
        if (byte !== lineFeed) throw malformedChunk();
        this.#part = "size";
    }
  }

  #readSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.#bytesLeft = this.#bytesLeft * 16 + digit;
      if (++this.#sizeDigits > sizeDigitsMax) throw malformedChunk();
    } else if (this.#sizeDigits === 0) {
      throw malformedChunk();
    } else if (byte === carriageReturn) {
      this.#part = "size-lf";
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
