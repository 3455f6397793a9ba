import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Metrics } from "../../services/platform/observe/metrics.ts";
import { ByteBudget, Reservation } from "../../services/platform/process/byte-budget.ts";
import { HttpError, retryAfterSeconds, tooManyRequests } from "../json/http-error.ts";
import { largeBytes, payloadBytes } from "./payload.ts";
import { attachMemory, RequestMemory, requestBytes } from "./request-memory.ts";

/** For a large answer, which may be read slowly, but not forever. */
const readWithinMs = 120_000;

/** How many times the budget may be in use because of answers that must be sent. */
const overdraftMax = 1.5;

interface InFlightLimits {
  readonly inFlightBytesMax: number;
  readonly keyRequestsMax: number;
  readonly bodyBytesMax: number;
}

/** What one key has in flight. It exists only while there is something. */
interface KeyShare {
  readonly budget: ByteBudget;
  requests: number;
}

/**
 * Bounds the memory between clients and services: bodies from the moment they are announced, answers until the client
 * has received them. Beyond it, new work is refused, and work in flight is finished. No key gets more than half.
 */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #metrics: Metrics;
  readonly #budget: ByteBudget;
  readonly #shares = new Map<string, KeyShare>();

  constructor(limits: InFlightLimits, metrics: Metrics) {
    this.#limits = limits;
    this.#metrics = metrics;
    this.#budget = new ByteBudget(limits.inFlightBytesMax);
    metrics.watchInFlightBytes(limits.inFlightBytesMax, () => this.#budget.used);
  }

  get bytes(): number {
    return this.#budget.used;
  }

  get keys(): number {
    return this.#shares.size;
  }

  /** Makes room for the body of a request, before it is read, or throws. */
  admit(request: FastifyRequest, keyId: string): void {
    // If the client has already left, nothing would signal the end of its request.
    if (request.raw.socket.destroyed) return;
    const share = this.#shares.get(keyId) ?? this.#newShare();
    if (share.requests >= this.#limits.keyRequestsMax) throw this.#keyRefusal();
    const bytes = Math.max(requestBytes, this.#announcedBytes(request));
    const reservation = share.budget.reserve(bytes);
    if (!reservation) throw this.#refusal(share.budget, bytes);
    share.requests += 1;
    this.#shares.set(keyId, share);
    attachMemory(request, new RequestMemory(share.budget, reservation, () => this.#leave(keyId, share)));
  }

  #leave(keyId: string, share: KeyShare): void {
    share.requests -= 1;
    if (share.requests === 0) this.#shares.delete(keyId);
  }

  /** Counts the body of an admitted request as it arrives, if its length was not announced. */
  countBody(request: FastifyRequest, body: Readable): Readable {
    const { memory } = request;
    if (!memory || request.headers["transfer-encoding"] === undefined) return body;
    return Readable.from(this.#countedChunks(memory, body));
  }

  /** Makes room for an answer, or returns an error to send instead if the request can be repeated. */
  admitAnswer(request: FastifyRequest, reply: FastifyReply, payload: unknown): Error | undefined {
    const bytes = payloadBytes(payload);
    // A request holds room for the larger of its body and its answer.
    const missing = bytes - (request.memory?.reservation.bytes ?? requestBytes);
    // Nothing is held for a client that has left.
    if (missing <= 0 || request.raw.socket.destroyed) return undefined;
    const refusal = this.#makeRoom(request, reply, missing);
    // A stream has no limit: it is never in memory as a whole, and may have any length.
    if (!refusal && bytes > largeBytes && !(payload instanceof Readable)) limitReader(reply, request.memory);
    return refusal;
  }

  #newShare(): KeyShare {
    return { budget: new ByteBudget(this.#budget.maxBytes / 2, this.#budget), requests: 0 };
  }

  #makeRoom(request: FastifyRequest, reply: FastifyReply, bytes: number): Error | undefined {
    const memory =
      request.memory ?? attachMemory(request, new RequestMemory(this.#budget, new Reservation(this.#budget)));
    const { budget, reservation } = memory;
    if (reservation.grow(bytes)) return undefined;
    const isRepeatable = request.method === "GET" || request.method === "HEAD";
    if (isRepeatable && reply.statusCode < 400) {
      // These headers belong to the answer that is not sent.
      reply.removeHeader("etag").removeHeader("cache-control");
      return this.#refusal(budget, bytes);
    }
    // The caller must learn of a change that was made. If too many do not read their answers, they are cut off, and do
    // not learn of it.
    reservation.overdraw(bytes);
    if (this.#budget.used > overdraftMax * this.#budget.maxBytes) reply.raw.destroy();
    return undefined;
  }

  /** A body that is over the limit is not read, so it needs no room. */
  #announcedBytes(request: FastifyRequest): number {
    if (request.method === "GET" || request.method === "HEAD") return 0;
    const bytes = Number(request.headers["content-length"] ?? 0);
    // The limit of the route is checked last, because looking it up is costly, and few bodies are that large.
    return bytes <= this.#limits.bodyBytesMax || bytes <= request.routeOptions.bodyLimit ? bytes : 0;
  }

  async *#countedChunks({ budget, reservation }: RequestMemory, body: Readable): AsyncGenerator<Buffer> {
    let received = 0;
    // A refused body is not destroyed: the rest of it is still received, and dropped.
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      received += chunk.length;
      const missing = received - reservation.bytes;
      if (missing > 0 && !reservation.grow(missing)) throw this.#refusal(budget, missing);
      yield chunk;
    }
  }

  #refusal(budget: ByteBudget, bytes: number): Error {
    if (budget !== this.#budget && !budget.fits(bytes)) return this.#keyRefusal();
    this.#metrics.refused("process_bytes");
    return new HttpError(503, "The gateway is overloaded and has not started on this request. Try again in a moment.", {
      "retry-after": retryAfterSeconds,
    });
  }

  #keyRefusal(): Error {
    this.#metrics.refused("key_inflight");
    return tooManyRequests(
      "This key has too many requests or bytes in flight. Wait for answers, and read them, before you send more.",
      {
        limit: this.#limits.keyRequestsMax,
        remaining: 0,
        nextInSeconds: 1,
        fullInSeconds: 1,
      },
    );
  }
}

/** A client that reads a byte now and then would otherwise hold the memory of the whole answer. */
function limitReader({ raw }: FastifyReply, memory: RequestMemory | undefined): void {
  if (memory) memory.readTimer = setTimeout(() => raw.destroy(), readWithinMs).unref();
}
