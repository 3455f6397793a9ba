import type { FastifyReply, FastifyRequest } from "fastify";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import type { RefusedKeys } from "../limits/refused-keys.ts";
import { keyFrom, keyFromEither, notSignedIn, unvalidatedKeyFrom } from "./bearer.ts";
import type { InferenceGrants } from "./inference-grants.ts";
import type { Grant, KeyExchange } from "./key-exchange.ts";
import type { SessionCookie } from "./session-cookie.ts";

/** Which credentials a route accepts. */
export interface AcceptedCredentials {
  readonly isInference?: boolean;
  /** Whether a key may be in `x-api-key`, where Anthropic's clients send it. */
  readonly takesApiKeyHeader?: boolean;
  /** Whether it must be the cookie of a session. */
  readonly isSession?: boolean;
}

/** A key that was accepted, or the token of a session, and what it was exchanged for. */
export interface Authenticated {
  readonly key: string;
  readonly grant: Grant;
  readonly isStale: boolean;
}

interface AuthenticatorParts {
  readonly exchange: KeyExchange;
  readonly inferenceGrants: InferenceGrants;
  readonly refusedKeys: RefusedKeys;
  readonly cookie: SessionCookie;
  readonly exchangeTimeoutMs: number;
}

/** Finds the credential of a request, and exchanges it for a grant. */
export class Authenticator {
  readonly #parts: AuthenticatorParts;

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
  }

  /** For a request that sends its key in the usual way, and whose grant is cached and need not be renewed yet. */
  findKnown(
    { headers }: FastifyRequest,
    workspaceId: string,
    { isInference = false, takesApiKeyHeader = false, isSession = false }: AcceptedCredentials,
  ): Authenticated | undefined {
    if (isSession) return undefined;
    const apiKey = takesApiKeyHeader ? headers["x-api-key"] : undefined;
    // The answer needs a header for caches: see `authenticate`.
    if (apiKey !== undefined && !isInference) return undefined;
    const key = unvalidatedKeyFrom(headers.authorization, apiKey);
    const grant = this.#parts.exchange.findGrant(key, workspaceId);
    return grant && { key, grant, isStale: false };
  }

  /** For any request. Throws if its credential is missing or not accepted. */
  async authenticate(
    request: FastifyRequest,
    reply: FastifyReply,
    workspaceId: string,
    accepted: AcceptedCredentials,
  ): Promise<Authenticated> {
    const { cookie, refusedKeys } = this.#parts;
    try {
      // A key that was sent takes precedence over a cookie.
      const token = mayBeSession(request, accepted) ? cookie.tokenOf(request) : undefined;
      // Shared caches do not store answers to requests with an Authorization header, but know nothing of our cookie and
      // of x-api-key. Inference answers POSTs, which they do not store.
      const isUnknownToCaches = request.headers.authorization === undefined && !accepted.isInference;
      if (token !== undefined || isUnknownToCaches) reply.header("cache-control", "private, no-cache");
      return await this.exchangeKey(request, token ?? sentKey(request, accepted), workspaceId, accepted);
    } catch (error) {
      throw refusedKeys.answerTo(request.raw, error);
    }
  }

  /** Exchanges a key for a grant. The caller of this counts refusals. */
  async exchangeKey(
    request: FastifyRequest,
    key: string,
    workspaceId: string,
    { isInference = false }: AcceptedCredentials,
  ): Promise<Authenticated> {
    const { exchange, inferenceGrants, refusedKeys, exchangeTimeoutMs } = this.#parts;
    if (!exchange.knows(key, workspaceId)) refusedKeys.requireAllowance(request.raw);
    const deadlineMs = monotonicMs() + exchangeTimeoutMs;
    const exchangeRequest = { key, workspaceId, requestId: request.id, deadlineMs, trace: request.exchange?.trace };
    if (isInference) return { key, ...(await inferenceGrants.grantFor(exchangeRequest)) };
    return { key, grant: await exchange.grantFor(exchangeRequest), isStale: false };
  }
}

function mayBeSession({ headers }: FastifyRequest, { isSession, takesApiKeyHeader }: AcceptedCredentials): boolean {
  if (isSession) return true;
  return headers.authorization === undefined && !(takesApiKeyHeader && headers["x-api-key"] !== undefined);
}

function sentKey({ headers }: FastifyRequest, { isSession, takesApiKeyHeader }: AcceptedCredentials): string {
  if (isSession) throw notSignedIn();
  return takesApiKeyHeader
    ? keyFromEither(headers.authorization, headers["x-api-key"])
    : keyFrom(headers.authorization);
}
