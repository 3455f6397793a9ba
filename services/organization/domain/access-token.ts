import { accessTokenIssuer, claimsFromPrincipal } from "../../platform/auth/claims.ts";
import { signJwt, signJwts } from "../../platform/auth/es256.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { SigningKey } from "./signing-keys.ts";

export interface AccessToken {
  readonly text: string;
  readonly expiresAt: Date;
  readonly lifeSeconds: number;
  /** How long the key remains valid; undefined if it does not expire. */
  readonly keyLifeSeconds: number | undefined;
}

interface TokenLife {
  readonly now: Date;
  readonly ttlSeconds: number;
  /** When the key stops working. Its tokens expire no later, except for one issued in its last second. */
  readonly keyExpiresAt: Date | undefined;
}

/** The claims of a token, and its lifetime. */
interface TokenContent {
  readonly claims: object;
  readonly life: Omit<AccessToken, "text">;
}

/** Signs the identity and rights of a principal, for services that trust nothing else. */
export function mintAccessToken({ claims, life }: TokenContent, { privateKey, jwk }: SigningKey): AccessToken {
  return { text: signJwt(claims, { privateKey, kid: jwk.kid }), ...life };
}

/** A token for each, signed as a batch, which services verify faster than tokens signed one by one. */
export function mintAccessTokens(
  contents: readonly TokenContent[],
  { privateKey, jwk }: SigningKey,
): ReadonlyMap<TokenContent, AccessToken> {
  const texts = signJwts(
    contents.map(({ claims }) => claims),
    { privateKey, kid: jwk.kid },
  );
  return new Map(contents.map((content, index) => [content, { text: texts[index] as string, ...content.life }]));
}

export function tokenContent(principal: Principal, life: TokenLife): TokenContent {
  const iat = wholeSeconds(life.now);
  const keyExp = life.keyExpiresAt ? Math.max(wholeSeconds(life.keyExpiresAt), iat + 1) : Infinity;
  const exp = Math.min(iat + life.ttlSeconds, keyExp);
  const claims = { ...claimsFromPrincipal(principal), iss: accessTokenIssuer, iat, exp };
  const keyLifeSeconds = keyExp === Infinity ? undefined : keyExp - iat;
  return { claims, life: { expiresAt: new Date(exp * 1000), lifeSeconds: exp - iat, keyLifeSeconds } };
}

function wholeSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
