import { monotonicMs } from "../../../services/platform/process/clock.ts";
import type { AnswerHeaders } from "../upstreams/answer-head.ts";
import type { Connection, RequestListener } from "../upstreams/connection.ts";
import type { UpstreamRequest } from "../upstreams/upstream-request.ts";
import type { Upstream } from "../upstreams/upstreams.ts";
import type { Deadlined, Deadlines } from "./deadlines.ts";
import { type Failure, failureOf, stopping } from "./failures.ts";

interface AttemptTimes {
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

/** An idle connection that was closed is heard of with the first answer to what is sent on it; what breaks later was at work. */
const staleWithinMs = 1_000;

/** One request to an upstream. */
export class Attempt implements RequestListener, Deadlined {
  readonly upstream: Upstream;
  place = 0;
  readonly #owner: AttemptOwner;
  readonly #deadlines: Deadlines;
  readonly #times: AttemptTimes;
  #connection: Connection | undefined;
  /** Until when its connection may turn out to have been closed before it was used again; undefined where nothing is sent yet. */
  #mayBeStaleUntilMs: number | undefined;
  #isAnswered = false;
  /** Nobody wants to know of it any more. */
  #isLeft = false;
  #isOver = false;
  /** Counts as one of the requests that the upstream has under way. */
  #isCounted = false;
  #droppedBytes = 0;
  #phaseUntilMs = 0;
  /** A piece has come since it was last asked whether its time is up. */
  #isHeard = false;

  constructor(upstream: Upstream, owner: AttemptOwner, deadlines: Deadlines, times: AttemptTimes) {
    this.upstream = upstream;
    this.#owner = owner;
    this.#deadlines = deadlines;
    this.#times = times;
  }

  send(request: UpstreamRequest): void {
    const { connections } = this.upstream;
    connections.inFlight++;
    this.#isCounted = true;
    this.#phaseUntilMs = monotonicMs() + this.#times.firstByteMs;
    this.#deadlines.watch(this);
    try {
      this.#connection = connections.dispatch(request, this);
    } catch (error) {
      this.onResponseError(error as Error);
    }
  }

  isLate(nowMs: number): boolean {
    // Some may still come after a pause, and then no more is waited for.
    if (this.#isHeard && this.#phaseUntilMs !== Number.POSITIVE_INFINITY) {
      this.#phaseUntilMs = nowMs + this.#times.betweenChunksMs;
    }
    this.#isHeard = false;
    return Math.min(this.#phaseUntilMs, this.#times.untilMs) < nowMs;
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
    this.#owner.failed(stopping);
  }

  /** Ends it at once, whatever it is at. The owner hears no more of it. */
  leave(): void {
    this.#isLeft = true;
    this.#cut();
  }

  /** Lets a short answer come to its end unread, so that its connection can be used again. The next may be sent before that. */
  drop(): void {
    this.#isLeft = true;
    this.#uncount();
    this.#phaseUntilMs = monotonicMs() + dropMs;
  }

  pause(): void {
    if (this.#isOver) return;
    this.#connection?.pause();
    // It is not the upstream that takes its time.
    this.#phaseUntilMs = Number.POSITIVE_INFINITY;
  }

  resume(): void {
    if (this.#isOver) return;
    this.#phaseUntilMs = monotonicMs() + this.#times.betweenChunksMs;
    this.#connection?.resume();
  }

  onRequestStart(earlierRequests: number): void {
    this.#mayBeStaleUntilMs = earlierRequests > 0 ? monotonicMs() + staleWithinMs : 0;
  }

  /** An upload may be slow: its time begins again with each piece of it. */
  onBodySent(): void {
    if (!this.#isAnswered) this.#phaseUntilMs = monotonicMs() + this.#times.firstByteMs;
  }

  onRequestSent(): void {
    if (!this.#isLeft) this.#owner.sent();
  }

  onResponseStart(status: number, headers: AnswerHeaders): void {
    if (this.#isLeft) return;
    this.#isAnswered = true;
    this.#phaseUntilMs = monotonicMs() + this.#times.betweenChunksMs;
    this.#owner.answered(status, headers);
  }

  onResponseData(chunk: Buffer): void {
    if (this.#isLeft) {
      this.#droppedBytes += chunk.length;
      if (this.#droppedBytes > droppedBytesMax) this.#cut();
      return;
    }
    this.#isHeard = true;
    this.#owner.received(chunk);
  }

  onResponseEnd(): void {
    this.#over();
    if (!this.#isLeft) this.#owner.ended();
  }

  onResponseError(error: Error): void {
    this.#over();
    if (this.#isLeft) return;
    const progress = {
      isSent: this.#mayBeStaleUntilMs !== undefined,
      mayBeStale: monotonicMs() < (this.#mayBeStaleUntilMs ?? 0),
      isHeard: this.#connection?.isHeard ?? false,
      isAnswered: this.#isAnswered,
    };
    this.#owner.failed(failureOf(error, progress));
  }

  #cut(): void {
    if (this.#isOver) return;
    this.#over();
    this.#connection?.abort();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#uncount();
    this.#deadlines.forget(this);
  }

  #uncount(): void {
    if (this.#isCounted) this.upstream.connections.inFlight--;
    this.#isCounted = false;
  }
}
