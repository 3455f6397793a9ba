import type { Executor } from "../../platform/mysql/pool.ts";
import { changeOf, differencesOf } from "../domain/changes.ts";
import { keyOwnerNotMember, keyWorkspaceDeleted } from "../domain/errors.ts";
import { checkExpiry, checkKeyUpdate, type KeyUpdate, startsToWork, updatedKey } from "../domain/key-changes.ts";
import { type Key, loggedKey } from "../domain/keys.ts";
import type { Work } from "./change-organization.ts";
import { checkManagement } from "./check-management.ts";
import { getKey, updateKeyRow } from "./keys.ts";
import { findMember } from "./members.ts";
import { findWorkspace } from "./workspaces.ts";

/** Makes all changes of an update, or none. */
export function updateKey(name: string, update: KeyUpdate): Work<Key> {
  checkKeyUpdate(update, new Date());
  return async (connection, organization, now) => {
    checkExpiry(update.expiresAt, now);
    const before = await getKey(connection, organization.id, name);
    const key = updatedKey(before, update, now);
    if (key === before) return { result: key, changes: [] };
    if (startsToWork(before, key, now)) await checkCanWork(connection, key);
    await checkManagement(connection, [key], now);
    await updateKeyRow(connection, key);
    const fields = differencesOf(loggedKey(before), loggedKey(key));
    return { result: key, changes: [changeOf("key", "key_updated", key, fields)] };
  };
}

/** Throws if the owner of the key is no longer a member, or its workspace was deleted. */
async function checkCanWork(executor: Executor, { organizationId, creatorUserId, workspaceId }: Key): Promise<void> {
  if (!(await findMember(executor, organizationId, creatorUserId))) throw keyOwnerNotMember();
  const hasWorkspace = workspaceId === undefined || (await findWorkspace(executor, organizationId, workspaceId));
  if (!hasWorkspace) throw keyWorkspaceDeleted();
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
