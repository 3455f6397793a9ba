import type { Pool } from "../../platform/mysql/pool.ts";
import { updateKeyRevoked } from "../store/keys.ts";
import { changeKey, nameOf, tokensOutliveKey } from "./key.ts";

/** Ends a key for good. */
export function revokeKey(pool: Pool, parameters: string[]): Promise<string> {
  return changeKey(pool, "revoke-key", parameters, {
    change: (executor, keyId) => updateKeyRevoked(executor, keyId, new Date()),
    tell: (key) => `${nameOf(key)} is revoked since ${key.revokedAt?.toISOString()}; ${tokensOutliveKey}`,
  });
}
