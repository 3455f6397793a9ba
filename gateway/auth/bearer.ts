import { isKey, keyPrefix } from "../../services/platform/auth/key-format.ts";
import { managementKeyRefusal } from "../../services/platform/auth/principal.ts";
import { DomainError } from "../../services/platform/domain/domain-error.ts";

/** The key of an `Authorization` header. */
export function keyFrom(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw unauthorized("KEY_MISSING", "Send your key in the header `Authorization: Bearer <key>`.");
  }
  return requireKey(bearerOf(authorization));
}

function bearerOf(authorization: string): string {
  const text = authorization.match(/^Bearer +(\S+) *$/i)?.[1];
  if (text === undefined) throw unauthorized("KEY_MALFORMED", "The Authorization header must be `Bearer <key>`.");
  return text;
}

/** Refuses a mistyped key without asking a service. */
export function requireKey(text: string): string {
  if (isKey(text)) return text;
  throw unauthorized(
    "KEY_MALFORMED",
    "This is not a Setpoint key, or it is mistyped or cut short. A key begins with sk-sp-v1-, without quotes: check it, or create a new one.",
  );
}

/**
 * The key of either header: Anthropic's clients send `x-api-key`. If both are sent, they must contain the same key; but an
 * empty one counts as not sent, because some clients make that of an empty variable.
 */
export function keyFromEither(authorization: string | undefined, apiKey: string | string[] | undefined): string {
  if (apiKey === undefined && authorization === undefined) {
    throw unauthorized(
      "KEY_MISSING",
      "Send your key in the header `Authorization: Bearer <key>` or `x-api-key: <key>`.",
    );
  }
  if (apiKey === undefined || (apiKey === "" && authorization !== undefined)) return keyFrom(authorization);
  const text = String(apiKey);
  if (authorization !== undefined && /^(Bearer)? *$/i.test(authorization)) return requireKey(text);
  // Even if one of them is not a Setpoint key: whoever sent an upstream's key by accident would otherwise look for a
  // typo.
  if (authorization !== undefined && bearerOf(authorization) !== text) {
    throw unauthorized("KEY_AMBIGUOUS", "Authorization and x-api-key hold different keys. Send one of them.");
  }
  return requireKey(text);
}

const bearer = "Bearer ";
const bearerKeyPrefix = bearer + keyPrefix;

/**
 * The presumable key of a request that sends it in the usual way: in exactly one of the two headers. It is not
 * validated, but is not a secret of another kind, so it may be looked up among cached keys, and nothing else. Empty if
 * there is none.
 */
export function unvalidatedKeyFrom(authorization: string | undefined, apiKey?: string | string[]): string {
  if (authorization === undefined) return typeof apiKey === "string" && apiKey.startsWith(keyPrefix) ? apiKey : "";
  return apiKey === undefined && authorization.startsWith(bearerKeyPrefix) ? authorization.slice(bearer.length) : "";
}

export function notSignedIn(): DomainError {
  return unauthorized("SESSION_MISSING", "Nobody is signed in here. Sign in with a key.");
}

export function apiKeyRequired(): DomainError {
  return new DomainError("permission_denied", {
    reason: "API_KEY_REQUIRED",
    message: "Inference needs an API key of the workspace whose presets you use; a management key cannot do it.",
  });
}

/** A 401, and not the 403 of the services, because the public API answers a key of the wrong kind that way. */
export function managementKeyRequired(): DomainError {
  return new DomainError("unauthenticated", managementKeyRefusal);
}

function unauthorized(reason: string, message: string): DomainError {
  return new DomainError("unauthenticated", { reason, message });
}
