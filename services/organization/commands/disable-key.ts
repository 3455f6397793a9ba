import type { Pool } from "../../platform/mysql/pool.ts";
import { keyStatus } from "../domain/keys.ts";
import { updateKey } from "../store/update-key.ts";
import { changeKey, nameOf, tokensOutliveKey } from "./key.ts";

/** Stops a key until it is enabled again. One that is revoked or expired is told to be so. */
export function disableKey(pool: Pool, parameters: string[]): Promise<string> {
  return changeKey(pool, "disable-key", parameters, {
    prepare: (key) => (key.revokedAt ? undefined : updateKey(key.id, { disabled: true })),
    tell: (key) => `${nameOf(key)} is ${keyStatus(key, new Date())}; ${tokensOutliveKey}`,
  });
}
