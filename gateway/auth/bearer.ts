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

/** A typo is refused here, without a look-up. */
export function requireKey(text: string): string {
  if (isKey(text)) return text;
  throw unauthorized(
    "KEY_MALFORMED",
    "This is not a Setpoint key: it is mistyped or cut short. Check it, or create a new one.",
  );
}

/** As Anthropic's clients send it. What both headers hold must be the same key. */
export function keyFromEither(authorization: string | undefined, apiKey: string | string[] | undefined): string {
  if (apiKey === undefined && authorization === undefined) {
    throw unauthorized(
      "KEY_MISSING",
      "Send your key in the header `Authorization: Bearer <key>` or `x-api-key: <key>`.",
    );
  }
  if (apiKey === undefined) return keyFrom(authorization);
  const text = String(apiKey);
  // Also where one of them is no key of ours: who sets an upstream's by accident looks for a typo else.
  if (authorization !== undefined && bearerOf(authorization) !== text) {
    throw unauthorized("KEY_AMBIGUOUS", "Authorization and x-api-key hold different keys. Send one of them.");
  }
  return requireKey(text);
}

const bearer = "Bearer ";
const usualBeginning = bearer + keyPrefix;

/**
 * What stands for a key where it is sent as nearly all are: in one of the two headers. It need not be a key, but is none of
 * the other secrets: to be looked up, and no more.
 */
export function usualKey(authorization: string | undefined, apiKey?: string | string[]): string {
  if (authorization === undefined) return typeof apiKey === "string" && apiKey.startsWith(keyPrefix) ? apiKey : "";
  return apiKey === undefined && authorization.startsWith(usualBeginning) ? authorization.slice(bearer.length) : "";
}

export function nobodySignedIn(): DomainError {
  return unauthorized("SESSION_MISSING", "Nobody is signed in here. Sign in with a key.");
}

export function apiKeyRequired(): DomainError {
  return new DomainError("permission_denied", {
    reason: "API_KEY_REQUIRED",
    message: "Inference needs an API key of the workspace whose presets you use; a management key cannot do it.",
  });
}

/** Not a 403, as services have it: the public API answers a key of the wrong kind with 401. */
export function managementKeyRequired(): DomainError {
  return new DomainError("unauthenticated", managementKeyRefusal);
}

function unauthorized(reason: string, message: string): DomainError {
  return new DomainError("unauthenticated", { reason, message });
}
