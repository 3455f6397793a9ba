import type { FastifyReply } from "fastify";
import type { Principal } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { isOfKind, unavailable } from "../../services/platform/domain/domain-error.ts";
import type { Trace } from "../../services/platform/observe/trace.ts";
import type { CallOptions } from "../../services/platform/rpc/grpc-client.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { disconnectSignal } from "../http/disconnect-signal.ts";
import type { RateLimit } from "../limits/token-buckets.ts";
import type { Grant, KeyExchange } from "./key-exchange.ts";

interface CallerParts {
  readonly exchange: KeyExchange;
  readonly key: string;
  /** Empty: the key's own, or the default one. */
  readonly workspaceId: string;
  readonly requestId: string;
  readonly trace: Trace | undefined;
  /** The grant at the time the request came. */
  readonly grant: Grant;
  readonly isStale: boolean;
  /** Of one call. */
  readonly timeoutMs: number;
  readonly rateLimit: RateLimit | undefined;
  readonly reply: FastifyReply;
}

/** The caller of a request. Calls services on its behalf. */
export class Caller {
  readonly #parts: CallerParts;
  #disconnected: AbortSignal | undefined;

  constructor(parts: CallerParts) {
    this.#parts = parts;
  }

  get principal(): Principal {
    return this.#parts.grant.principal;
  }

  /**
   * Whether its grant has expired and cannot be renewed: only for inference, while the organization service is out of
   * reach.
   */
  get isStale(): boolean {
    return this.#parts.isStale;
  }

  /** The rate limit of its requests; undefined: none. */
  get rateLimit(): RateLimit | undefined {
    return this.#parts.rateLimit;
  }

  async call<T>(rpc: (options: CallOptions) => Promise<T>): Promise<T> {
    const { exchange, key, workspaceId, requestId, trace, grant: first, isStale, timeoutMs } = this.#parts;
    const nowMs = monotonicMs();
    const deadlineMs = nowMs + timeoutMs;
    // There is no better grant.
    if (isStale) return rpc({ accessToken: first.accessToken, requestId, deadlineMs, trace });
    const request = { key, workspaceId, requestId, deadlineMs, trace };
    let isOutcomeUnknown = false;
    const onOutcomeUnknown = () => {
      isOutcomeUnknown = true;
    };
    // Once an attempt was left unanswered, a conflict may be with that attempt itself, which may still be stored.
    const unknownIfConflict = (error: unknown) =>
      isOutcomeUnknown && isOfKind(error, "aborted") ? outcomeUnknown(error) : error;
    // An answer that is made of many calls may take longer than a grant lives.
    const grant = nowMs < first.useUntilMs ? first : await exchange.grantFor(request);
    try {
      return await rpc({ accessToken: grant.accessToken, requestId, deadlineMs, onOutcomeUnknown, trace });
    } catch (error) {
      if (!isOfKind(error, "unauthenticated")) throw unknownIfConflict(error);
    }
    // The key was valid a moment ago, so it is the token: it expired while the body was read, or its signing key was
    // removed.
    exchange.expire(request, grant);
    const { accessToken } = await exchange.grantFor(request);
    try {
      return await rpc({ accessToken, requestId, deadlineMs, onOutcomeUnknown, trace });
    } catch (error) {
      // Not a 401, which would be about the caller's key, and that was accepted.
      throw isOfKind(error, "unauthenticated")
        ? unavailable("A service does not accept our access tokens.", error)
        : unknownIfConflict(error);
    }
  }

  /**
   * The same, until the caller disconnects: then the service is told, and does nothing that it has not begun. A caller
   * that only closes its sending side may still read the answer. It counts as gone once it was sent nothing for a second.
   */
  callWhileConnected<T>(rpc: (options: CallOptions) => Promise<T>): Promise<T> {
    this.#disconnected ??= disconnectSignal(this.#parts.reply);
    const signal = this.#disconnected;
    return this.call((options) => rpc({ ...options, signal }));
  }
}

function outcomeUnknown(cause: unknown): Error {
  return unavailable(
    "It is not known yet whether this was stored. Try again in a moment; with the same Idempotency-Key, nothing is stored twice.",
    cause,
  );
}
