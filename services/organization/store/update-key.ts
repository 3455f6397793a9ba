import { changeOf, differencesOf } from "../domain/changes.ts";
import { keyOwnerNotMember } from "../domain/errors.ts";
import { checkExpiry, checkKeyUpdate, type KeyUpdate, startsToWork, updatedKey } from "../domain/key-changes.ts";
import { type Key, loggedKey } from "../domain/keys.ts";
import type { Work } from "./change-organization.ts";
import { checkManagement } from "./check-management.ts";
import { getKey, updateKeyRow } from "./keys.ts";
import { findMember } from "./members.ts";

/** Makes all changes of an update, or none. A key whose owner is no longer a member cannot be enabled. */
export function updateKey(name: string, update: KeyUpdate): Work<Key> {
  checkKeyUpdate(update, new Date());
  return async (connection, organization, now) => {
    checkExpiry(update.expiresAt, now);
    const before = await getKey(connection, organization.id, name);
    const key = updatedKey(before, update, now);
    if (key === before) return { result: key, changes: [] };
    if (startsToWork(before, key, now) && !(await findMember(connection, organization.id, key.creatorUserId))) {
      throw keyOwnerNotMember();
    }
    await checkManagement(connection, [key], now);
    await updateKeyRow(connection, key);
    const fields = differencesOf(loggedKey(before), loggedKey(key));
    return { result: key, changes: [changeOf("key", "key_updated", key, fields)] };
  };
}

/** Ends a key for good. */
export function deleteKey(name: string): Work<Key> {
  return async (connection, organization, now) => {
    const before = await getKey(connection, organization.id, name);
    const key = { ...before, revokedAt: now };
    await checkManagement(connection, [key], now);
    await updateKeyRow(connection, key);
    return { result: key, changes: [changeOf("key", "key_deleted", key, [])] };
  };
}
