import { changeOf, differencesOf } from "../domain/changes.ts";
import { checkKeyRotation, type KeyRotation, rotatedKey, rotationDigest } from "../domain/key-changes.ts";
import { type Key, loggedKey, type NewKey, newSecret } from "../domain/keys.ts";
import type { Work } from "./change-organization.ts";
import { findCreatedKey, insertKeyRequest, keyRequestOf, rethrowUnlessCreatedElsewhere } from "./key-requests.ts";
import { getKey, updateKeySecret } from "./keys.ts";

/** Gives a key a new secret. */
export function rotateKey(rotation: KeyRotation): Work<NewKey> {
  checkKeyRotation(rotation);
  return async (connection, organization, now) => {
    const request = keyRequestOf(organization.id, rotation, rotationDigest(rotation));
    // First, because a retry may name the key by its previous hash.
    const repeated = await findCreatedKey(connection, request, now);
    if (repeated) return { result: repeated, changes: [] };
    const rethrow = rethrowUnlessCreatedElsewhere(connection, request, now);
    const before = await getKey(connection, organization.id, rotation.key).catch(rethrow);
    const created = request.seeded ?? newSecret();
    const key = rotatedKey(before, created, rotation.graceSeconds, now);
    await updateKeySecret(connection, before, key).catch(rethrow);
    await insertKeyRequest(connection, request, key.hash, now);
    const fields = differencesOf(loggedKey(withoutEndedGrace(before, now)), loggedKey(key));
    return { result: { key, secret: created.secret }, changes: [changeOf("key", "key_rotated", key, fields)] };
  };
}

/** The key as people saw it: once its grace period is over, the previous secret is no longer shown. */
function withoutEndedGrace(key: Key, now: Date): Key {
  const isOver = key.previousExpiresAt && key.previousExpiresAt <= now;
  return isOver ? { ...key, previousExpiresAt: undefined } : key;
}
