import type { OnReadOpts, Socket } from "node:net";
import { monotonicMs } from "../../../services/platform/time/clock.ts";
import type { AnswerHeaders } from "./answer-head.ts";
import { AnswerParser } from "./answer-parser.ts";
import { BodyPieces } from "./body-pieces.ts";
import { readBeforeFailedWrite } from "./failed-writes.ts";
import type { Opening, OpeningListener } from "./opening.ts";
import type { UpstreamRequest } from "./upstream-request.ts";

/** Who has sent a request, and is told its outcome, until the request is aborted. */
export interface RequestListener {
  /** It is being sent, over a connection that has carried so many requests before. */
  onRequestStart(earlierRequests: number): void;
  /** A piece of its body was written to the socket. */
  onBodySent(): void;
  /** All of it was written. */
  onRequestSent(): void;
  onResponseStart(status: number, headers: AnswerHeaders): void;
  onResponseData(chunk: Buffer): void;
  onResponseEnd(): void;
  onResponseError(error: Error): void;
}

/** Who keeps the connection while it is idle. */
export interface ConnectionOwner {
  /** It has read an answer to its exact end, and may be kept this long for another request. */
  onIdle(connection: Connection, idleMs: number): void;
  onClosed(connection: Connection): void;
}

/** Up to this size, a body is copied into one piece with the head, which costs less than several writes. */
const onePieceBytes = 64 * 1024;

/** All connections read into this buffer. Data is copied out of it before another connection reads. */
const buffer = Buffer.allocUnsafeSlow(64 * 1024);

/** One connection to an upstream, with one request at a time. */
export class Connection {
  readonly #owner: ConnectionOwner;
  readonly #opening: Opening;
  /** Undefined until it is open. */
  #socket: Socket | undefined;
  #error: Error | undefined;
  #requests = 0;
  #listener: RequestListener | undefined;
  #parser = new AnswerParser();
  /** The request that is sent once the connection is open. */
  #waiting: { readonly head: string; readonly request: UpstreamRequest } | undefined;
  /** The rest of a body that is sent in pieces. */
  #pieces: BodyPieces | undefined;
  #hasReceived = false;
  #isPaused = false;
  /** The upstream has closed its side. */
  #isEnded = false;
  /** When the last chunked answer (as streams are) ended after which the connection seemed to stay open. */
  #streamEndedAtMs = Number.NEGATIVE_INFINITY;

  /** `open` begins to open a socket. */
  constructor(open: (onread: OnReadOpts, listener: OpeningListener) => Opening, owner: ConnectionOwner) {
    this.#owner = owner;
    this.#opening = open(
      { buffer, callback: (count) => this.#received(count) },
      {
        onOpen: (socket) => this.#use(socket),
        onFailed: (error) => this.#closed(error),
      },
    );
  }

  /** Whether anything has been received since the last request was sent on it. */
  get hasReceived(): boolean {
    return this.#hasReceived;
  }

  /** Whether a stream has ended on it within this time. */
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
    this.#hasReceived = false;
    this.#waiting = { head, request };
    this.#sendWaiting();
  }

  /** Until `resume`, reads only what is already on its way, and does not report an end. */
  pause(): void {
    this.#isPaused = true;
    this.#socket?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket?.resume();
    this.#settle();
  }

  /** Ends it together with its request. Nothing more is reported to the listener. */
  abort(): void {
    this.#listener = undefined;
    this.close();
  }

  /** Ends it. Its request fails. */
  close(): void {
    this.#pieces = undefined;
    this.#waiting = undefined;
    this.#opening.cancel();
    this.#socket?.destroy();
  }

  #use(socket: Socket): void {
    this.#socket = socket
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
      .on("close", () => this.#closed(this.#error));
    readBeforeFailedWrite(socket);
    this.#sendWaiting();
  }

  #closed(error: Error | undefined): void {
    this.#owner.onClosed(this);
    // While paused, the end of an answer is reported by `resume`.
    if (this.#isPaused && this.#isEnded && !error) return;
    this.#fail(error ?? new Error("closed"));
  }

  #sendWaiting(): void {
    const socket = this.#socket;
    const waiting = this.#waiting;
    const listener = this.#listener;
    if (!socket || !waiting || !listener) return;
    this.#waiting = undefined;
    listener.onRequestStart(this.#requests++);
    const { head, request } = waiting;
    const { parts, byteLength } = request;
    if (byteLength > onePieceBytes) {
      socket.write(head, "latin1");
      this.#pieces = new BodyPieces(parts);
      this.#sendPieces();
      return;
    }
    const bytes = Buffer.allocUnsafe(head.length + byteLength);
    let at = bytes.write(head, "latin1");
    for (const part of parts) at += part.copy(bytes, at);
    socket.write(bytes);
    listener.onBodySent();
    listener.onRequestSent();
  }

  #sendPieces(): void {
    const socket = this.#socket;
    while (socket && this.#pieces) {
      const piece = this.#pieces.next();
      if (!piece) {
        this.#pieces = undefined;
        this.#listener?.onRequestSent();
        return;
      }
      const isTaken = socket.write(piece);
      this.#listener?.onBodySent();
      if (!isTaken) return;
    }
  }

  /** Processes so many bytes of the buffer. Returns whether more may come at once. */
  #received(count: number): boolean {
    const listener = this.#listener;
    if (!listener || this.#waiting) {
      // Unsolicited bytes.
      this.close();
      return false;
    }
    this.#hasReceived = true;
    const parser = this.#parser;
    const isBegun = parser.head !== undefined;
    const body = parser.read(buffer, count);
    if (!isBegun && parser.fault) {
      // No answer has been reported to the listener yet, so this can still count as none.
      this.#fail(parser.fault);
      return false;
    }
    if (parser.head && !isBegun) listener.onResponseStart(parser.head.status, parser.head.headers);
    if (body && this.#listener === listener) listener.onResponseData(body);
    this.#settle();
    return !this.#isPaused;
  }

  /** Reports the end to the listener, if it has come, unless the answer is paused. */
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
    const isSentWhole = !this.#pieces && this.#socket?.writableLength === 0;
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
