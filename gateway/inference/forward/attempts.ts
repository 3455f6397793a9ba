import type { IncomingHttpHeaders } from "node:http";
import type { Span, Trace } from "../../../services/platform/observe/trace.ts";
import type { CallName } from "../calls.ts";
import type { InferenceMetrics } from "../inference-metrics.ts";
import type { AnswerHeaders } from "../upstreams/answer-head.ts";
import type { HiddenSecret } from "../upstreams/hidden-secret.ts";
import type { Upstream } from "../upstreams/upstreams.ts";
import { Attempt, type AttemptOwner } from "./attempt.ts";
import type { ClientAnswer } from "./client-answer.ts";
import type { Deadlines } from "./deadlines.ts";
import { type Failure, type FailureKind, stopping } from "./failures.ts";
import type { Candidate } from "./forward-request.ts";
import { requestHeaders } from "./request-headers.ts";
import { mayBeServedByAnother, mayRetry, retryWaitMs } from "./retry-rules.ts";
import { beginUpstreamSpan, recordAnswer, type UsedPreset } from "./upstream-span.ts";

/** What all attempts share. It does not refer to the body, which is released as soon as no attempt can need it. */
interface AttemptedRequest {
  readonly call: CallName;
  readonly headers: IncomingHttpHeaders;
  readonly isStreamed: boolean;
  readonly preset: UsedPreset | undefined;
  readonly trace: Trace | undefined;
  readonly startedAtMs: number;
}

/** Receives the answer of the attempt that succeeds. */
export interface AttemptsOwner {
  /** An attempt begins, at this upstream with this model. */
  trying(upstream: Upstream, model: string): void;
  /** An answer that is passed on has begun. */
  answered(status: number, headers: AnswerHeaders): void;
  received(chunk: Buffer): void;
  ended(): void;
  /** The answer broke off; or there is none, and nothing is left to try. */
  failed(failure: Failure): void;
  /** The body of the request is no longer needed. */
  bodyReleased(): void;
}

/**
 * The attempts to get a request answered, one after the other: at most two for a model, then the next model of the
 * list.
 */
export class Attempts implements AttemptOwner {
  readonly #metrics: InferenceMetrics;
  readonly #deadlines: Deadlines;
  readonly #request: AttemptedRequest;
  readonly #owner: AttemptsOwner;
  /** The current candidate, followed by those that are left. Empty once the body is released. */
  #candidates: readonly Candidate[];
  #upstream: Upstream;
  #hiddenSecrets: readonly HiddenSecret[] = [];
  /** Why the upstream is tried a second time; undefined if it is not. */
  #retriedAfter: FailureKind | undefined;
  #attempt: Attempt | undefined;
  /** The span of the current attempt, if the trace is recorded. */
  #span: Span | undefined;
  #cancelNextTry: (() => void) | undefined;
  #isBodySent = false;
  #isAnswered = false;
  #bytesSent = 0;

  constructor(
    metrics: InferenceMetrics,
    deadlines: Deadlines,
    request: AttemptedRequest,
    candidates: readonly Candidate[],
    owner: AttemptsOwner,
  ) {
    this.#metrics = metrics;
    this.#deadlines = deadlines;
    this.#request = request;
    this.#candidates = candidates;
    this.#upstream = this.#candidate.upstream;
    this.#owner = owner;
  }

  /** The upstream of the last attempt. */
  get upstream(): Upstream {
    return this.#upstream;
  }

  /**
   * What the answer to the last attempt must not show. The upstream's credential may have changed by the time it comes.
   */
  get hiddenSecrets(): readonly HiddenSecret[] {
    return this.#hiddenSecrets;
  }

  /** Of all attempts together. */
  get bytesSent(): number {
    return this.#bytesSent;
  }

  /** As the request names it. Only until the body is released. */
  get model(): string {
    return this.#candidate.name;
  }

  try(): void {
    const { upstream, name, model, parts } = this.#candidate;
    const { call, headers, isStreamed, preset, trace, startedAtMs } = this.#request;
    this.#upstream = upstream;
    this.#owner.trying(upstream, name);
    if (this.#deadlines.isStopped) {
      this.failed(stopping);
      return;
    }
    if (upstream.isFull) {
      this.failed({ kind: "full", reason: "has as many requests under way as it may" });
      return;
    }
    const { timeouts } = upstream;
    this.#isBodySent = false;
    this.#hiddenSecrets = upstream.hiddenSecrets;
    this.#attempt = new Attempt(upstream, this, this.#deadlines, {
      firstByteMs: isStreamed ? timeouts.firstByteStreamedMs : timeouts.firstByteMs,
      betweenChunksMs: timeouts.betweenChunksMs,
      untilMs: startedAtMs + timeouts.totalMs,
    });
    let byteLength = 0;
    for (const part of parts) byteLength += part.length;
    this.#bytesSent += byteLength;
    const parent = trace?.span;
    if (parent) this.#span = beginUpstreamSpan(parent, upstream, call, model, preset);
    this.#attempt.send({
      path: upstream.pathOf(call),
      headers: requestHeaders(headers, upstream, byteLength, this.#span ?? trace),
      parts,
      byteLength,
      // If one connection was closed while idle, others may have been, too.
      needsNewConnection: this.#retriedAfter !== undefined && this.#retriedAfter !== "refused",
    });
  }

  pause(): void {
    this.#attempt?.pause();
  }

  resume(): void {
    this.#attempt?.resume();
  }

  /** Ends what is in flight. Nothing more is reported to the owner. */
  abort(): void {
    this.#attempt?.abort();
  }

  /** Records the outcome, once there is nothing more to do. */
  end(answer: ClientAnswer | undefined, error: string | undefined): void {
    this.#cancelNextTry?.();
    if (this.#span && answer) recordAnswer(this.#span, answer);
    this.#endSpan(error);
  }

  answered(status: number, headers: AnswerHeaders): void {
    if (status < 400 && status >= 300) {
      this.#attempt?.abort();
      this.failed({ kind: "bad_answer", reason: "answered with a redirect, which is not followed" });
    } else if (status < 400 || !this.#isTriedAgain(status, headers)) {
      this.#isAnswered = true;
      this.#owner.answered(status, headers);
      if (this.#isBodySent) this.#releaseBody();
    }
  }

  sent(): void {
    this.#isBodySent = true;
    if (this.#isAnswered) this.#releaseBody();
  }

  received(chunk: Buffer): void {
    this.#owner.received(chunk);
  }

  ended(): void {
    this.#owner.ended();
  }

  failed(failure: Failure): void {
    if (!this.#isAnswered && !this.#retriedAfter && mayRetry(failure, this.#upstream)) {
      this.#retry(failure, 0);
    } else if (!this.#isAnswered && this.#isAnotherLeft && failure.kind !== "stopping") {
      this.#fallBack(failure);
    } else {
      this.#owner.failed(failure);
    }
  }

  get #candidate(): Candidate {
    return this.#candidates[0] as Candidate;
  }

  get #isAnotherLeft(): boolean {
    return this.#candidates.length > 1;
  }

  /** Whether the request is tried again after an error answer, which is then not passed on. */
  #isTriedAgain(status: number, headers: AnswerHeaders): boolean {
    const failure: Failure = { kind: "refused", reason: `answered with the status ${status}` };
    const waitMs = this.#retriedAfter ? undefined : retryWaitMs(status, headers, this.#upstream);
    if (waitMs !== undefined) {
      this.#attempt?.discard();
      this.#retry(failure, waitMs);
      return true;
    }
    if (!this.#isAnotherLeft || !mayBeServedByAnother(status)) return false;
    this.#attempt?.discard();
    this.#fallBack(failure);
    return true;
  }

  #retry(failure: Failure, waitMs: number): void {
    this.#retriedAfter = failure.kind;
    this.#metrics.retried(this.#upstream.name, failure.kind);
    this.#tryAfter(waitMs, failure);
  }

  #fallBack(failure: Failure): void {
    this.#metrics.fellBack(this.#upstream.name, failure.kind);
    this.#candidates = this.#candidates.slice(1);
    this.#retriedAfter = undefined;
    this.#tryAfter(0, failure);
  }

  /** Never in the same turn: this may run in a callback of the connection that failed. */
  #tryAfter(waitMs: number, failure: Failure): void {
    this.#attempt = undefined;
    this.#endSpan(failure.kind);
    this.#cancelNextTry = this.#deadlines.after(waitMs, () => this.try());
  }

  #releaseBody(): void {
    this.#candidates = [];
    this.#owner.bodyReleased();
  }

  #endSpan(error: string | undefined): void {
    this.#span?.end(error);
    this.#span = undefined;
  }
}
