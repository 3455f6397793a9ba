import type { FastifyReply } from "fastify";
import { canceled } from "../../../services/platform/domain/domain-error.ts";
import type { Logger } from "../../../services/platform/observe/logger.ts";
import { monotonicMs } from "../../../services/platform/time/clock.ts";
import type { DialectName } from "../../dialects/dialect-name.ts";
import type { LogDetails } from "../../http/access-log.ts";
import { clientClosedRequest } from "../../http/exchanges.ts";
import { logIdsOf } from "../../http/log-ids.ts";
import { countsTokens, dialectByCall } from "../calls.ts";
import type { AnswerKind, InferenceMetrics } from "../inference-metrics.ts";
import type { AnswerHeaders } from "../upstreams/answer-head.ts";
import type { Upstream } from "../upstreams/upstreams.ts";
import { Attempts, type AttemptsOwner } from "./attempts.ts";
import { ClientAnswer } from "./client-answer.ts";
import { ClientReading } from "./client-reading.ts";
import type { Deadlines } from "./deadlines.ts";
import { type Failure, failureError, statusOf } from "./failures.ts";
import type { Candidate, ForwardRequest } from "./forward-request.ts";
import { shownName } from "./shown-name.ts";
import type { StalledAnswers } from "./stalled-answers.ts";

export interface ForwardingParts {
  readonly metrics: InferenceMetrics;
  readonly logger: Logger;
  readonly stalled: StalledAnswers;
  readonly isDraining: () => boolean;
  /** Records an outcome that can no longer be sent to the client as a status. */
  readonly settle: (reply: FastifyReply, status: number) => void;
}

/** One client's request, from its first attempt to the end of its answer: the client's side of it. */
export class Forwarding implements AttemptsOwner {
  readonly #parts: ForwardingParts;
  readonly #reply: FastifyReply;
  readonly #dialect: DialectName;
  readonly #kind: AnswerKind;
  readonly #explanation: string | undefined;
  readonly #resolve: () => void;
  readonly #reject: (error: Error) => void;
  readonly #startedAtMs = monotonicMs();
  readonly #details: LogDetails;
  readonly #attempts: Attempts;
  readonly #reading: ClientReading;
  /** Undefined until it has begun. */
  #answer: ClientAnswer | undefined;
  #isFinished = false;

  constructor(
    parts: ForwardingParts,
    deadlines: Deadlines,
    { reply, call, explanation, preset, outgoing }: ForwardRequest,
    candidates: readonly Candidate[],
    resolve: () => void,
    reject: (error: Error) => void,
  ) {
    this.#parts = parts;
    this.#reply = reply;
    this.#dialect = dialectByCall[call];
    this.#explanation = explanation;
    this.#resolve = resolve;
    this.#reject = reject;
    const { headers, exchange } = reply.request;
    const { isStreamed } = outgoing;
    this.#details = {
      preset: preset && `${shownName(preset.slug)}@${preset.version}`,
      model: shownName(outgoing.model),
    };
    if (exchange) exchange.details = this.#details;
    this.#kind = countsTokens(call) ? "count" : isStreamed ? "stream" : "whole";
    const attempted = { call, headers, isStreamed, preset, trace: exchange?.trace, startedAtMs: this.#startedAtMs };
    this.#attempts = new Attempts(parts.metrics, deadlines, attempted, candidates, this);
    this.#reading = new ClientReading({
      reply,
      stalled: parts.stalled,
      onPause: () => this.#attempts.pause(),
      onResume: () => this.#attempts.resume(),
      onCutOff: this.#clientGone,
    });
  }

  begin(): void {
    const { socket } = this.#reply.request.raw;
    if (socket.destroyed || socket.readableEnded) {
      this.#clientGone();
      return;
    }
    this.#reply.raw.on("close", this.#clientGone);
    // Other routes still answer a client that has half-closed, unless that takes long. Here it means that nobody waits
    // for an answer that costs money.
    socket.on("end", this.#clientGone);
    this.#attempts.try();
  }

  /** At once: the line of a request whose client leaves may be written before anything else is known. */
  trying({ name }: Upstream, model: string): void {
    this.#details.upstream = name;
    // From a list, it may be another model than the first.
    this.#details.model = shownName(model);
  }

  answered(status: number, headers: AnswerHeaders): void {
    const { upstream, model, hiddenSecrets } = this.#attempts;
    const request = {
      reply: this.#reply,
      dialect: this.#dialect,
      model,
      explanation: this.#explanation,
      hiddenSecrets,
    };
    this.#answer = new ClientAnswer(request, upstream, status, headers, this.#parts.isDraining());
    const ms = monotonicMs() - this.#startedAtMs;
    this.#parts.metrics.answerBegun(upstream.name, this.#kind, ms);
    this.#details.first_byte_ms = Math.round(ms);
    this.#resolve();
  }

  received(chunk: Buffer): void {
    if (!this.#answer?.write(chunk)) this.#reading.pause();
  }

  ended(): void {
    this.#answer?.end();
    const usage = this.#answer?.usage;
    if (usage) {
      this.#parts.metrics.used(this.#attempts.upstream.name, usage);
      Object.assign(this.#details, { input_tokens: usage.input, output_tokens: usage.output });
    }
    this.#finish(this.#reply.raw.statusCode);
  }

  failed(failure: Failure): void {
    if (this.#answer?.isComplete) {
      // An error behind the last event would make clients throw away a whole answer.
      this.ended();
    } else if (this.#answer) {
      this.#breakOff(this.#answer, failure);
    } else {
      // Upstreams at their limit are counted in the metrics, and need not fill the log.
      if (failure.kind !== "full") this.#log(failure, "no answer");
      this.#finish(statusOf(failure), failure.kind);
      this.#reject(failureError(failure, this.#attempts.upstream));
    }
  }

  /** Frees the memory of the body for others. */
  bodyReleased(): void {
    const { request } = this.#reply;
    request.body = undefined;
    request.memory?.shrink();
  }

  /** The upstream failed after its answer had begun. */
  #breakOff(answer: ClientAnswer, failure: Failure): void {
    const status = statusOf(failure);
    this.#parts.settle(this.#reply, status);
    this.#log(failure, "answer broke off");
    this.#finish(status, failure.kind);
    answer.breakOff(failure);
  }

  #log(failure: Failure, message: string): void {
    const logged = { upstream: this.#attempts.upstream.name, status: statusOf(failure), reason: failure.reason };
    this.#parts.logger.warn({ ...logged, ...logIdsOf(this.#reply.request) }, message);
  }

  readonly #clientGone = (): void => {
    if (this.#isFinished) return;
    const { name, timeouts } = this.#attempts.upstream;
    const hasStalled = this.#reading.hasStalledFor(timeouts.clientReadMs);
    this.#parts.metrics.aborted(name, hasStalled ? "client_stalled" : "client_gone");
    this.#attempts.abort();
    this.#finish(clientClosedRequest, "client_gone");
    this.#reply.raw.destroy();
    if (!this.#answer) this.#reject(canceled());
  };

  #finish(status: number, error = status >= 400 ? String(status) : undefined): void {
    this.#isFinished = true;
    this.#reading.end();
    this.#attempts.end(this.#answer, error);
    this.#reply.raw.off("close", this.#clientGone);
    this.#reply.request.raw.socket.off("end", this.#clientGone);
    const { upstream, bytesSent } = this.#attempts;
    const ms = monotonicMs() - this.#startedAtMs;
    this.#parts.metrics.ended(upstream.name, status, ms, bytesSent, this.#answer?.bytes ?? 0);
  }
}
