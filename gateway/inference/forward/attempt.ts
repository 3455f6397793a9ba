import { nowhere } from "../../../services/platform/memory/transient-set.ts";
import { monotonicMs } from "../../../services/platform/time/clock.ts";
import type { AnswerHeaders } from "../upstreams/answer-head.ts";
import type { Connection, RequestListener } from "../upstreams/connection.ts";
import type { UpstreamRequest } from "../upstreams/upstream-request.ts";
import type { Upstream } from "../upstreams/upstreams.ts";
import type { Deadlined, Deadlines } from "./deadlines.ts";
import { type Failure, failureOf, stopping } from "./failures.ts";

interface AttemptTimes {
  readonly firstByteMs: number;
  readonly betweenChunksMs: number;
  /** The deadline of the whole attempt. */
  readonly untilMs: number;
}

/** Who sent it, and is told its outcome. After it is aborted or discarded, nothing more is reported. */
export interface AttemptOwner {
  /** The response headers have come. An owner that does not want the rest aborts or discards the attempt. */
  answered(status: number, headers: AnswerHeaders): void;
  /** A piece of the answer has come. */
  received(chunk: Buffer): void;
  /** The whole body was sent. */
  sent(): void;
  /** The answer is complete. */
  ended(): void;
  failed(failure: Failure): void;
}

/** A discarded answer is read up to this size, so that its connection can be reused. */
const discardedBytesMax = 64 * 1024;
const discardMs = 2_000;

/** That an idle connection was closed shows soon after something is sent over it. One that breaks later was in use. */
const staleWithinMs = 1_000;

/** One request to an upstream. */
export class Attempt implements RequestListener, Deadlined {
  readonly upstream: Upstream;
  place = nowhere;
  readonly #owner: AttemptOwner;
  readonly #deadlines: Deadlines;
  readonly #times: AttemptTimes;
  #connection: Connection | undefined;
  /** Until when a failure may mean that the connection was closed while idle; undefined until the request is sent. */
  #mayBeStaleUntilMs: number | undefined;
  #isAnswered = false;
  /** It was aborted or discarded: nothing more is reported to the owner. */
  #isAbandoned = false;
  #isFinished = false;
  /** Whether it counts as one of the upstream's requests in flight. */
  #isCounted = false;
  #discardedBytes = 0;
  #phaseUntilMs = 0;
  /** Whether a chunk has come since it was last checked for lateness. */
  #hasReceived = false;

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
    // A chunk may still come after a pause. It must not restart the clock, which stands still until the client reads
    // again.
    if (this.#hasReceived && this.#phaseUntilMs !== Number.POSITIVE_INFINITY) {
      this.#phaseUntilMs = nowMs + this.#times.betweenChunksMs;
    }
    this.#hasReceived = false;
    return Math.min(this.#phaseUntilMs, this.#times.untilMs) < nowMs;
  }

  onDeadline(): void {
    if (this.#isAbandoned) {
      this.#cut();
      return;
    }
    const isAll = this.#times.untilMs <= this.#phaseUntilMs;
    const reason = isAll ? "took too long for its answer" : "stopped in the middle of its answer";
    this.abort();
    this.#owner.failed({ kind: "timeout", reason: this.#isAnswered ? reason : "did not answer in time" });
  }

  onStop(): void {
    if (this.#isAbandoned) return;
    this.abort();
    this.#owner.failed(stopping);
  }

  /** Ends it at once, whatever its state. Nothing more is reported to the owner. */
  abort(): void {
    this.#isAbandoned = true;
    this.#cut();
  }

  /** Lets a short answer arrive unread, so that its connection can be reused. Nobody waits for that. */
  discard(): void {
    this.#isAbandoned = true;
    this.#uncount();
    this.#phaseUntilMs = monotonicMs() + discardMs;
  }

  pause(): void {
    if (this.#isFinished) return;
    this.#connection?.pause();
    // The client is slow, not the upstream.
    this.#phaseUntilMs = Number.POSITIVE_INFINITY;
  }

  resume(): void {
    if (this.#isFinished) return;
    this.#phaseUntilMs = monotonicMs() + this.#times.betweenChunksMs;
    this.#connection?.resume();
  }

  onRequestStart(earlierRequests: number): void {
    this.#mayBeStaleUntilMs = earlierRequests > 0 ? monotonicMs() + staleWithinMs : 0;
  }

  /** An upload may be slow: the time limit for an answer starts again with each piece. */
  onBodySent(): void {
    if (!this.#isAnswered) this.#phaseUntilMs = monotonicMs() + this.#times.firstByteMs;
  }

  onRequestSent(): void {
    if (!this.#isAbandoned) this.#owner.sent();
  }

  onResponseStart(status: number, headers: AnswerHeaders): void {
    if (this.#isAbandoned) return;
    this.#isAnswered = true;
    this.#phaseUntilMs = monotonicMs() + this.#times.betweenChunksMs;
    this.#owner.answered(status, headers);
  }

  onResponseData(chunk: Buffer): void {
    if (this.#isAbandoned) {
      this.#discardedBytes += chunk.length;
      if (this.#discardedBytes > discardedBytesMax) this.#cut();
      return;
    }
    this.#hasReceived = true;
    this.#owner.received(chunk);
  }

  onResponseEnd(): void {
    this.#finish();
    if (!this.#isAbandoned) this.#owner.ended();
  }

  onResponseError(error: Error): void {
    this.#finish();
    if (this.#isAbandoned) return;
    const progress = {
      isSent: this.#mayBeStaleUntilMs !== undefined,
      mayBeStale: monotonicMs() < (this.#mayBeStaleUntilMs ?? 0),
      hasReceived: this.#connection?.hasReceived ?? false,
      isAnswered: this.#isAnswered,
    };
    this.#owner.failed(failureOf(error, progress));
  }

  #cut(): void {
    if (this.#isFinished) return;
    this.#finish();
    this.#connection?.abort();
  }

  #finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#uncount();
    this.#deadlines.forget(this);
  }

  #uncount(): void {
    if (this.#isCounted) this.upstream.connections.inFlight--;
    this.#isCounted = false;
  }
}
