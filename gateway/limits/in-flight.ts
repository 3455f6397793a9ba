import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { canceled } from "../../services/platform/domain/domain-error.ts";
import { ByteBudget, smallBytes } from "../../services/platform/memory/byte-budget.ts";
import type { Metrics } from "../../services/platform/observe/metrics.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { bodyTooLarge, HttpError, nothingLeft, retryAfterSeconds, tooManyRequests } from "../json/http-error.ts";
import { largeBytes, payloadBytes } from "./payload.ts";
import { RequestMemory, requestBytes } from "./request-memory.ts";

/** For a large answer, which may be read slowly, but not forever. */
const readWithinMs = 120_000;

/** How many times the budget may be in use because of answers that must be sent. */
const overdraftMax = 1.5;

interface InFlightLimits {
  readonly inFlightBytesMax: number;
  readonly keyRequestsMax: number;
  readonly bodyBytesMax: number;
}

/** Of a budget: what it has beyond its limit for small requests and answers. */
const sparePart = 1 / 8;
/** Of the whole: what the requests of one organization may take together, and those of one key. */
const [organizationPart, keyPart] = [3 / 4, 1 / 2];

/**
 * The room for a large body is taken back, when others need it, if after this time less of it has arrived than this many
 * bytes for each further millisecond. From then on it counts as it arrives.
 */
const [arrivalGraceMs, arrivalBytesPerMs] = [1_000, 1_024];

/** Whose request it is. */
export interface InFlightCaller {
  readonly keyId: string;
  /** Undefined if the organization of the key is gone. */
  readonly organizationId: string | undefined;
}

/** What an organization or one of its keys has in flight. It exists only while there is something. */
interface Share {
  readonly budget: ByteBudget;
  requests: number;
}

/**
 * Bounds the memory between clients and services: bodies from the moment they are announced, answers until the client
 * has received them. Beyond it, new work is refused, and work in flight is finished. No key gets more than half, no
 * organization more than three quarters; small requests and answers have something of their own beyond all three.
 */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #metrics: Metrics;
  readonly #budget: ByteBudget;
  readonly #organizations = new Map<string, Share>();
  readonly #keys = new Map<string, Share>();
  /** Those that hold room for a large body which has not arrived completely. */
  readonly #arriving = new Set<RequestMemory>();

  constructor(limits: InFlightLimits, metrics: Metrics) {
    this.#limits = limits;
    this.#metrics = metrics;
    this.#budget = new ByteBudget(limits.inFlightBytesMax, { spareBytes: sparePart * limits.inFlightBytesMax });
    metrics.watchInFlightBytes(limits.inFlightBytesMax, () => this.#budget.used);
  }

  get bytes(): number {
    return this.#budget.used;
  }

  get keys(): number {
    return this.#keys.size;
  }

  /** Makes room for a request, before its body is read, or throws. */
  admit(request: FastifyRequest, { keyId, organizationId = keyId }: InFlightCaller): void {
    // It left while its key was checked: nobody waits for the answer, and nothing would signal the end of the request.
    if (request.raw.socket.destroyed) throw canceled();
    const organization = this.#organizations.get(organizationId) ?? this.#newShare(organizationPart, this.#budget);
    const key = this.#keys.get(keyId) ?? this.#newShare(keyPart, organization.budget);
    if (key.requests >= this.#limits.keyRequestsMax) throw this.#keyRefusal();
    const bytes = Math.max(requestBytes, this.#announcedBytes(request));
    const memory = new RequestMemory(key.budget, () => {
      leave(this.#organizations, organizationId, organization);
      leave(this.#keys, keyId, key);
      this.#arriving.delete(memory);
    });
    const full = this.#grow(memory, bytes);
    if (full) throw this.#refusal(full, key.budget);
    enter(this.#organizations, organizationId, organization);
    enter(this.#keys, keyId, key);
    if (bytes > smallBytes) this.#arriving.add(memory);
    request.memory = memory;
  }

  /** Counts the body of an admitted request as it arrives, if it is large or its length was not announced. */
  countBody(request: FastifyRequest, body: Readable): Readable {
    const { memory, headers } = request;
    const isCounted = headers["transfer-encoding"] !== undefined || this.#announcedBytes(request) > smallBytes;
    return memory && isCounted ? Readable.from(this.#countedChunks(request, memory, body)) : body;
  }

  /** Makes room for an answer, or returns an error to send instead if the request can be repeated. */
  admitAnswer(request: FastifyRequest, reply: FastifyReply, payload: unknown): Error | undefined {
    const bytes = payloadBytes(payload);
    // A request holds room for the larger of its body and its answer.
    const missing = bytes - (request.memory?.reservation.bytes ?? requestBytes);
    // Nothing is held for a client that has left.
    if (request.raw.socket.destroyed) return undefined;
    const refusal = missing > 0 ? this.#makeRoom(request, reply, missing) : undefined;
    // A stream has no limit: it is never in memory as a whole, and may have any length.
    if (!refusal && bytes > largeBytes && !(payload instanceof Readable)) limitReader(reply, request.memory);
    return refusal;
  }

  #newShare(part: number, whole: ByteBudget): Share {
    const maxBytes = part * this.#budget.maxBytes;
    return { budget: new ByteBudget(maxBytes, { whole, spareBytes: sparePart * maxBytes }), requests: 0 };
  }

  #makeRoom(request: FastifyRequest, reply: FastifyReply, bytes: number): Error | undefined {
    request.memory ??= new RequestMemory(this.#budget);
    const { budget, reservation } = request.memory;
    const full = this.#grow(request.memory, bytes);
    if (!full) return undefined;
    const isRepeatable = request.method === "GET" || request.method === "HEAD";
    if (isRepeatable && reply.statusCode < 400) {
      // These headers belong to the answer that is not sent.
      reply.removeHeader("etag").removeHeader("cache-control");
      return this.#refusal(full, budget);
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

  async *#countedChunks(request: FastifyRequest, memory: RequestMemory, body: Readable): AsyncGenerator<Buffer> {
    const { bodyLimit } = request.routeOptions;
    // A refused body is not destroyed: the rest of it is still received, and dropped.
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      memory.receivedBytes += chunk.length;
      // Fastify would stop listening: the rest would be counted, and an error would end the process.
      if (memory.receivedBytes > bodyLimit) throw bodyTooLarge(bodyLimit);
      const missing = memory.receivedBytes - memory.reservation.bytes;
      const full = missing > 0 ? this.#grow(memory, missing) : undefined;
      if (full) throw this.#refusal(full, memory.budget);
      yield chunk;
    }
    this.#arriving.delete(memory);
  }

  /**
   * Reserves so many more bytes. Returns the budget that has no room for them, even after all has been taken back that
   * could be.
   */
  #grow({ budget, reservation }: RequestMemory, bytes: number): ByteBudget | undefined {
    let full = budget.fullFor(bytes, reservation.bytes);
    if (full && this.#takeBackUnsent()) full = budget.fullFor(bytes, reservation.bytes);
    if (!full) reservation.grow(bytes);
    return full;
  }

  /** Returns whether anything was taken back from bodies that do not arrive, or too slowly. */
  #takeBackUnsent(): boolean {
    const nowMs = monotonicMs();
    const late = [...this.#arriving].filter(
      ({ receivedBytes, admittedAtMs }) => receivedBytes < arrivalBytesPerMs * (nowMs - admittedAtMs - arrivalGraceMs),
    );
    for (const memory of late) {
      this.#arriving.delete(memory);
      memory.reservation.shrinkTo(Math.max(requestBytes, memory.receivedBytes));
    }
    return late.length > 0;
  }

  /** For a request of the key with this budget, if the other one has no room for it. */
  #refusal(full: ByteBudget, ofKey: ByteBudget): Error {
    if (full === this.#budget) {
      this.#metrics.refused("process_bytes");
      return new HttpError(
        503,
        "The gateway is overloaded and has not started on this request. Try again in a moment.",
        { "retry-after": retryAfterSeconds },
      );
    }
    if (full === ofKey) return this.#keyRefusal();
    this.#metrics.refused("organization_inflight");
    return this.#tooMuchInFlight("This organization has too many bytes in flight");
  }

  #keyRefusal(): Error {
    this.#metrics.refused("key_inflight");
    return this.#tooMuchInFlight("This key has too many requests or bytes in flight");
  }

  #tooMuchInFlight(reason: string): Error {
    return tooManyRequests(
      `${reason}. Wait for answers, and read them, before you send more.`,
      nothingLeft(this.#limits.keyRequestsMax),
    );
  }
}

function enter(shares: Map<string, Share>, id: string, share: Share): void {
  share.requests += 1;
  shares.set(id, share);
}

function leave(shares: Map<string, Share>, id: string, share: Share): void {
  share.requests -= 1;
  if (share.requests === 0) shares.delete(id);
}

/** A client that reads a byte now and then would otherwise hold the memory of the whole answer. */
function limitReader({ raw }: FastifyReply, memory: RequestMemory | undefined): void {
  if (memory) memory.readTimer ??= setTimeout(() => raw.destroy(), readWithinMs).unref();
}
