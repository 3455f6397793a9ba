import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import jwt from "jsonwebtoken";
import { LRUCache } from "lru-cache";
import { DomainError, unavailable } from "../domain/domain-error.ts";
import type { KeyKind, Permission, Principal } from "./principal.ts";

/** Says who minted a token; tokens of anyone else are refused. */
export const accessTokenIssuer = "setpoint";

/** What an access token says beside the registered claims; `sub` is the user. */
interface Claims {
  readonly sub: string;
  readonly exp: number;
  readonly key: string;
  readonly kind: KeyKind;
  readonly org?: string;
  readonly ws?: string;
  readonly perm: Permission[];
}

type PrincipalClaims = Omit<Claims, "exp">;

export function claimsFromPrincipal(principal: Principal): PrincipalClaims {
  return {
    sub: principal.userId,
    key: principal.keyId,
    kind: principal.keyKind,
    ...(principal.organizationId === undefined ? {} : { org: principal.organizationId }),
    ...(principal.workspaceId === undefined ? {} : { ws: principal.workspaceId }),
    perm: [...principal.permissions],
  };
}

function principalFromClaims(claims: Claims): Principal {
  return {
    keyId: claims.key,
    keyKind: claims.kind,
    userId: claims.sub,
    organizationId: claims.org,
    workspaceId: claims.ws,
    permissions: claims.perm,
  };
}

/** A public key that tokens may be signed with, as it stands in a JWKS. */
export interface Jwk extends JsonWebKey {
  readonly kid: string;
}

/** Where the public keys come from: the organization service's own, or its JWKS over HTTP. */
type FetchKeys = () => Promise<readonly Jwk[]>;

/** Fetches `/.well-known/jwks.json` of the organization service. */
export function jwksFrom(url: string): FetchKeys {
  return async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(3_000) });
    if (!response.ok) throw new Error(`GET ${url} answered ${response.status}`);
    const body = (await response.json()) as { keys: Jwk[] };
    return body.keys;
  };
}

const verifiedTokensMax = 20_000;
/** How often those that have expired are taken out. */
const purgeIntervalMs = 60_000;
/** Keys are fetched again when they are this old, so that a key taken out of the JWKS stops working. */
const keysMaxAgeMs = 300_000;
/** Tokens with made-up key ids cannot make a service fetch more often than this. */
const keysMinAgeMs = 1_000;

/**
 * Verifies access tokens. A verified token is remembered until it expires, because a signature check costs more
 * than the rest of a call.
 */
export class AccessTokenVerifier {
  readonly #fetchKeys: FetchKeys;
  readonly #verified = new LRUCache<string, { principal: Principal; expiresAtMs: number }>({ max: verifiedTokensMax });
  #purgedAtMs = Number.NEGATIVE_INFINITY;
  #keys = new Map<string, KeyObject>();
  #keysAskedAtMs = Number.NEGATIVE_INFINITY;
  #keysFault: unknown;
  #refreshing: Promise<void> | undefined;

  constructor(fetchKeys: FetchKeys) {
    this.#fetchKeys = fetchKeys;
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
    const known = this.#verified.get(token);
    if (known && known.expiresAtMs > Date.now()) return known.principal;
    const claims = await this.#readClaims(token);
    const principal = principalFromClaims(claims);
    this.#verified.set(token, { principal, expiresAtMs: claims.exp * 1000 });
    if (Date.now() - this.#purgedAtMs >= purgeIntervalMs) this.#purge();
    return principal;
  }

  /** Nobody shows an expired token again, so nothing else would take it out before the cache is full. */
  #purge(): void {
    this.#purgedAtMs = Date.now();
    for (const [token, { expiresAtMs }] of this.#verified.entries()) {
      if (expiresAtMs <= this.#purgedAtMs) this.#verified.delete(token);
    }
  }

  async #readClaims(token: string): Promise<Claims> {
    try {
      const kid = jwt.decode(token, { complete: true })?.header.kid;
      const key = kid === undefined ? undefined : await this.#findKey(kid);
      if (key === undefined) throw invalidToken();
      return jwt.verify(token, key, { algorithms: ["ES256"], issuer: accessTokenIssuer }) as unknown as Claims;
    } catch (error) {
      if (error instanceof DomainError) throw error;
      if (error instanceof jwt.TokenExpiredError) {
        throw unauthenticated("TOKEN_EXPIRED", "The access token has expired. Exchange the key for a new one.", error);
      }
      throw invalidToken(error);
    }
  }

  async #findKey(kid: string): Promise<KeyObject | undefined> {
    const known = this.#keys.get(kid);
    const age = Date.now() - this.#keysAskedAtMs;
    if (known) {
      // A key that is known is good until the JWKS says otherwise: nobody waits for it, and a JWKS out of reach stops no call.
      if (age > keysMaxAgeMs) void this.#refreshKeys();
      return known;
    }
    if (age > keysMinAgeMs || this.#refreshing) await this.#refreshKeys();
    if (this.#keysFault !== undefined) {
      throw unavailable("Access tokens cannot be verified right now. Try again.", this.#keysFault);
    }
    return this.#keys.get(kid);
  }

  /** Concurrent callers share one fetch. Where it fails, what was known stays known. */
  #refreshKeys(): Promise<void> {
    this.#keysAskedAtMs = Date.now();
    this.#refreshing ??= this.#fetchKeys()
      .then((keys) => {
        this.#keys = new Map(keys.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: "jwk" })]));
        this.#keysFault = undefined;
      })
      .catch((error: unknown) => {
        this.#keysFault = error;
      })
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }
}

function unauthenticated(reason: string, message: string, cause?: unknown): DomainError {
  return new DomainError("unauthenticated", { reason, message, cause });
}

function invalidToken(cause?: unknown): DomainError {
  return unauthenticated("TOKEN_INVALID", "The access token is not valid. Exchange the key for a new one.", cause);
}
