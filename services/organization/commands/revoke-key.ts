import { updateKeyRevoked } from "../store/keys.ts";
import { keyCommand, nameOf, tokensOutliveKey } from "./key.ts";

/** Ends a key for good. */
export const revokeKey = keyCommand({
  name: "revoke-key",
  summary: "Ends a key for good.",
  change: (executor, keyId) => updateKeyRevoked(executor, keyId, new Date()),
  tell: (key) => `${nameOf(key)} is revoked since ${key.revokedAt?.toISOString()}; ${tokensOutliveKey}`,
});
