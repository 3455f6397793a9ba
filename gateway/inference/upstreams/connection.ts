import type { OnReadOpts, Socket } from "node:net";
import { monotonicMs } from "../../../services/platform/process/clock.ts";
import type { AnswerHeaders } from "./answer-head.ts";
import { AnswerParser } from "./answer-parser.ts";
import { BodyPieces } from "./body-pieces.ts";
import { readBeforeFailedWrite } from "./failed-writes.ts";
import type { UpstreamRequest } from "./upstream-request.ts";

/** Who has sent a request, and is told what becomes of it: of a request that was aborted, nothing more. */
export interface RequestListener {
  /** It is sent now, over a connection that was used so often before. */
  onRequestStart(earlierRequests: number): void;
  /** A piece of its body was handed to the operating system, or waits for that. */
  onBodySent(): void;
  /** So was all of it. */
  onRequestSent(): void;
  onResponseStart(status: number, headers: AnswerHeaders): void;
  onResponseData(chunk: Buffer): void;
  onResponseEnd(): void;
  onResponseError(error: Error): void;
}

/** Who keeps the connection while it has nothing to do. */
export interface ConnectionOwner {
  /** It has read an answer to its exact end, and may wait so long for another request. */
  onIdle(connection: Connection, idleMs: number): void;
  onClosed(connection: Connection): void;
}

/** Smaller bodies are copied into one piece with the head: that costs less than to send several. */
const onePieceBytes = 64 * 1024;

/** All connections are read into this one; what has come is copied before anything else can. */
const buffer = Buffer.allocUnsafeSlow(64 * 1024);

/** One connection to an upstream, which has one request at a time. */
export class Connection {
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  #isOpen = false;
  #error: Error | undefined;
  #requests = 0;
  #listener: RequestListener | undefined;
  #parser = new AnswerParser();
  /** What is to be sent once the connection is open. */
  #waiting: { readonly head: string; readonly request: UpstreamRequest } | undefined;
  /** What is left of a body that does not go out at once. */
  #pieces: BodyPieces | undefined;
  #isHeard = false;
  #isPaused = false;
  /** The upstream has closed its side. */
  #isEnded = false;
  /** When the last answer ended that came in chunks, as streams do, and seemed not to be the last one here. */
  #streamEndedAtMs = Number.NEGATIVE_INFINITY;

  /** The socket is one that opens, and tells of it by that event. */
  constructor(open: (onread: OnReadOpts) => Socket, openEvent: "connect" | "secureConnect", owner: ConnectionOwner) {
    this.#owner = owner;
    this.#socket = open({ buffer, callback: (count) => this.#received(count) })
      .once(openEvent, () => {
        this.#isOpen = true;
        this.#sendWaiting();
      })
      .on("drain", () => this.#sendPieces())
      .on("end", () => {
        this.#isEnded = true;
        this.#parser.end();
        if (this.#listener) this.#settle();
        else this.close();
      })
      .on("error", (error) => {
        this.#error = error;
      })
      .on("close", () => {
        this.#owner.onClosed(this);
        // What has come to its end is told of when it is wanted again.
        if (this.#isPaused && this.#isEnded && !this.#error) return;
        this.#fail(this.#error ?? new Error("closed"));
      });
    readBeforeFailedWrite(this.#socket);
  }

  /** Whether anything has come since the last request was sent on it. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  /** Whether a stream has ended on it so short a time ago. */
  hasStreamedWithin(ms: number): boolean {
    return monotonicMs() - this.#streamEndedAtMs < ms;
  }

  /** Whether it was the upstream that closed it. */
  get isClosedByUpstream(): boolean {
    return this.#isEnded || this.#error !== undefined;
  }

  send(head: string, request: UpstreamRequest, listener: RequestListener): void {
    this.#listener = listener;
    this.#parser = new AnswerParser();
    this.#isHeard = false;
    this.#waiting = { head, request };
    if (this.#isOpen) this.#sendWaiting();
  }

  /** Reads no more than what is already under way, and tells of no end, until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket.resume();
    this.#settle();
  }

  /** Ends it, and with it its request, of which nothing is told any more. */
  abort(): void {
    this.#listener = undefined;
    this.close();
  }

  /** Ends it. Its request fails. */
  close(): void {
    this.#pieces = undefined;
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #sendWaiting(): void {
    const waiting = this.#waiting;
    const listener = this.#listener;
    if (!waiting || !listener) return;
    this.#waiting = undefined;
    listener.onRequestStart(this.#requests++);
    const { head, request } = waiting;
    const { parts, byteLength } = request;
    if (byteLength > onePieceBytes) {
      this.#socket.write(head, "latin1");
      this.#pieces = new BodyPieces(parts);
      this.#sendPieces();
      return;
    }
    const bytes = Buffer.allocUnsafe(head.length + byteLength);
    let at = bytes.write(head, "latin1");
    for (const part of parts) at += part.copy(bytes, at);
    this.#socket.write(bytes);
    listener.onBodySent();
    listener.onRequestSent();
  }

  #sendPieces(): void {
    while (this.#pieces) {
      const piece = this.#pieces.next();
      if (!piece) {
        this.#pieces = undefined;
        this.#listener?.onRequestSent();
        return;
      }
      const isTaken = this.#socket.write(piece);
      this.#listener?.onBodySent();
      if (!isTaken) return;
    }
  }

  /** Reads so many bytes of the buffer. Whether more may come at once. */
  #received(count: number): boolean {
    const listener = this.#listener;
    if (!listener || this.#waiting) {
      // Nobody has asked for it.
      this.close();
      return false;
    }
    this.#isHeard = true;
    const parser = this.#parser;
    const isBegun = parser.head !== undefined;
    const body = parser.read(buffer, count);
    if (!isBegun && parser.fault) {
      // Nothing of it was told, so it can still be told as no answer at all.
      this.#fail(parser.fault);
      return false;
    }
    if (parser.head && !isBegun) listener.onResponseStart(parser.head.status, parser.head.headers);
    if (body && this.#listener === listener) listener.onResponseData(body);
    this.#settle();
    return !this.#isPaused;
  }

  /** Tells of the end, if it has come: of what a client has not read yet, only once it has. */
  #settle(): void {
    const { fault, isComplete } = this.#parser;
    if (this.#isPaused || !this.#listener) return;
    if (isComplete) this.#finish();
    else if (fault) this.#fail(fault);
    else if (this.#isEnded) this.#fail(new Error("closed"));
  }

  #finish(): void {
    const { head, hasMore } = this.#parser;
    const listener = this.#listener;
    this.#listener = undefined;
    const isSentWhole = !this.#pieces && this.#socket.writableLength === 0;
    const idleMs = hasMore || this.#isEnded || !isSentWhole ? 0 : (head?.idleMs ?? 0);
    if (idleMs > 0) {
      if (head?.bodyLength === "chunked") this.#streamEndedAtMs = monotonicMs();
      this.#owner.onIdle(this, idleMs);
    } else {
      this.close();
    }
    listener?.onResponseEnd();
  }

  #fail(error: Error): void {
    const listener = this.#listener;
    this.#listener = undefined;
    this.close();
    listener?.onResponseError(error);
  }
}
