import { differencesOf } from "../domain/changes.ts";
import { checkKeyRotation, type KeyRotation, rotatedKey, rotationDigest } from "../domain/key-changes.ts";
import { loggedKey, type NewKey, newSecret } from "../domain/keys.ts";
import type { Work } from "./change-organization.ts";
import { findMadeKey, insertKeyRequest, keyRequestOf, unlessMadeElsewhere } from "./key-requests.ts";
import { updateKeySecret } from "./keys.ts";
import { getKey } from "./update-key.ts";

/** Gives a key a new secret. */
export function rotateKey(rotation: KeyRotation): Work<NewKey> {
  checkKeyRotation(rotation);
  return async (connection, organization, now) => {
    const request = keyRequestOf(organization.id, rotation, rotationDigest(rotation));
    // First, because a retry may name the key by its previous hash.
    const repeated = await findMadeKey(connection, request, now);
    if (repeated) return { result: repeated, changes: [] };
    const before = await getKey(connection, organization.id, rotation.key);
    const made = request.seeded ?? newSecret();
    const key = rotatedKey(before, made, rotation.graceSeconds, now);
    await updateKeySecret(connection, before, key).catch(unlessMadeElsewhere(connection, request, now));
    await insertKeyRequest(connection, request, key.hash, now);
    const target = { kind: "key", id: key.id, name: key.name } as const;
    const fields = differencesOf(loggedKey(before), loggedKey(key));
    return { result: { key, secret: made.secret }, changes: [{ action: "key_rotated", target, fields }] };
  };
}
