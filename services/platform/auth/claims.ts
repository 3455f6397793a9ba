import { type KeyKind, knownPermissions, type Principal } from "./principal.ts";

/** Says who minted a token; tokens of anyone else are refused. */
export const accessTokenIssuer = "setpoint";

/** No token lives longer, whoever signed it, because it cannot be revoked. */
export const accessTokenLifeMaxSeconds = 3_600;

/**
 * The claims of an access token besides its issuer. `sub` is the user; times are in seconds since 1970, by the issuer's
 * clock.
 */
export interface Claims {
  readonly sub: string;
  readonly key: string;
  readonly kind: KeyKind;
  readonly org?: string;
  readonly ws?: string;
  readonly perm: readonly string[];
  readonly iat: number;
  readonly exp: number;
  readonly nbf?: number;
}

export function claimsFromPrincipal(principal: Principal): Omit<Claims, "iat" | "exp"> {
  return {
    sub: principal.userId,
    key: principal.keyId,
    kind: principal.keyKind,
    ...(principal.organizationId === undefined ? {} : { org: principal.organizationId }),
    ...(principal.workspaceId === undefined ? {} : { ws: principal.workspaceId }),
    perm: [...principal.permissions],
  };
}

/**
 * The claims of a payload whose signature is valid, or undefined if one is missing, has a wrong type or size, or is
 * from another issuer.
 */
export function readClaims(payload: unknown): Claims | undefined {
  if (typeof payload !== "object" || payload === null) return undefined;
  const claims = payload as Record<keyof Claims | "iss", unknown>;
  const { iss, sub, key, kind, org, ws, perm, iat, exp, nbf } = claims;
  const isValid =
    iss === accessTokenIssuer &&
    [sub, key].every((text) => typeof text === "string" && text !== "") &&
    (kind === "api" || kind === "management") &&
    [org, ws].every((text) => text === undefined || (typeof text === "string" && text !== "")) &&
    Array.isArray(perm) &&
    perm.every((permission) => typeof permission === "string") &&
    Number.isFinite(iat) &&
    Number.isFinite(exp) &&
    (nbf === undefined || Number.isFinite(nbf)) &&
    (exp as number) - (iat as number) <= accessTokenLifeMaxSeconds;
  return isValid ? (claims as unknown as Claims) : undefined;
}

/** A permission that this release does not know yet is left out: it grants nothing here. */
export function principalFromClaims(claims: Claims): Principal {
  return {
    keyId: claims.key,
    keyKind: claims.kind,
    userId: claims.sub,
    organizationId: claims.org,
    workspaceId: claims.ws,
    permissions: knownPermissions.filter((permission) => claims.perm.includes(permission)),
  };
}
