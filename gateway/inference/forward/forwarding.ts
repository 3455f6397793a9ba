import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import { canceled } from "../../../services/platform/domain/domain-error.ts";
import type { Logger } from "../../../services/platform/observe/logger.ts";
import type { Span, Trace } from "../../../services/platform/observe/trace.ts";
import { monotonicMs } from "../../../services/platform/process/clock.ts";
import type { DialectName } from "../../dialects/dialect-name.ts";
import { clientClosedRequest } from "../../http/exchanges.ts";
import type { InferenceMetrics } from "../inference-metrics.ts";
import type { AnswerHeaders } from "../upstreams/answer-head.ts";
import type { Upstream } from "../upstreams/upstreams.ts";
import { Attempt, type AttemptOwner } from "./attempt.ts";
import { ClientAnswer } from "./client-answer.ts";
import { ClientReading } from "./client-reading.ts";
import type { Deadlines } from "./deadlines.ts";
import { type Failure, failureError, statusOf } from "./failures.ts";
import type { Candidate, ForwardRequest } from "./forward-request.ts";
import { requestHeaders } from "./request-headers.ts";
import { mayBeServedByAnother, mayRetry, retryWaitMs } from "./retry-rules.ts";
import type { StalledAnswers } from "./stalled-answers.ts";
import { beginUpstreamSpan, recordAnswer, type UsedPreset } from "./upstream-span.ts";

export interface ForwardingParts {
  readonly metrics: InferenceMetrics;
  readonly logger: Logger;
  readonly stalled: StalledAnswers;
  readonly isDraining: () => boolean;
  /** Records the outcome of an exchange that cannot be told to its client by a status. */
  readonly settle: (reply: FastifyReply, status: number) => void;
}

/** One client's request, from its first attempt to the end of its answer. */
export class Forwarding implements AttemptOwner {
  readonly #parts: ForwardingParts;
  readonly #deadlines: Deadlines;
  readonly #reply: FastifyReply;
  readonly #dialect: DialectName;
  readonly #explanation: string | undefined;
  readonly #preset: UsedPreset | undefined;
  readonly #trace: Trace | undefined;
  readonly #isStreamed: boolean;
  /** Empty where the body cannot be needed again, so that nothing here keeps it. */
  #candidates: readonly Candidate[];
  #upstream: Upstream;
  readonly #resolve: () => void;
  readonly #reject: (error: Error) => void;
  readonly #response: ServerResponse;
  readonly #startedAtMs = monotonicMs();
  #index = 0;
  #isRetried = false;
  #attempt: Attempt | undefined;
  /** Of the attempt, where it is recorded. */
  #span: Span | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #isBodySent = false;
  /** Once it has begun. */
  #answer: ClientAnswer | undefined;
  readonly #reading: ClientReading;
  #isOver = false;
  #bytesSent = 0;

  constructor(
    parts: ForwardingParts,
    deadlines: Deadlines,
    request: ForwardRequest,
    candidates: readonly Candidate[],
    resolve: () => void,
    reject: (error: Error) => void,
  ) {
    this.#parts = parts;
    this.#deadlines = deadlines;
    const { reply, outgoing } = request;
    this.#reply = reply;
    this.#dialect = request.dialect;
    this.#explanation = request.explanation;
    this.#preset = request.preset;
    this.#trace = reply.request.exchange?.trace;
    this.#isStreamed = outgoing.isStreamed;
    this.#candidates = candidates;
    this.#upstream = (candidates[0] as Candidate).upstream;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#response = reply.raw;
    this.#reading = new ClientReading({
      reply,
      stalled: parts.stalled,
      onPause: () => this.#attempt?.pause(),
      onResume: () => this.#attempt?.resume(),
      onCutOff: this.#clientGone,
    });
  }

  begin(): void {
    const { socket } = this.#reply.request.raw;
    if (socket.destroyed || socket.readableEnded) {
      this.#clientGone();
      return;
    }
    this.#response.once("close", this.#clientGone);
    // Elsewhere who has closed their side is still answered. Here it means that nobody waits for what is paid for.
    socket.once("end", this.#clientGone);
    this.#try();
  }

  #try(): void {
    const { upstream, model, parts } = this.#candidates[this.#index] as Candidate;
    this.#upstream = upstream;
    if (upstream.isFull) {
      this.failed({ kind: "full", reason: "has as many requests under way as it may" });
      return;
    }
    const { timeouts } = upstream;
    this.#isBodySent = false;
    this.#attempt = new Attempt(upstream, this, this.#deadlines, {
      firstByteMs: this.#isStreamed ? timeouts.firstByteStreamedMs : timeouts.firstByteMs,
      betweenChunksMs: timeouts.betweenChunksMs,
      untilMs: this.#startedAtMs + timeouts.totalMs,
    });
    let byteLength = 0;
    for (const part of parts) byteLength += part.length;
    this.#bytesSent += byteLength;
    const parent = this.#trace?.span;
    if (parent) this.#span = beginUpstreamSpan(parent, upstream, model, this.#preset);
    this.#attempt.send({
      path: upstream.pathOf(this.#dialect),
      headers: requestHeaders(this.#reply.request.headers, upstream, byteLength, this.#span ?? this.#trace),
      parts,
      byteLength,
    });
  }

  answered(status: number, headers: AnswerHeaders): void {
    if (status < 400 && status >= 300) {
      this.#attempt?.leave();
      this.failed({ kind: "bad_answer", reason: "answered with a redirect, which is not followed" });
    } else if (status < 400 || !this.#isTriedAgain(status, headers)) {
      this.#begin(status, headers);
    }
  }

  sent(): void {
    this.#isBodySent = true;
    if (this.#answer) this.#releaseBody();
  }

  received(chunk: Buffer): void {
    if (!this.#answer?.write(chunk)) this.#reading.pause();
  }

  ended(): void {
    this.#answer?.end();
    const usage = this.#answer?.usage;
    if (usage) this.#parts.metrics.used(this.#upstream.name, usage);
    this.#over(this.#response.statusCode);
  }

  failed(failure: Failure): void {
    if (this.#answer) {
      this.#breakOff(this.#answer, failure);
    } else if (!this.#isRetried && mayRetry(failure, this.#upstream)) {
      this.#retry(failure, 0);
    } else if (this.#isAnotherLeft && failure.kind !== "stopping") {
      this.#fallBack(failure);
    } else {
      this.#over(statusOf(failure), failure.kind);
      this.#reject(failureError(failure, this.#upstream.name));
    }
  }

  get #isAnotherLeft(): boolean {
    return this.#index + 1 < this.#candidates.length;
  }

  /** Whether an answer of an error is not passed on, because there is something better to do. */
  #isTriedAgain(status: number, headers: AnswerHeaders): boolean {
    const failure: Failure = { kind: "refused", reason: `answered with the status ${status}` };
    const waitMs = this.#isRetried ? undefined : retryWaitMs(status, headers, this.#upstream);
    if (waitMs !== undefined) {
      this.#attempt?.drop();
      this.#retry(failure, waitMs);
      return true;
    }
    if (!this.#isAnotherLeft || !mayBeServedByAnother(status)) return false;
    this.#attempt?.drop();
    this.#fallBack(failure);
    return true;
  }

  #retry(failure: Failure, waitMs: number): void {
    this.#isRetried = true;
    this.#attempt = undefined;
    this.#endSpan(failure.kind);
    this.#parts.metrics.retried(this.#upstream.name, failure.kind);
    // Never at once: this may be a callback of the connection that failed.
    this.#retryTimer = setTimeout(() => this.#try(), waitMs);
  }

  #fallBack(failure: Failure): void {
    this.#attempt = undefined;
    this.#endSpan(failure.kind);
    this.#parts.metrics.fellBack(this.#upstream.name, failure.kind);
    this.#index++;
    this.#retryTimer = setTimeout(() => this.#try(), 0);
  }

  #begin(status: number, headers: AnswerHeaders): void {
    const request = {
      reply: this.#reply,
      dialect: this.#dialect,
      model: (this.#candidates[this.#index] as Candidate).name,
      explanation: this.#explanation,
    };
    this.#answer = new ClientAnswer(request, this.#upstream, status, headers, this.#parts.isDraining());
    this.#reading.watch();
    this.#parts.metrics.answerBegun(this.#upstream.name, monotonicMs() - this.#startedAtMs);
    if (this.#isBodySent) this.#releaseBody();
    this.#resolve();
  }

  /** It cannot be needed any more, so its room is for others. */
  #releaseBody(): void {
    const { request } = this.#reply;
    this.#candidates = [];
    request.body = undefined;
    request.held?.shrink();
  }

  /** The upstream failed after its answer had begun. */
  #breakOff(answer: ClientAnswer, failure: Failure): void {
    const reply = this.#reply;
    const status = statusOf(failure);
    this.#parts.settle(reply, status);
    this.#parts.logger.warn(
      {
        upstream: this.#upstream.name,
        status,
        reason: failure.reason,
        request_id: reply.request.id,
        trace_id: this.#trace?.traceId,
      },
      "answer broke off",
    );
    this.#over(status, failure.kind);
    answer.breakOff(failure);
  }

  readonly #clientGone = (): void => {
    if (this.#isOver) return;
    const hasStalled = this.#reading.hasStalledFor(this.#upstream.timeouts.clientReadMs);
    this.#parts.metrics.aborted(this.#upstream.name, hasStalled ? "client_stalled" : "client_gone");
    this.#attempt?.leave();
    this.#over(clientClosedRequest, "client_gone");
    this.#response.destroy();
    if (!this.#answer) this.#reject(canceled());
  };

  #over(status: number, error = status >= 400 ? String(status) : undefined): void {
    this.#isOver = true;
    this.#reading.end();
    if (this.#span && this.#answer) recordAnswer(this.#span, this.#answer);
    this.#endSpan(error);
    clearTimeout(this.#retryTimer);
    this.#response.off("close", this.#clientGone);
    this.#reply.request.raw.socket.off("end", this.#clientGone);
    const ms = monotonicMs() - this.#startedAtMs;
    this.#parts.metrics.ended(this.#upstream.name, status, ms, this.#bytesSent, this.#answer?.bytes ?? 0);
  }

  #endSpan(error: string | undefined): void {
    this.#span?.end(error);
    this.#span = undefined;
  }
}
