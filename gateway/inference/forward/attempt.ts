import type { Dispatcher } from "undici";
import { monotonicMs } from "../../../services/platform/process/clock.ts";
import type { Connection, ConnectionListener } from "../upstreams/connections.ts";
import type { Upstream } from "../upstreams/upstreams.ts";
import type { Deadlined, Deadlines } from "./deadlines.ts";
import { type Failure, failureOf } from "./failures.ts";
import type { AnswerHeaders } from "./response-headers.ts";

/** What a request is sent as. */
export interface AttemptRequest {
  readonly path: string;
  readonly headers: readonly string[];
  readonly parts: readonly Buffer[];
  readonly byteLength: number;
}

export interface AttemptTimes {
  readonly firstByteMs: number;
  readonly betweenChunksMs: number;
  /** When all of it must be over. */
  readonly untilMs: number;
}

/** Who sent it. Of an attempt that was left nothing is told any more. */
export interface AttemptOwner {
  /** The head of the answer. Who does not want the rest leaves or drops the attempt. */
  answered(status: number, headers: AnswerHeaders): void;
  /** A piece of the answer. */
  received(chunk: Buffer): void;
  /** The body was sent whole. */
  sent(): void;
  /** The answer has come to its end. */
  ended(): void;
  failed(failure: Failure): void;
}

/** So much of an answer that nobody wants is read, for the sake of its connection. */
const droppedBytesMax = 64 * 1024;
const dropMs = 2_000;

/** Smaller bodies are copied into one piece: that costs less than to send several. */
const onePieceBytes = 64 * 1024;
/** Larger ones go out in pieces, so that what has been sent is known, and an early answer is noticed. */
const pieceBytes = 256 * 1024;

/** An idle connection that was closed is heard of with the first answer to what is sent on it; what breaks later was at work. */
const staleWithinMs = 1_000;

class Left extends Error {}

/** One request to an upstream. */
export class Attempt implements Dispatcher.DispatchHandler, ConnectionListener, Deadlined {
  readonly upstream: Upstream;
  readonly #owner: AttemptOwner;
  readonly #deadlines: Deadlines;
  readonly #times: AttemptTimes;
  #controller: Dispatcher.DispatchController | undefined;
  #connection: Connection | undefined;
  #isSent = false;
  #sentAtMs = 0;
  #isReused = false;
  #isAnswered = false;
  /** Nobody wants to know of it any more. */
  #isLeft = false;
  #isOver = false;
  #droppedBytes = 0;
  #phaseUntilMs = 0;

  constructor(upstream: Upstream, owner: AttemptOwner, deadlines: Deadlines, times: AttemptTimes) {
    this.upstream = upstream;
    this.#owner = owner;
    this.#deadlines = deadlines;
    this.#times = times;
  }

  send({ path, headers, parts, byteLength }: AttemptRequest): void {
    const { connections } = this.upstream;
    connections.inFlight++;
    this.#phaseUntilMs = monotonicMs() + this.#times.firstByteMs;
    this.#deadlines.watch(this);
    try {
      connections.dispatch(
        { path, method: "POST", headers: headers as string[], body: bodyOf(parts, byteLength) },
        this,
      );
    } catch (error) {
      this.onResponseError(undefined, error as Error);
    }
  }

  get deadlineMs(): number {
    return Math.min(this.#phaseUntilMs, this.#times.untilMs);
  }

  onDeadline(): void {
    if (this.#isLeft) {
      this.#cut();
      return;
    }
    const isAll = this.#times.untilMs <= this.#phaseUntilMs;
    const reason = isAll ? "took too long for its answer" : "stopped in the middle of its answer";
    this.leave();
    this.#owner.failed({ kind: "timeout", reason: this.#isAnswered ? reason : "did not answer in time" });
  }

  onStop(): void {
    if (this.#isLeft) return;
    this.leave();
    this.#owner.failed({ kind: "stopping", reason: "was not waited for any longer: this gateway stops" });
  }

  /** Ends it at once, whatever it is at. The owner hears no more of it. */
  leave(): void {
    this.#isLeft = true;
    this.#cut();
  }

  /** Lets a short answer come to its end unread, so that its connection can be used again. */
  drop(): void {
    this.#isLeft = true;
    this.#phaseUntilMs = monotonicMs() + dropMs;
  }

  pause(): void {
    this.#controller?.pause();
    // It is not the upstream that takes its time.
    this.#phaseUntilMs = Number.POSITIVE_INFINITY;
  }

  resume(): void {
    if (this.#isOver) return;
    this.#phaseUntilMs = monotonicMs() + this.#times.betweenChunksMs;
    this.#controller?.resume();
  }

  onConnectionChosen(connection: Connection): void {
    this.#connection = connection;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // To throw is what leaves the connection, which has nothing to do with it, as it is.
    if (this.#isLeft) throw new Left();
    this.#controller = controller;
    this.#isReused = (this.#connection?.countRequest() ?? 0) > 0;
    this.#isSent = true;
    this.#sentAtMs = monotonicMs();
  }

  /** An upload may be slow: its time begins again with each piece of it. */
  onBodySent(): void {
    if (!this.#isAnswered) this.#phaseUntilMs = monotonicMs() + this.#times.firstByteMs;
  }

  onRequestSent(): void {
    if (!this.#isLeft) this.#owner.sent();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status < 200 || this.#isLeft) return;
    this.#isAnswered = true;
    this.#phaseUntilMs = monotonicMs() + this.#times.betweenChunksMs;
    this.#owner.answered(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isLeft) {
      this.#droppedBytes += chunk.length;
      if (this.#droppedBytes > droppedBytesMax) this.#cut();
      return;
    }
    this.#phaseUntilMs = monotonicMs() + this.#times.betweenChunksMs;
    this.#owner.received(chunk);
  }

  onResponseEnd(): void {
    // An answer without a length ends with its connection, but not with one that breaks.
    if (this.#connection?.isBroken) {
      this.onResponseError(undefined, new Error("reset"));
      return;
    }
    this.#over();
    if (!this.#isLeft) this.#owner.ended();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#over();
    if (this.#isLeft) return;
    const progress = {
      isSent: this.#isSent,
      mayBeStale: this.#isReused && monotonicMs() - this.#sentAtMs < staleWithinMs,
      isHeard: this.#connection?.isHeard ?? false,
      isAnswered: this.#isAnswered,
    };
    this.#owner.failed(failureOf(error, progress));
  }

  #cut(): void {
    this.#over();
    this.#controller?.abort(new Left());
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.upstream.connections.inFlight--;
    this.#deadlines.forget(this);
  }
}

function bodyOf(parts: readonly Buffer[], byteLength: number): Buffer {
  if (byteLength <= onePieceBytes) return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, byteLength);
  // An iterable is as good as a stream to undici, though its types do not say so.
  return new Pieces(parts) as unknown as Buffer;
}

/** A body in pieces. What was taken is not kept: a request lives as long as its answer, which may be for minutes. */
class Pieces implements IterableIterator<Buffer> {
  readonly #left: Buffer[];

  constructor(parts: readonly Buffer[]) {
    this.#left = parts.toReversed();
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Buffer> {
    const part = this.#left.pop();
    if (part === undefined) return { done: true, value: undefined };
    if (part.length > pieceBytes) this.#left.push(part.subarray(pieceBytes));
    return { done: false, value: part.subarray(0, pieceBytes) };
  }
}
