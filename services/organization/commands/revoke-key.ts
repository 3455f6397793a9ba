import type { Pool } from "../../platform/mysql/pool.ts";
import { deleteKey } from "../store/update-key.ts";
import { changeKey, nameOf, tokensOutliveKey } from "./key.ts";

/** Ends a key for good. */
export function revokeKey(pool: Pool, parameters: string[]): Promise<string> {
  return changeKey(pool, "revoke-key", parameters, {
    prepare: (key) => (key.revokedAt ? undefined : deleteKey(key.id)),
    tell: (key) => `${nameOf(key)} is revoked since ${key.revokedAt?.toISOString()}; ${tokensOutliveKey}`,
  });
}
