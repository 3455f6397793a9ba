import { keyStatus } from "../domain/keys.ts";
import { updateKey } from "../store/update-key.ts";
import { keyCommand, nameOf, tokensOutliveKey } from "./key.ts";

/** Suspends a key until it is enabled again. For a revoked or expired key, it says so. */
export const disableKey = keyCommand({
  name: "disable-key",
  summary: "Suspends a key until enable-key lets it work again.",
  prepare: (key) => (key.revokedAt ? undefined : updateKey(key.id, { disabled: true })),
  describe: (key) => `${nameOf(key)} is ${keyStatus(key, new Date())}; ${tokensOutliveKey}`,
});
