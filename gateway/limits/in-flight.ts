import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Metrics } from "../../services/platform/observe/metrics.ts";
import { ByteBudget, Reservation } from "../../services/platform/process/byte-budget.ts";
import { HttpError, retryAfterSeconds, tooManyRequests } from "../json/errors.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What the request holds of the memory; undefined where it has no key and its answer is small. */
    held: Held | undefined;
  }
}

/** A request with all that belongs to it weighs this much at least. What is smaller is not counted on its own. */
const requestBytes = 4 * 1024;
/** A page that is sent as it comes: the part that is being read and the part that is being sent. */
const streamBytes = 4 * 1024 * 1024;
/** An answer that is larger than this does not vanish into the buffers of the network at once. */
const largeBytes = 64 * 1024;
/** An answer may be read slowly, but not forever. */
const readWithinMs = 120_000;

/** How far answers that must be given may go beyond the budget, as a share of it. */
const overdraftMax = 1.5;

interface InFlightLimits {
  readonly inFlightBytesMax: number;
  readonly keyRequestsMax: number;
  readonly bodyBytesMax: number;
}

/** What a request holds, until its answer is sent or its client is gone. */
class Held {
  /** The share of the key, or where there is no key, the whole. */
  readonly budget: ByteBudget;
  readonly reservation: Reservation;
  /** Ends an answer that takes too long to be read. */
  readTimer: NodeJS.Timeout | undefined;
  readonly #onRelease: (() => void) | undefined;

  constructor(budget: ByteBudget, reservation: Reservation, onRelease?: () => void) {
    this.budget = budget;
    this.reservation = reservation;
    this.#onRelease = onRelease;
  }

  /** Where the body is not needed any more, and the answer is sent as it comes. */
  shrink(): void {
    this.reservation.shrinkTo(requestBytes);
  }

  release(): void {
    this.reservation.release();
    if (this.readTimer) clearTimeout(this.readTimer);
    this.#onRelease?.();
  }
}

/** What one key has in flight. It exists only as long as there is something. */
interface KeyShare {
  readonly budget: ByteBudget;
  requests: number;
}

/**
 * Bounds what is in memory between clients and services: bodies from the moment they are announced, answers until the
 * client has taken them. Beyond it new work is refused, and what is running ends. No key gets more than half.
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

  /** Lets a request of a key in, ahead of its body, or throws. Some routes take larger bodies than others. */
  admit(request: FastifyRequest, keyId: string): void {
    // Nothing will tell when the request of a client that has left by now is over.
    if (request.raw.socket.destroyed) return;
    const share = this.#shares.get(keyId) ?? this.#newShare();
    if (share.requests >= this.#limits.keyRequestsMax) throw this.#keyRefusal();
    const bytes = Math.max(requestBytes, this.#announcedBytes(request));
    const reservation = share.budget.reserve(bytes);
    if (!reservation) throw this.#refusal(share.budget, bytes);
    share.requests += 1;
    this.#shares.set(keyId, share);
    hold(request, new Held(share.budget, reservation, () => this.#leave(keyId, share)));
  }

  #leave(keyId: string, share: KeyShare): void {
    share.requests -= 1;
    if (share.requests === 0) this.#shares.delete(keyId);
  }

  /** The body of an admitted request whose length is not announced is counted as it comes. */
  counted(request: FastifyRequest, body: Readable): Readable {
    const { held } = request;
    if (!held || request.headers["transfer-encoding"] === undefined) return body;
    return Readable.from(this.#countedChunks(held, body));
  }

  /** Makes room for an answer, or returns what to answer instead where this one can be asked for again. */
  answer(request: FastifyRequest, reply: FastifyReply, payload: unknown): Error | undefined {
    const bytes = sizeOf(payload);
    // A request holds room for the larger of its body and its answer.
    const missing = bytes - (request.held?.reservation.bytes ?? requestBytes);
    // Nobody waits for it any more where the client has left.
    if (missing <= 0 || request.raw.socket.destroyed) return undefined;
    const refusal = this.#makeRoom(request, reply, missing);
    // How long a page takes that is sent as it comes depends on its length, and it is never in memory as a whole.
    if (!refusal && bytes > largeBytes && !(payload instanceof Readable)) limitReader(reply, request.held);
    return refusal;
  }

  #newShare(): KeyShare {
    return { budget: new ByteBudget(this.#budget.maxBytes / 2, this.#budget), requests: 0 };
  }

  #makeRoom(request: FastifyRequest, reply: FastifyReply, bytes: number): Error | undefined {
    const held = request.held ?? hold(request, new Held(this.#budget, new Reservation(this.#budget)));
    const { budget, reservation } = held;
    if (reservation.grow(bytes)) return undefined;
    const isRepeatable = request.method === "GET" || request.method === "HEAD";
    if (isRepeatable && reply.statusCode < 400) {
      // They are about the answer that is not given.
      reply.removeHeader("etag").removeHeader("cache-control");
      return this.#refusal(budget, bytes);
    }
    // What was done must be told. Where too many do not listen, they are cut off: to them the outcome is open.
    reservation.overdraw(bytes);
    if (this.#budget.used > overdraftMax * this.#budget.maxBytes) reply.raw.destroy();
    return undefined;
  }

  /** What is over the limit of a body is not read, so it needs no room. */
  #announcedBytes(request: FastifyRequest): number {
    if (request.method === "GET" || request.method === "HEAD") return 0;
    const bytes = Number(request.headers["content-length"] ?? 0);
    // Few routes take more than others, and few bodies are so large; the limit of a route is costly to ask for.
    return bytes <= this.#limits.bodyBytesMax || bytes <= request.routeOptions.bodyLimit ? bytes : 0;
  }

  async *#countedChunks({ budget, reservation }: Held, body: Readable): AsyncGenerator<Buffer> {
    let received = 0;
    // The rest of a body that is refused is still received, and dropped.
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
    return new HttpError(503, "The service has too much to do, and has not begun with this. Try again in a moment.", {
      "retry-after": retryAfterSeconds,
    });
  }

  #keyRefusal(): Error {
    this.#metrics.refused("key_inflight");
    return tooManyRequests("This key has too much under way. Wait for answers, and read them, before you send more.", {
      limit: this.#limits.keyRequestsMax,
      remaining: 0,
      nextInSeconds: 1,
      fullInSeconds: 1,
    });
  }
}

/** It is given back with the end of the exchange, whatever becomes of the request in between. */
function hold(request: FastifyRequest, held: Held): Held {
  request.held = held;
  if (request.exchange) request.exchange.held = held;
  return held;
}

/** What is in memory for good, and once for all who are sent it. */
const sharedBytes = new WeakSet<Uint8Array>();

/** Has bytes that stay in memory anyway not counted, however many of their readers are slow. */
export function shared(bytes: Buffer): Buffer {
  sharedBytes.add(bytes);
  return bytes;
}

function sizeOf(payload: unknown): number {
  // Of a small text its length is close enough: to measure it takes longer than all else here.
  if (typeof payload === "string") return payload.length > largeBytes ? Buffer.byteLength(payload) : payload.length;
  if (payload instanceof Uint8Array) return sharedBytes.has(payload) ? 0 : payload.length;
  return payload instanceof Readable ? streamBytes : 0;
}

/** A large text that waits for its reader takes three times its size: as such, behind its head, and as bytes. */
export function asHeld(payload: unknown): unknown {
  return typeof payload === "string" && payload.length > largeBytes ? Buffer.from(payload) : payload;
}

/** Who takes a byte now and then would hold the memory of all of it. */
function limitReader({ raw }: FastifyReply, held: Held | undefined): void {
  if (held) held.readTimer = setTimeout(() => raw.destroy(), readWithinMs).unref();
}
