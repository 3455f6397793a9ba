import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from "fastify";
import type { Principal } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { type Permission, requirePermission } from "../../services/platform/auth/principal.ts";
import {
  type FieldViolation,
  invalidRequest,
  isOfKind,
  unavailable,
} from "../../services/platform/domain/domain-error.ts";
import { isId } from "../../services/platform/domain/ids.ts";
import { monotonicMs } from "../../services/platform/process/clock.ts";
import type { CallOptions } from "../../services/platform/rpc/grpc-client.ts";
import type { Limits } from "../limits/limits.ts";
import type { RateLimit } from "../limits/token-buckets.ts";
import { apiKeyRequired, keyFrom, keyFromEither, managementKeyRequired } from "./bearer.ts";
import type { InferenceGrants } from "./inference-grants.ts";
import type { ExchangeRequest, Grant, KeyExchange } from "./key-exchange.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the access hook of the route. */
    caller: Caller;
  }
}

/** Who makes a request; calls services in their name. */
interface Caller {
  readonly principal: Principal;
  /** Whether their grant has run out and cannot be renewed: only in inference, where the organization service is out of reach. */
  readonly isStale: boolean;
  call<T>(rpc: (options: CallOptions) => Promise<T>): Promise<T>;
  /** How often they may; undefined: as often as they like. */
  readonly rateLimit: RateLimit | undefined;
}

/** How a credential is taken. */
interface Authentication {
  readonly isInference?: boolean;
  /** Whether it may stand in `x-api-key`, where Anthropic's clients send it. */
  readonly takesApiKeyHeader?: boolean;
}

/** Makes the hooks that check a credential before the body is read. */
export class Access {
  readonly #exchange: KeyExchange;
  readonly #inferenceGrants: InferenceGrants;
  readonly #limits: Limits;
  readonly #requestTimeoutMs: number;

  constructor(exchange: KeyExchange, inferenceGrants: InferenceGrants, limits: Limits, requestTimeoutMs: number) {
    this.#exchange = exchange;
    this.#inferenceGrants = inferenceGrants;
    this.#limits = limits;
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  /** For presets: any key with the permission, in its workspace or in the one that the query names. */
  withPermission(permission: Permission): onRequestAsyncHookHandler {
    return async (request, reply) => {
      const grant = await this.#authenticate(request, reply, request.query);
      requirePermission(grant.principal, permission);
    };
  }

  /**
   * For inference: an API key with the permission, also in the header `x-api-key`. Where the organization service is out
   * of reach, what is known of the key is good enough for a while.
   */
  withInference(): onRequestAsyncHookHandler {
    return async (request, reply) => {
      const grant = await this.#authenticate(request, reply, {}, { isInference: true });
      if (grant.isManagement) throw apiKeyRequired();
      requirePermission(grant.principal, "inference");
    };
  }

  /** For what every key may see of itself. */
  withAnyKey(): onRequestAsyncHookHandler {
    return async (request, reply) => {
      await this.#authenticate(request, reply, {});
    };
  }

  /** For what every key may see of its workspace, or of the one that the query names; also in the header `x-api-key`. */
  withAnyKeyInWorkspace(): onRequestAsyncHookHandler {
    return async (request, reply) => {
      await this.#authenticate(request, reply, request.query, { takesApiKeyHeader: true });
    };
  }

  withManagementKey(): onRequestAsyncHookHandler {
    return async (request, reply) => {
      const grant = await this.#authenticate(request, reply, {});
      if (!grant.isManagement) throw managementKeyRequired();
    };
  }

  /** To be called where keys were changed through this gateway; others notice within the life of an access token. */
  forgetWhere(isChanged: (principal: Principal) => boolean): void {
    this.#exchange.forgetWhere(isChanged);
  }

  async #authenticate(
    request: FastifyRequest,
    reply: FastifyReply,
    query: unknown,
    { isInference = false, takesApiKeyHeader = isInference }: Authentication = {},
  ): Promise<Grant> {
    const { workspaceId, violations } = readWorkspaceId(query);
    let exchangeRequest: () => ExchangeRequest;
    let grant: Grant;
    let isStale = false;
    try {
      const { authorization } = request.headers;
      const key = takesApiKeyHeader
        ? keyFromEither(authorization, request.headers["x-api-key"])
        : keyFrom(authorization);
      const requestId = request.id;
      exchangeRequest = () => ({ key, workspaceId, requestId, deadlineMs: monotonicMs() + this.#requestTimeoutMs });
      if (!this.#exchange.knows(key, workspaceId)) this.#limits.refusedKeys.requireAllowance(request.raw);
      if (isInference) ({ grant, isStale } = await this.#inferenceGrants.grantFor(exchangeRequest()));
      else grant = await this.#exchange.grantFor(exchangeRequest());
    } catch (error) {
      throw this.#limits.refusedKeys.answerTo(request.raw, error);
    }
    this.#limits.admit(request, reply, grant);
    // A bad key is told so first.
    if (violations.length > 0) throw invalidRequest(violations);
    request.caller = {
      principal: grant.principal,
      isStale,
      call: (rpc) => (isStale ? callOnce(exchangeRequest(), grant, rpc) : this.#call(exchangeRequest(), grant, rpc)),
      rateLimit: this.#limits.rateLimitOf(grant),
    };
    return grant;
  }

  async #call<T>(request: ExchangeRequest, first: Grant, rpc: (options: CallOptions) => Promise<T>): Promise<T> {
    const { requestId, deadlineMs } = request;
    // A long answer is made of many calls, and takes longer than a grant is good for.
    const grant = monotonicMs() < first.useUntilMs ? first : await this.#exchange.grantFor(request);
    try {
      return await rpc({ accessToken: grant.accessToken, requestId, deadlineMs });
    } catch (error) {
      if (!isOfKind(error, "unauthenticated")) throw error;
    }
    // The key was good a moment ago, so it is the token: it ran out while the body was read, or was signed by a key that is gone.
    this.#exchange.forget(request, grant);
    const { accessToken } = await this.#exchange.grantFor(request);
    try {
      return await rpc({ accessToken, requestId, deadlineMs });
    } catch (error) {
      // Never the caller's 401: the key itself was accepted.
      throw isOfKind(error, "unauthenticated")
        ? unavailable("A service does not accept our access tokens.", error)
        : error;
    }
  }
}

/** Nothing better than this grant can be had. */
function callOnce<T>(
  { requestId, deadlineMs }: ExchangeRequest,
  { accessToken }: Grant,
  rpc: (options: CallOptions) => Promise<T>,
): Promise<T> {
  return rpc({ accessToken, requestId, deadlineMs });
}

/** Empty where the query names none. It becomes part of a cache key, so it is checked here. */
function readWorkspaceId(query: unknown): { readonly workspaceId: string; readonly violations: FieldViolation[] } {
  const { workspace_id: id } = query as { workspace_id?: unknown };
  if (id === undefined) return { workspaceId: "", violations: [] };
  if (typeof id === "string" && isId(id)) return { workspaceId: id.toLowerCase(), violations: [] };
  return { workspaceId: "", violations: [{ path: "workspace_id", message: "must be a UUID, given once" }] };
}
