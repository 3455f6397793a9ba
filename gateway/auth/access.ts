import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import { type Permission, requirePermission, requireWorkspace } from "../../services/platform/auth/principal.ts";
import { invalidRequest } from "../../services/platform/domain/domain-error.ts";
import type { CallOptions } from "../../services/platform/rpc/grpc-client.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import type { Limits } from "../limits/limits.ts";
import { type AcceptedCredentials, type Authenticated, Authenticator } from "./authenticator.ts";
import { apiKeyRequired, managementKeyRequired, requireKey } from "./bearer.ts";
import { Caller } from "./caller.ts";
import type { InferenceGrants } from "./inference-grants.ts";
import type { Grant, KeyExchange } from "./key-exchange.ts";
import { type NamedWorkspace, namedWorkspaceOf, noWorkspace } from "./named-workspace.ts";
import type { SessionCookie } from "./session-cookie.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the access hook of the route. */
    caller: Caller;
  }
}

/** Who may call a route, and with which credentials. */
interface AccessRule extends AcceptedCredentials {
  /** Throws if a caller with this grant may not call it. */
  readonly check?: (grant: Grant) => void;
  /** Whether the query may name a workspace. */
  readonly takesWorkspace?: boolean;
}

/** A secret in a body, to sign in with. */
interface Secret {
  readonly case: "key" | "ticket";
  readonly value: string;
}

interface AccessParts {
  readonly exchange: KeyExchange;
  readonly inferenceGrants: InferenceGrants;
  readonly limits: Limits;
  readonly cookie: SessionCookie;
  /** For the key exchange, and for each call. */
  readonly requestTimeoutMs: number;
}

/** Creates the hooks that decide who may call a route, before a body is read. */
export class Access {
  readonly #exchange: KeyExchange;
  readonly #limits: Limits;
  readonly #requestTimeoutMs: number;
  readonly #authenticator: Authenticator;

  constructor({ exchange, inferenceGrants, limits, cookie, requestTimeoutMs }: AccessParts) {
    this.#exchange = exchange;
    this.#limits = limits;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.#authenticator = new Authenticator({
      exchange,
      inferenceGrants,
      refusedKeys: limits.refusedKeys,
      cookie,
      exchangeTimeoutMs: requestTimeoutMs,
    });
  }

  /** For presets: any key with the permission, in its own workspace or the one that the query names. */
  withPermission(permission: Permission): onRequestHookHandler {
    return this.#hook({
      check: ({ principal }) => requirePermission(principal, permission),
      takesWorkspace: true,
    });
  }

  /**
   * For inference: an API key with the permission, also in the header `x-api-key`. A query that names a workspace must
   * name the key's own. If the organization service is out of reach, the last known grant of the key is valid for a
   * while.
   */
  withInference(): onRequestHookHandler {
    return this.#hook({
      check: ({ isManagement, principal }) => {
        if (isManagement) throw apiKeyRequired();
        requirePermission(principal, "inference");
        // Checked here, because a request without a preset is sent without asking any service about its workspace.
        requireWorkspace({ workspaceId: principal.workspaceId || undefined });
      },
      isInference: true,
      takesApiKeyHeader: true,
      takesWorkspace: true,
    });
  }

  /** For what every key may see about itself. */
  withAnyKey(): onRequestHookHandler {
    return this.#hook({});
  }

  /**
   * For what every key may see about its workspace, or the one that the query names; also in the header `x-api-key`.
   */
  withAnyKeyInWorkspace(): onRequestHookHandler {
    return this.#hook({ takesApiKeyHeader: true, takesWorkspace: true });
  }

  withManagementKey(): onRequestHookHandler {
    return this.#hook({
      check: ({ isManagement }) => {
        if (!isManagement) throw managementKeyRequired();
      },
    });
  }

  /** For a session's own routes. */
  withSession(): onRequestHookHandler {
    return this.#hook({ isSession: true });
  }

  /** Presents a secret from a body to a service. Its acceptance or refusal counts like that of any credential. */
  async withSecret<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    secret: Secret,
    call: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const { refusedKeys } = this.#limits;
    try {
      if (secret.case === "key") {
        const key = requireKey(secret.value);
        this.#admit(request, reply, noWorkspace, await this.#authenticator.exchangeKey(request, key, "", {}));
      } else {
        refusedKeys.requireAllowance(request.raw);
      }
      return await call({ requestId: request.id, deadlineMs: monotonicMs() + this.#requestTimeoutMs });
    } catch (error) {
      throw refusedKeys.answerTo(request.raw, error);
    }
  }

  /** With a callback: nearly every key is cached, and what need not wait should not pay for promises. */
  #hook(rule: AccessRule): onRequestHookHandler {
    const { check, takesWorkspace = false } = rule;
    return (request, reply, done) => {
      const named = takesWorkspace ? namedWorkspaceOf(request.query) : noWorkspace;
      const admit = (authenticated: Authenticated) => {
        this.#admit(request, reply, named, authenticated);
        check?.(authenticated.grant);
      };
      const known = this.#authenticator.findKnown(request, named.workspaceId, rule);
      if (known) {
        admit(known);
        done();
      } else {
        const authenticated = this.#authenticator.authenticate(request, reply, named.workspaceId, rule);
        authenticated.then(admit).then(() => done(), done);
      }
    };
  }

  #admit(request: FastifyRequest, reply: FastifyReply, named: NamedWorkspace, authenticated: Authenticated): void {
    const { key, grant, isStale } = authenticated;
    // Before the limits: the log names those who exceed one.
    if (request.exchange) request.exchange.principal = grant.principal;
    this.#limits.admit(request, reply, grant);
    // Only now, so that a bad key is reported first.
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
      reply,
    });
  }
}
