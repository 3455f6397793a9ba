import { deleteKey } from "../store/update-key.ts";
import { keyCommand, nameOf, tokensOutliveKey } from "./key.ts";

/** Ends a key for good. */
export const revokeKey = keyCommand({
  name: "revoke-key",
  summary: "Ends a key for good.",
  prepare: (key) => (key.revokedAt ? undefined : deleteKey(key.id)),
  describe: (key) => `${nameOf(key)} is revoked since ${key.revokedAt?.toISOString()}; ${tokensOutliveKey}`,
});
