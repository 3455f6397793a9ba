import { timestampMs } from "@bufbuild/protobuf/wkt";
import { LRUCache } from "lru-cache";
import { KeyKind, type KeyRateLimit, type Principal } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { isSecret } from "../../services/platform/auth/key-format.ts";
import { type DomainError, isOfKind } from "../../services/platform/domain/domain-error.ts";
import { TransientMap } from "../../services/platform/memory/transient-map.ts";
import type { Trace } from "../../services/platform/observe/trace.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import type { AccessClient } from "../clients/access-client.ts";
import type { RateLimit } from "../limits/token-buckets.ts";
import { GrantCounts } from "./grant-counts.ts";
import { type IsChanged, UnsettledChanges } from "./unsettled-changes.ts";

/** The result of exchanging a key. */
export interface Grant {
  readonly accessToken: string;
  readonly isManagement: boolean;
  readonly principal: Principal;
  /** The key's own, where it has one. */
  readonly rateLimit: RateLimit | undefined;
  /** Not used after this: a while before the token expires, so that it is still valid when a call with it arrives. */
  readonly useUntilMs: number;
  /** When the token expires, and when the key does. */
  readonly endsAtMs: number;
  readonly keyEndsAtMs: number;
  /** From then on it is renewed in the background, so that no caller waits for it. */
  readonly renewAtMs: number;
}

/** Whose grant is needed, and for which request. */
export interface ExchangeRequest {
  readonly key: string;
  /** Empty: the key's own, or the default one. */
  readonly workspaceId: string;
  readonly requestId: string;
  readonly deadlineMs: number;
  /** The trace that the exchange belongs to. */
  readonly trace?: Trace | undefined;
}

interface PendingExchange {
  readonly grant: Promise<Grant>;
  /** Of the request that it was begun for. */
  readonly deadlineMs: number;
  /** Changes of keys since it began. */
  readonly changes: readonly IsChanged[];
}

const refusalTtlMs = 5_000;
/**
 * A grant is not used in the last tenth of its life, nor in its last second: lifetimes are rounded to whole seconds.
 */
const usableShare = 0.9;
const unusedMs = 1_000;
const renewShare = 0.6;

/**
 * Exchanges keys for access tokens and caches them. Concurrent misses for one key share one call, unless that ends
 * before half of a request's own time is over, or began before a change of keys; refused keys are cached for a few
 * seconds. Both caches are bounded.
 */
export class KeyExchange {
  readonly #access: AccessClient;
  readonly #grants: LRUCache<string, Grant>;
  readonly #refusals: LRUCache<string, DomainError>;
  readonly #pending = new TransientMap<string, PendingExchange>();
  /** For each exchange in flight, the changes of keys since it began. */
  readonly #changesMeanwhile = new Set<IsChanged[]>();
  /** Until these are settled, keys that they may concern are exchanged again for each request. */
  readonly #unsettled = new UnsettledChanges();
  readonly counts = new GrantCounts();

  constructor(access: AccessClient, cacheMax: number) {
    this.#access = access;
    this.#grants = new LRUCache({ max: cacheMax });
    this.#refusals = new LRUCache({ max: cacheMax, ttl: refusalTtlMs });
  }

  /** Whether the key was accepted at its last exchange. An expired grant is kept until the next exchange. */
  knows(key: string, workspaceId: string): boolean {
    return this.#grants.has(key) || (workspaceId !== "" && this.#grants.has(cacheKeyOf({ key, workspaceId })));
  }

  /** A cached grant that need not be renewed yet. */
  findGrant(key: string, workspaceId: string): Grant | undefined {
    const grant = this.#grants.get(cacheKeyOf({ key, workspaceId }));
    if (!grant || monotonicMs() >= grant.renewAtMs) return undefined;
    this.counts.lookups.hit += 1;
    return grant;
  }

  /** A grant that is valid for a call now; throws the reason if there is none. */
  async grantFor(request: ExchangeRequest): Promise<Grant> {
    const cacheKey = cacheKeyOf(request);
    const grant = this.#grants.get(cacheKey);
    const now = monotonicMs();
    if (grant && now < grant.useUntilMs) {
      this.counts.lookups.hit += 1;
      // A failed renewal is retried by the next call; until then the grant is still valid.
      if (now >= grant.renewAtMs) this.#exchange(cacheKey, request).catch(() => {});
      return grant;
    }
    const refusal = this.#refusals.get(cacheKey);
    this.counts.lookups[refusal ? "refused" : "miss"] += 1;
    if (refusal) throw refusal;
    return this.#exchange(cacheKey, request);
  }

  /** The grant of the last exchange, even if it has expired; undefined if the key was refused or changed since. */
  lastGrantOf(request: ExchangeRequest): Grant | undefined {
    return this.#grants.get(cacheKeyOf(request));
  }

  /** Marks a grant as expired that a service did not accept, unless it has been replaced by now. */
  expire(request: ExchangeRequest, refused: Grant): void {
    const cacheKey = cacheKeyOf(request);
    const grant = this.#grants.peek(cacheKey);
    if (grant?.accessToken === refused.accessToken) this.#grants.set(cacheKey, expired(grant));
  }

  /**
   * Drops the keys that a change concerns. Every later request gets a grant from after the change: an exchange that
   * began before it is repeated. All cached refusals are dropped, too, because one of those keys may be valid now.
   */
  forgetWhere(isChanged: IsChanged): void {
    this.#change(isChanged, (cacheKey) => this.#grants.delete(cacheKey));
  }

  /**
   * The same for a change by an organization whose outcome is unknown: it may be stored after the next exchange of a key.
   * The keys stay known, so that they work while somebody guesses others.
   */
  forgetUntilSettled(organizationId: string, mayBeChanged: IsChanged): void {
    const distrust = (cacheKey: string, grant: Grant) => this.#grants.set(cacheKey, distrusted(grant));
    this.#unsettled.add(organizationId, this.#change(mayBeChanged, distrust));
  }

  /**
   * Does this to each grant of the keys that a change concerns. Returns whether it concerns a key, also if that has
   * another secret than the one which the change names.
   */
  #change(isChanged: IsChanged, apply: (cacheKey: string, grant: Grant) => void): IsChanged {
    // Copied first: entries of the cache must not be deleted during iteration.
    const grants = [...this.#grants.entries()];
    const named = grants.filter(([cacheKey, { principal }]) => isChanged(principal, secretOf(cacheKey)));
    // A key may have several secrets: two during a rotation, and those of its sessions. A session may end alone.
    const keyIds = new Set<string>();
    for (const [cacheKey, { principal }] of named) {
      if (!isSecret("session", secretOf(cacheKey))) keyIds.add(principal.keyId);
    }
    const ofKeys = grants.filter(([, { principal }]) => keyIds.has(principal.keyId));
    for (const [cacheKey, grant] of new Map([...named, ...ofKeys])) apply(cacheKey, grant);
    this.#refusals.clear();
    const isOfChangedKey: IsChanged = (principal, secret) =>
      keyIds.has(principal.keyId) || isChanged(principal, secret);
    for (const changes of this.#changesMeanwhile) changes.push(isOfChangedKey);
    return isOfChangedKey;
  }

  #exchange(cacheKey: string, request: ExchangeRequest): Promise<Grant> {
    const { deadlineMs } = request;
    const pending = this.#pending.get(cacheKey);
    // One from before a change may be refused, and a refusal does not say whether the change concerns its key.
    const isCurrent = pending?.changes.length === 0;
    // Otherwise it would fail with another's deadline long before its own, while the service may be back in a moment.
    if (isCurrent && pending.deadlineMs >= (monotonicMs() + deadlineMs) / 2) return pending.grant;
    const changes: IsChanged[] = [];
    const grant = this.#callExchange(cacheKey, request, changes).finally(() => {
      if (this.#pending.get(cacheKey)?.grant === grant) this.#pending.delete(cacheKey);
    });
    this.#pending.set(cacheKey, { grant, deadlineMs, changes });
    return grant;
  }

  /** `changes` receives those that are made meanwhile. */
  async #callExchange(cacheKey: string, request: ExchangeRequest, changes: IsChanged[]): Promise<Grant> {
    this.#changesMeanwhile.add(changes);
    try {
      for (;;) {
        const grant = await this.#ask(cacheKey, request, changes);
        if (grant) return grant;
      }
    } finally {
      this.#changesMeanwhile.delete(changes);
    }
  }

  /** Undefined if a change meanwhile may have changed the grant. */
  async #ask(
    cacheKey: string,
    { key, workspaceId, ...options }: ExchangeRequest,
    changes: IsChanged[],
  ): Promise<Grant | undefined> {
    changes.length = 0;
    try {
      const askedAtMs = monotonicMs();
      const grant = grantFrom(await this.#access.exchangeKey({ key, workspaceId }, options), askedAtMs);
      this.counts.exchanges.granted += 1;
      if (changes.some((isChanged) => isChanged(grant.principal, key))) return undefined;
      const mayYetChange = this.#unsettled.mayConcern(grant.principal, key);
      this.#grants.set(cacheKey, mayYetChange ? distrusted(grant) : grant);
      return grant;
    } catch (error) {
      this.counts.exchanges[isRefusal(error) ? "refused" : "failed"] += 1;
      if (!isRefusal(error)) throw error;
      this.#grants.delete(cacheKey);
      if (changes.length === 0) this.#refusals.set(cacheKey, error);
      throw error;
    }
  }
}

function expired(grant: Grant): Grant {
  return { ...grant, useUntilMs: 0, renewAtMs: 0 };
}

/** For a single use: not even while the service is out of reach, because it may have stored a change of the key. */
function distrusted(grant: Grant): Grant {
  return { ...expired(grant), keyEndsAtMs: 0 };
}

/** No header contains a line break, so no key can be mistaken for one with a workspace. */
function cacheKeyOf({ key, workspaceId }: Pick<ExchangeRequest, "key" | "workspaceId">): string {
  return workspaceId === "" ? key : `${key}\n${workspaceId}`;
}

function secretOf(cacheKey: string): string {
  return cacheKey.split("\n", 1)[0] as string;
}

/** The service refused the key, as opposed to not answering. */
function isRefusal(error: unknown): error is DomainError {
  return isOfKind(error, "unauthenticated", "not_found", "invalid_argument");
}

/** Its life is counted from the time of the request, not by the wall clock, which may differ from the service's. */
function grantFrom(answer: Awaited<ReturnType<AccessClient["exchangeKey"]>>, askedAtMs: number): Grant {
  const { accessToken, expireTime, expiresInSeconds, principal, rateLimit, keyExpiresInSeconds } = answer;
  if (!expireTime || !principal) throw new Error("ExchangeKey answered without expire_time or principal");
  // A service of the previous release does not report the life of the token.
  const lifeMs = expiresInSeconds > 0 ? expiresInSeconds * 1000 : timestampMs(expireTime) - Date.now();
  return {
    accessToken,
    principal,
    rateLimit: rateLimit && rateLimitFrom(rateLimit),
    isManagement: principal.keyKind === KeyKind.MANAGEMENT,
    useUntilMs: askedAtMs + Math.min(lifeMs * usableShare, lifeMs - unusedMs),
    endsAtMs: askedAtMs + lifeMs,
    keyEndsAtMs: askedAtMs + (keyExpiresInSeconds ?? Number.POSITIVE_INFINITY) * 1000,
    renewAtMs: askedAtMs + lifeMs * renewShare,
  };
}

/** The default burst is a second's worth. */
function rateLimitFrom({ requestsPerSecond, burst }: KeyRateLimit): RateLimit | undefined {
  return requestsPerSecond > 0 ? { perSecond: requestsPerSecond, burst: burst || requestsPerSecond } : undefined;
}
