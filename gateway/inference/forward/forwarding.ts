import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import { canceled } from "../../../services/platform/domain/domain-error.ts";
import type { Span, Trace } from "../../../services/platform/observe/trace.ts";
import { monotonicMs } from "../../../services/platform/process/clock.ts";
import type { DialectName } from "../../dialects/dialect-name.ts";
import type { Upstream, UpstreamCaller } from "../upstreams/upstreams.ts";
import { AnswerTail } from "./answer-tail.ts";
import { type AnswerHeaders, Attempt, type AttemptOwner } from "./attempt.ts";
import type { Deadlines } from "./deadlines.ts";
import { type Failure, failureError, statusOf } from "./failures.ts";
import type { Candidate, ForwarderParts, ForwardRequest } from "./forward.ts";
import { requestHeaders } from "./request-headers.ts";
import { isEventStream, passOnHeaders, shortWaitMs } from "./response-headers.ts";
import type { StalledAnswer } from "./stalled-answers.ts";
import { errorEvent } from "./stream-error.ts";
import { beginUpstreamSpan, recordAnswer, type UsedPreset } from "./upstream-span.ts";
import { type Usage, usageIn } from "./usage.ts";

/** The client has gone. */
const clientClosedRequest = 499;

/** Statuses that say: not now. Nothing was generated, so nothing is billed. */
const refusals = new Set([429, 503, 529]);
/** Statuses of faults, after which it is not known whether something is billed. */
const faults = new Set([500, 502, 504]);

/** One client's request, from its first attempt to the end of its answer. */
export class Forwarding implements AttemptOwner, StalledAnswer {
  readonly #parts: ForwarderParts;
  readonly #deadlines: Deadlines;
  readonly #reply: FastifyReply;
  readonly #dialect: DialectName;
  readonly #caller: UpstreamCaller;
  readonly #explanation: string | undefined;
  readonly #preset: UsedPreset | undefined;
  readonly #trace: Trace | undefined;
  readonly #model: string;
  readonly #isStreamed: boolean;
  /** Empty where the body cannot be needed again, so that nothing here keeps it. */
  #candidates: readonly Candidate[];
  #upstream: Upstream;
  readonly #resolve: () => void;
  readonly #reject: (error: Error) => void;
  readonly #response: ServerResponse;
  readonly #startedAtMs = monotonicMs();
  readonly #tail = new AnswerTail();
  #index = 0;
  #isRetried = false;
  #attempt: Attempt | undefined;
  /** Of the attempt, where it is recorded. */
  #span: Span | undefined;
  #usage: Usage | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #isBodySent = false;
  /** The answer has begun: what was sent cannot be taken back. */
  #isBegun = false;
  #isStream = false;
  #isEncoded = false;
  #isOver = false;
  #pausedAtMs: number | undefined;
  #isCutOff = false;
  #bytesSent = 0;
  #bytesReceived = 0;

  constructor(
    parts: ForwarderParts,
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
    this.#caller = request.caller;
    this.#explanation = request.explanation;
    this.#preset = request.preset;
    this.#trace = reply.request.exchange?.trace;
    this.#model = outgoing.model;
    this.#isStreamed = outgoing.isStreamed;
    this.#candidates = candidates;
    this.#upstream = (candidates[0] as Candidate).upstream;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#response = reply.raw;
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
      headers: requestHeaders(
        this.#reply.request.headers,
        upstream,
        this.#caller,
        byteLength,
        this.#span ?? this.#trace,
      ),
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
    if (this.#isBegun) this.#releaseBody();
  }

  received(chunk: Buffer): void {
    this.#bytesReceived += chunk.length;
    this.#tail.add(chunk);
    if (this.#response.write(chunk)) return;
    // More may come until the pause takes effect.
    if (this.#pausedAtMs !== undefined) return;
    this.#attempt?.pause();
    this.#pausedAtMs = monotonicMs();
    this.#parts.stalled.add(this);
  }

  get keyId(): string {
    return this.#reply.request.caller.principal.keyId;
  }

  cutOff(): void {
    this.#isCutOff = true;
    this.#clientGone();
  }

  ended(): void {
    this.#response.end();
    this.#countUsage();
    this.#over(this.#response.statusCode);
  }

  failed(failure: Failure): void {
    if (this.#isBegun) {
      this.#breakOff(failure);
    } else if (this.#mayRetry(failure)) {
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

  /** Whether a request that failed so may be sent again: it was not looked at, or the operator does not mind. */
  #mayRetry({ kind }: Failure): boolean {
    if (this.#isRetried) return false;
    if (kind === "unreachable" || kind === "stale_connection") return true;
    return kind === "broken" && this.#upstream.mayRetryAny;
  }

  /** Whether an answer of an error is not passed on, because there is something better to do. */
  #isTriedAgain(status: number, headers: AnswerHeaders): boolean {
    const failure: Failure = { kind: "refused", reason: `answered with the status ${status}` };
    if (!this.#isRetried) {
      const waitMs = refusals.has(status) ? shortWaitMs(headers) : undefined;
      const isFault = faults.has(status) && this.#upstream.mayRetryAny;
      if (waitMs !== undefined || isFault) {
        this.#attempt?.drop();
        this.#retry(failure, waitMs ?? 0);
        return true;
      }
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
    const explanation = this.#explanation;
    const upstream = this.#upstream;
    const response = this.#response;
    this.#isBegun = true;
    this.#isStream = isEventStream(headers);
    this.#isEncoded = headers["content-encoding"] !== undefined;
    const own = this.#reply.hijack().getHeaders() as Record<string, string>;
    passOnHeaders(headers, own);
    own["x-setpoint-upstream"] = upstream.name;
    if (this.#isStream) own["x-accel-buffering"] = "no";
    else if (explanation !== undefined) own["x-setpoint-provenance"] = explanation;
    // While draining, an answer is still given; its connection closes with it.
    if (this.#parts.isDraining()) own.connection = "close";
    const isExplained = explanation !== undefined && this.#isStream && !this.#isEncoded;
    if (isExplained || status === 204) delete own["content-length"];
    response.writeHead(status, own);
    response.on("drain", () => {
      this.#pausedAtMs = undefined;
      this.#parts.stalled.remove(this);
      this.#attempt?.resume();
    });
    // It is this that tells of a client that does not read; elsewhere it is told sooner.
    response.socket?.setTimeout(upstream.timeouts.clientReadMs);
    if (isExplained) response.write(`: ${explanation}\n\n`);
    // What has come together with the head goes out together with it.
    else process.nextTick(() => this.#isOver || response.flushHeaders());
    this.#parts.metrics.answerBegun(upstream.name, monotonicMs() - this.#startedAtMs);
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

  /** The upstream failed after its answer had begun: the status is sent, so the client is told as its dialect has it. */
  #breakOff(failure: Failure): void {
    const reply = this.#reply;
    const upstream = this.#upstream;
    const status = statusOf(failure);
    const response = this.#response;
    this.#parts.settle(reply, status);
    this.#parts.logger.warn(
      {
        upstream: upstream.name,
        status,
        reason: failure.reason,
        request_id: reply.request.id,
        trace_id: this.#trace?.traceId,
      },
      "answer broke off",
    );
    this.#over(status, failure.kind);
    // A length that is not reached, or an end that does not come, tells enough where there are no events.
    if (!this.#isStream || this.#isEncoded) {
      response.destroy();
      return;
    }
    const event = errorEvent({
      dialect: this.#dialect,
      status,
      message: `The upstream ${upstream.name} ${failure.reason}.`,
      model: this.#model,
      requestId: reply.request.id,
      tail: this.#tail.text(),
    });
    const { socket } = response;
    response.end(event, () => socket?.destroySoon());
  }

  readonly #clientGone = (): void => {
    if (this.#isOver) return;
    this.#parts.metrics.aborted(this.#upstream.name, this.#hasStalled ? "client_stalled" : "client_gone");
    this.#attempt?.leave();
    this.#over(clientClosedRequest, "client_gone");
    this.#response.destroy();
    if (!this.#isBegun) this.#reject(canceled());
  };

  /** Whether the client was cut off for not reading. */
  get #hasStalled(): boolean {
    if (this.#isCutOff) return true;
    return this.#pausedAtMs !== undefined && monotonicMs() - this.#pausedAtMs >= this.#upstream.timeouts.clientReadMs;
  }

  #over(status: number, error = status >= 400 ? String(status) : undefined): void {
    this.#isOver = true;
    this.#parts.stalled.remove(this);
    if (this.#span && this.#isBegun) recordAnswer(this.#span, this.#response.statusCode, this.#tail, this.#usage);
    this.#endSpan(error);
    clearTimeout(this.#retryTimer);
    this.#response.off("close", this.#clientGone);
    this.#reply.request.raw.socket.off("end", this.#clientGone);
    const ms = monotonicMs() - this.#startedAtMs;
    this.#parts.metrics.ended(this.#upstream.name, status, ms, this.#bytesSent, this.#bytesReceived);
  }

  #endSpan(error: string | undefined): void {
    this.#span?.end(error);
    this.#span = undefined;
  }

  #countUsage(): void {
    if (this.#response.statusCode >= 300 || this.#isEncoded) return;
    this.#usage = usageIn(this.#tail.text(), this.#tail.first);
    if (this.#usage) this.#parts.metrics.used(this.#upstream.name, this.#usage);
  }
}

/** Whether another model might do better. What is wrong with a request itself is wrong everywhere. */
function mayBeServedByAnother(status: number): boolean {
  return status >= 500 || status === 402 || status === 404 || status === 408 || status === 429;
}
