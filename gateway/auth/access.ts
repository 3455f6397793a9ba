import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import { type Permission, requirePermission } from "../../services/platform/auth/principal.ts";
import { type FieldViolation, invalidRequest } from "../../services/platform/domain/domain-error.ts";
import { isId } from "../../services/platform/domain/ids.ts";
import { monotonicMs } from "../../services/platform/process/clock.ts";
import type { CallOptions } from "../../services/platform/rpc/grpc-client.ts";
import type { SessionCookie } from "../console/session-cookie.ts";
import type { Limits } from "../limits/limits.ts";
import {
  apiKeyRequired,
  keyFrom,
  keyFromEither,
  managementKeyRequired,
  nobodySignedIn,
  requireKey,
  usualKey,
} from "./bearer.ts";
import { Caller } from "./caller.ts";
import type { InferenceGrants } from "./inference-grants.ts";
import type { Grant, KeyExchange } from "./key-exchange.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the access hook of the route. */
    caller: Caller;
  }
}

/** How a credential is taken. */
interface Authentication {
  readonly isInference?: boolean;
  /** Whether it may stand in `x-api-key`, where Anthropic's clients send it. */
  readonly takesApiKeyHeader?: boolean;
  /** Whether the query may name a workspace. */
  readonly takesWorkspace?: boolean;
  /** Whether it must be the cookie of a session. */
  readonly isSession?: boolean;
}

/** What stands in a body to sign in with. */
interface Secret {
  readonly case: "key" | "ticket";
  readonly value: string;
}

/** A key that was accepted, and what it was exchanged for. */
interface Authenticated {
  readonly key: string;
  readonly grant: Grant;
  readonly isStale: boolean;
}

interface AccessParts {
  readonly exchange: KeyExchange;
  readonly inferenceGrants: InferenceGrants;
  readonly limits: Limits;
  readonly cookie: SessionCookie;
  /** Of the exchange of a key, and of each call. */
  readonly requestTimeoutMs: number;
}

/** Makes the hooks that check a credential before the body is read. */
export class Access {
  readonly #exchange: KeyExchange;
  readonly #inferenceGrants: InferenceGrants;
  readonly #limits: Limits;
  readonly #cookie: SessionCookie;
  readonly #requestTimeoutMs: number;

  constructor({ exchange, inferenceGrants, limits, cookie, requestTimeoutMs }: AccessParts) {
    this.#exchange = exchange;
    this.#inferenceGrants = inferenceGrants;
    this.#limits = limits;
    this.#cookie = cookie;
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  /** For presets: any key with the permission, in its workspace or in the one that the query names. */
  withPermission(permission: Permission): onRequestHookHandler {
    return this.#hook(({ principal }) => requirePermission(principal, permission), { takesWorkspace: true });
  }

  /**
   * For inference: an API key with the permission, also in the header `x-api-key`. A query that names a workspace must
   * name the key's own. Where the organization service is out of reach, what is known of the key is good for a while.
   */
  withInference(): onRequestHookHandler {
    return this.#hook(
      ({ isManagement, principal }) => {
        if (isManagement) throw apiKeyRequired();
        requirePermission(principal, "inference");
      },
      { isInference: true, takesApiKeyHeader: true, takesWorkspace: true },
    );
  }

  /** For what every key may see of itself. */
  withAnyKey(): onRequestHookHandler {
    return this.#hook(() => {});
  }

  /** For what every key may see of its workspace, or of the one that the query names; also in the header `x-api-key`. */
  withAnyKeyInWorkspace(): onRequestHookHandler {
    return this.#hook(() => {}, { takesApiKeyHeader: true, takesWorkspace: true });
  }

  withManagementKey(): onRequestHookHandler {
    return this.#hook(({ isManagement }) => {
      if (!isManagement) throw managementKeyRequired();
    });
  }

  /** For what is about a session itself. */
  withSession(): onRequestHookHandler {
    return this.#hook(() => {}, { isSession: true });
  }

  /** Shows a service a secret that stands in a body. It counts as any credential does, where it is good and where it is not. */
  async withSecret<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    secret: Secret,
    call: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    try {
      if (secret.case === "key") {
        const authenticated = await this.#exchangeKey(request, requireKey(secret.value.trim()), "");
        this.#admit(request, reply, noWorkspace, authenticated);
      } else {
        this.#limits.refusedKeys.requireAllowance(request.raw);
      }
      return await call({ requestId: request.id, deadlineMs: monotonicMs() + this.#requestTimeoutMs });
    } catch (error) {
      throw this.#limits.refusedKeys.answerTo(request.raw, error);
    }
  }

  /** With a callback: nearly every key is known, and what need not wait has no use for promises. */
  #hook(check: (grant: Grant) => void, authentication: Authentication = {}): onRequestHookHandler {
    const { takesWorkspace = false } = authentication;
    return (request, reply, done) => {
      const named = takesWorkspace ? readWorkspaceId(request.query) : noWorkspace;
      const admit = (authenticated: Authenticated) => {
        this.#admit(request, reply, named, authenticated);
        check(authenticated.grant);
      };
      const known = this.#findKnown(request, named, authentication);
      if (known) {
        admit(known);
        done();
      } else {
        const authenticated = this.#authenticate(request, reply, named, authentication);
        authenticated.then(admit).then(() => done(), done);
      }
    };
  }

  /** Whoever sends a key as nearly all do, and has a grant that need not be renewed yet. */
  #findKnown(
    { headers }: FastifyRequest,
    { workspaceId }: NamedWorkspace,
    { isInference = false, takesApiKeyHeader = false, isSession = false }: Authentication,
  ): Authenticated | undefined {
    if (isSession) return undefined;
    const apiKey = takesApiKeyHeader ? headers["x-api-key"] : undefined;
    // Caches must be told of what is got by it.
    if (apiKey !== undefined && !isInference) return undefined;
    const key = usualKey(headers.authorization, apiKey);
    const grant = this.#exchange.findGrant(key, workspaceId);
    return grant && { key, grant, isStale: false };
  }

  async #authenticate(
    request: FastifyRequest,
    reply: FastifyReply,
    { workspaceId }: NamedWorkspace,
    authentication: Authentication,
  ): Promise<Authenticated> {
    try {
      // A key that was sent counts, whatever cookie comes with it.
      const token = this.#mayBeSession(request, authentication) ? this.#cookie.tokenOf(request) : undefined;
      // Caches between us and the caller know to leave alone what Authorization is sent for, but no cookie and no x-api-key.
      // Answers of inference are to POSTs, which they do not keep.
      const isUnknown = request.headers.authorization === undefined && !authentication.isInference;
      if (token !== undefined || isUnknown) reply.header("cache-control", "private, no-cache");
      const key = token ?? sentKey(request, authentication);
      return await this.#exchangeKey(request, key, workspaceId, authentication);
    } catch (error) {
      throw this.#limits.refusedKeys.answerTo(request.raw, error);
    }
  }

  #mayBeSession({ headers }: FastifyRequest, { isSession, takesApiKeyHeader }: Authentication): boolean {
    if (isSession) return true;
    return headers.authorization === undefined && !(takesApiKeyHeader && headers["x-api-key"] !== undefined);
  }

  async #exchangeKey(
    request: FastifyRequest,
    key: string,
    workspaceId: string,
    { isInference = false }: Authentication = {},
  ): Promise<Authenticated> {
    if (!this.#exchange.knows(key, workspaceId)) this.#limits.refusedKeys.requireAllowance(request.raw);
    const deadlineMs = monotonicMs() + this.#requestTimeoutMs;
    const exchangeRequest = { key, workspaceId, requestId: request.id, deadlineMs, trace: request.exchange?.trace };
    if (isInference) return { key, ...(await this.#inferenceGrants.grantFor(exchangeRequest)) };
    return { key, grant: await this.#exchange.grantFor(exchangeRequest), isStale: false };
  }

  #admit(request: FastifyRequest, reply: FastifyReply, named: NamedWorkspace, authenticated: Authenticated): void {
    const { key, grant, isStale } = authenticated;
    this.#limits.admit(request, reply, grant);
    // A bad key is told so first.
    if (named.violations.length > 0) throw invalidRequest(named.violations);
    request.caller = new Caller({
      exchange: this.#exchange,
      key,
      workspaceId: named.workspaceId,
      requestId: request.id,
      trace: request.exchange?.trace,
      grant,
      isStale,
      timeoutMs: this.#requestTimeoutMs,
      rateLimit: this.#limits.rateLimitOf(grant),
    });
  }
}

function sentKey({ headers }: FastifyRequest, { isSession, takesApiKeyHeader }: Authentication): string {
  if (isSession) throw nobodySignedIn();
  return takesApiKeyHeader
    ? keyFromEither(headers.authorization, headers["x-api-key"])
    : keyFrom(headers.authorization);
}

/** The workspace that a query names, which becomes part of a cache key, so it is checked; empty where it names none. */
interface NamedWorkspace {
  readonly workspaceId: string;
  readonly violations: readonly FieldViolation[];
}

const noWorkspace: NamedWorkspace = { workspaceId: "", violations: [] };

function readWorkspaceId(query: unknown): NamedWorkspace {
  const { workspace_id: id } = query as { workspace_id?: unknown };
  if (id === undefined) return noWorkspace;
  if (typeof id === "string" && isId(id)) return { workspaceId: id.toLowerCase(), violations: [] };
  return { workspaceId: "", violations: [{ path: "workspace_id", message: "must be a UUID, given once" }] };
}
