import { hash, type KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import { DomainError } from "../domain/domain-error.ts";
import type { Logger } from "../observe/logger.ts";
import type { Metrics } from "../observe/metrics.ts";
import { monotonicMs } from "../time/clock.ts";
import { type Claims, principalFromClaims, readClaims } from "./claims.ts";
import { isSigned, payloadOf, readJwt, type SignedJwt } from "./es256.ts";
import { IssuerClock } from "./issuer-clock.ts";
import type { FetchKeySet } from "./key-set.ts";
import type { Principal } from "./principal.ts";
import { VerificationKeys } from "./verification-keys.ts";

const verifiedTokensMax = 20_000;
/** Ours take about 600 characters, and twice that if they were signed as a batch. */
const tokenLengthMax = 4_096;
/** Verified signatures of batches. The tokens of a batch are used soon after, and mostly at the same time. */
const verifiedBatchesMax = 1_000;
/** How often expired entries are removed. */
const purgeIntervalMs = 60_000;

/**
 * Verifies access tokens. A verified token is cached until it expires or a signing key is removed, because verifying a
 * signature costs more than the rest of a call.
 */
export class AccessTokenVerifier {
  /** By the digest of the token, which is as fast to look up and takes a tenth of its memory. */
  readonly #verified = new LRUCache<string, { principal: Principal; expiresAtMs: number }>({ max: verifiedTokensMax });
  /** By the signed content, which does not name a key: so the key is compared, too. */
  readonly #verifiedBatches = new LRUCache<string, KeyObject>({ max: verifiedBatchesMax });
  readonly #keys: VerificationKeys;
  readonly #clock: IssuerClock;
  #purgedAtMs = Number.NEGATIVE_INFINITY;

  constructor(fetchKeySet: FetchKeySet, { logger, metrics }: { logger?: Logger; metrics?: Metrics } = {}) {
    this.#clock = new IssuerClock(logger, metrics);
    this.#keys = new VerificationKeys({
      fetchKeySet,
      logger,
      onKeyRemoved: () => {
        this.#verified.clear();
        this.#verifiedBatches.clear();
      },
      onFetched: ({ timeMs }) => {
        this.#clock.measure(timeMs);
        return this.#clock.agrees;
      },
    });
  }

  /** The principal of an `authorization` header, or an `unauthenticated` error that says what to do. */
  async authenticate(authorization: string | undefined): Promise<Principal> {
    const token = authorization?.match(/^Bearer +(\S+)$/i)?.[1];
    if (token === undefined) {
      throw unauthenticated("TOKEN_MISSING", "Send an access token as `authorization: Bearer <token>`.");
    }
    return this.verify(token);
  }

  /** The principal that a token speaks for. */
  async verify(token: string): Promise<Principal> {
    if (token.length > tokenLengthMax) throw invalidToken();
    const now = monotonicMs();
    const refreshed = this.#keys.keepFresh(now);
    if (refreshed) await refreshed;
    const digest = hash("sha256", token, "base64url");
    const known = this.#verified.get(digest);
    if (known && known.expiresAtMs > now) return known.principal;
    const jwt = readJwt(token);
    if (!jwt) throw invalidToken();
    if (!this.#keys.find(jwt.kid)) await this.#keys.refreshForUnknownKey();
    let claims = this.#claimsOf(jwt);
    if (this.#clock.validityOf(claims) !== "good") {
      // Only the issuer can have signed it, so the clocks may differ: the key set shows by how much.
      await this.#keys.refreshUnlessFailing();
      claims = this.#claimsOf(jwt);
    }
    // Nothing is awaited from here on, so what is cached was verified by a key that still exists.
    this.#clock.reportIfOutOfTime(claims);
    const validity = this.#clock.validityOf(claims);
    if (validity === "early") throw invalidToken();
    if (validity === "expired") {
      throw unauthenticated("TOKEN_EXPIRED", "The access token has expired. Exchange the key for a new one.");
    }
    const principal = principalFromClaims(claims);
    this.#remember(digest, principal, this.#clock.leftMs(claims.exp));
    return principal;
  }

  /** For readiness: whether tokens can be verified at all. Keeps the keys fresh while nobody calls. */
  async check(): Promise<void> {
    await this.#keys.keepFresh(monotonicMs());
    if (!this.#keys.hasKeys) {
      const reason = this.#keys.fault === undefined ? "" : `: ${reasonOf(this.#keys.fault)}`;
      throw new Error(`the keys of access tokens could not be fetched yet${reason}`);
    }
    this.#clock.check();
  }

  /** The claims of a token, if the issuer signed it. */
  #claimsOf(jwt: SignedJwt): Claims {
    const key = this.#keys.find(jwt.kid);
    const claims = key && this.#isSignatureValid(jwt, key) ? readClaims(payloadOf(jwt)) : undefined;
    if (!claims) throw invalidToken();
    return claims;
  }

  /** For the rest of its life, by the monotonic clock. */
  #remember(digest: string, principal: Principal, leftMs: number): void {
    const now = monotonicMs();
    this.#verified.set(digest, { principal, expiresAtMs: now + leftMs });
    if (now - this.#purgedAtMs >= purgeIntervalMs) this.#purge(now);
  }

  /** By its own signature, or by that of its batch. */
  #isSignatureValid({ content, signature, batch }: SignedJwt, key: KeyObject): boolean {
    if (!batch) return isSigned(content, signature, key);
    if (this.#verifiedBatches.get(batch.content) === key) return true;
    if (!isSigned(batch.content, batch.signature, key)) return false;
    this.#verifiedBatches.set(batch.content, key);
    return true;
  }

  /** Nobody presents an expired token again, so nothing else would remove it before the cache is full. */
  #purge(now: number): void {
    this.#purgedAtMs = now;
    for (const [digest, { expiresAtMs }] of this.#verified.entries()) {
      if (expiresAtMs <= now) this.#verified.delete(digest);
    }
  }
}

function unauthenticated(reason: string, message: string): DomainError {
  return new DomainError("unauthenticated", { reason, message });
}

function invalidToken(): DomainError {
  return unauthenticated("TOKEN_INVALID", "The access token is not valid. Exchange the key for a new one.");
}

/** The original message of an error that others have wrapped. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}
