import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import type { DialectName } from "../../dialects/dialect-name.ts";
import type { AnswerHeaders } from "../upstreams/answer-head.ts";
import { type HiddenSecret, SecretFilter } from "../upstreams/hidden-secret.ts";
import type { Upstream } from "../upstreams/upstreams.ts";
import { AnswerTail } from "./answer-tail.ts";
import { writeChunk } from "./chunk-frames.ts";
import { EncodedError } from "./encoded-error.ts";
import { type Failure, statusOf } from "./failures.ts";
import { isEncoded, isEventStream, passOnHeaders } from "./response-headers.ts";
import { isLastEvent } from "./stream-end.ts";
import { errorEvent } from "./stream-error.ts";
import { type Usage, usageIn } from "./usage.ts";
import { WholeEvents } from "./whole-events.ts";

/** How long a connection is kept for another request after its answer broke off. */
const idleAfterBreakMs = 1_000;

/** The request being answered. Nothing of its body is kept: an answer may take minutes. */
interface AnsweredRequest {
  readonly reply: FastifyReply;
  readonly dialect: DialectName;
  /** As the request names it; from a list, the one that answers. */
  readonly model: string;
  readonly explanation: string | undefined;
  /** What it was sent with. */
  readonly hiddenSecrets: readonly HiddenSecret[];
}

/**
 * An upstream's answer on its way to the client. Its headers are written at once, so the status cannot be changed any
 * more.
 */
export class ClientAnswer {
  readonly tail = new AnswerTail();
  bytes = 0;
  /** The token usage that it reports, once it is complete. */
  usage: Usage | undefined;
  readonly #request: AnsweredRequest;
  readonly #response: ServerResponse;
  readonly #upstream: Upstream;
  readonly #isEncoded: boolean;
  /** Masks the upstream's secrets, which an answer may echo. */
  readonly #filter: SecretFilter | undefined;
  /** Only for an error, which is short, and may well echo a credential. */
  readonly #encoded: EncodedError | undefined;
  /** Set for a stream of events that is not compressed, so that an event of ours can be added. */
  readonly #events: WholeEvents | undefined;
  #isHeadSent = false;

  constructor(
    request: AnsweredRequest,
    upstream: Upstream,
    status: number,
    headers: AnswerHeaders,
    isDraining: boolean,
  ) {
    const { reply, explanation, hiddenSecrets } = request;
    this.#request = request;
    this.#response = reply.raw;
    this.#upstream = upstream;
    const isStream = isEventStream(headers);
    this.#filter = SecretFilter.of(hiddenSecrets);
    this.#encoded = this.#filter && status >= 400 ? EncodedError.of(headers["content-encoding"]) : undefined;
    this.#isEncoded = isEncoded(headers);
    this.#events = isStream && !this.#isEncoded ? new WholeEvents() : undefined;
    this.#writeHead(status, headers, isStream, isDraining);
    if (this.#events && explanation !== undefined) this.#send(Buffer.from(`: ${explanation}\n\n`));
    // Deferred, so that the first bytes of the body are sent together with the headers.
    process.nextTick(() => this.#afterFirstTurn());
  }

  get status(): number {
    return this.#response.statusCode;
  }

  /** Whether it is a stream whose last event has come, so that nothing is missing but the end of its framing. */
  get isComplete(): boolean {
    return this.#events?.isBetweenEvents === true && isLastEvent(this.tail.lastEvent);
  }

  /**
   * Returns whether the client accepts more at once. A chunk is decoded, masked, and then held until its event is
   * complete.
   */
  write(chunk: Buffer): boolean {
    this.bytes += chunk.length;
    if (!this.#encoded) return this.#writeDecoded(chunk);
    this.#encoded.add(chunk);
    return true;
  }

  end(): void {
    if (this.#encoded) this.#writeDecoded(this.#encoded.text());
    const kept = this.#filter?.rest();
    if (kept) this.#writeFiltered(kept);
    const rest = this.#events?.rest();
    if (rest) this.tail.add(rest);
    this.#response.end(rest);
    if (this.status < 300 && !this.#isEncoded) this.usage = usageIn(this.tail.text(), this.tail.start);
  }

  /**
   * Ends an answer that the upstream did not complete. The status is already sent, so the client is told in its
   * dialect.
   */
  breakOff(failure: Failure): void {
    const response = this.#response;
    if (!this.#events) {
      cutOff(response);
      return;
    }
    const { dialect, model, reply } = this.#request;
    const event = errorEvent({
      dialect,
      status: statusOf(failure),
      message: `The upstream ${this.#upstream.name} ${failure.reason}.`,
      model,
      requestId: reply.request.id,
      tail: this.tail.text(),
      isInEvent: this.#events.isInside,
    });
    const { socket } = response;
    // The connection is not closed at once: the client may already have sent its next request on it.
    response.once("close", () => socket?.setTimeout(idleAfterBreakMs)).end(event);
  }

  #writeHead(status: number, headers: AnswerHeaders, isStream: boolean, isDraining: boolean): void {
    const { reply, dialect, explanation, hiddenSecrets } = this.#request;
    const own = reply.hijack().getHeaders() as Record<string, string>;
    passOnHeaders(status, headers, own, hiddenSecrets);
    // Where Anthropic's clients look for it, as on our own errors.
    if (dialect === "messages") own["request-id"] = reply.request.id;
    own["x-setpoint-upstream"] = this.#upstream.name;
    if (isStream) own["x-accel-buffering"] = "no";
    if (!this.#events && explanation !== undefined) own["x-setpoint-provenance"] = explanation;
    // While draining, requests are still answered, and their connections closed.
    if (isDraining) own.connection = "close";
    if (this.#events || this.#encoded || status === 204) delete own["content-length"];
    if (this.#encoded) delete own["content-encoding"];
    this.#response.writeHead(status, own);
  }

  #writeDecoded(chunk: Buffer): boolean {
    const shown = this.#filter ? this.#filter.add(chunk) : chunk;
    return shown ? this.#writeFiltered(shown) : true;
  }

  #writeFiltered(chunk: Buffer): boolean {
    const whole = this.#events ? this.#events.add(chunk) : chunk;
    if (!whole) return true;
    this.tail.add(whole);
    return this.#send(whole);
  }

  #send(chunk: Buffer): boolean {
    if (this.#isHeadSent) return writeChunk(this.#response, chunk);
    this.#isHeadSent = true;
    return this.#response.write(chunk);
  }

  /** If the answer is not complete by now: sends its headers, and starts the client's time limit for reading. */
  #afterFirstTurn(): void {
    const response = this.#response;
    if (response.writableFinished || response.destroyed) return;
    // This detects a client that does not read. On other routes the server's shorter timeout does.
    response.socket?.setTimeout(this.#upstream.timeouts.clientReadMs);
    if (this.#isHeadSent || response.writableEnded) return;
    this.#isHeadSent = true;
    response.flushHeaders();
  }
}

/**
 * Ends an answer to which no event can be added. A client notices by a length that is not reached, or by a missing end.
 * HTTP/1.0 has no chunks: without a length, only a reset tells a broken answer from a complete one.
 */
function cutOff(response: ServerResponse): void {
  if (response.req.httpVersionMinor === 0) response.socket?.resetAndDestroy();
  response.destroy();
}
