import type { PoolConnection } from "../../platform/mysql/pool.ts";
import { changeOf, differencesOf } from "../domain/changes.ts";
import { keyNotFound, keyOwnerNotMember } from "../domain/errors.ts";
import {
  checkExpiry,
  checkKeyUpdate,
  checkManagementRemains,
  type KeyUpdate,
  startsToWork,
  updatedKey,
} from "../domain/key-changes.ts";
import { type Key, loggedKey } from "../domain/keys.ts";
import type { Work } from "./change-organization.ts";
import { findKey, updateKeyRow } from "./keys.ts";
import { listEnabledKeys } from "./list-keys.ts";
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

/** Throws if the changed keys leave their organization without a management key. */
export async function checkManagement(connection: PoolConnection, keys: readonly Key[], now: Date): Promise<void> {
  const management = keys.filter(({ kind }) => kind === "management");
  const [first] = management;
  if (!first) return;
  const before = await listEnabledKeys(connection, first.organizationId, { kind: "management" });
  checkManagementRemains(before, management, now);
}

export async function getKey(connection: PoolConnection, organizationId: string, name: string): Promise<Key> {
  const key = await findKey(connection, organizationId, name);
  if (!key) throw keyNotFound();
  return key;
}
