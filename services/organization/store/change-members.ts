import type { Executor } from "../../platform/mysql/pool.ts";
import { type Change, type ChangeAction, changeOf, differencesOf, type FieldChange } from "../domain/changes.ts";
import { lastAdmin, lastManagementKeyOfMember, memberExists, memberHasKeys, memberNotFound } from "../domain/errors.ts";
import { workingKeys } from "../domain/keys.ts";
import { checkMember, loggedMember, type Member, type MemberUpdate, type NewMember } from "../domain/members.ts";
import type { Work } from "./change-organization.ts";
import { checkManagement } from "./check-management.ts";
import { updateKeysDisabled } from "./keys.ts";
import { listEnabledKeys } from "./list-keys.ts";
import {
  deleteMembership,
  findMember,
  findOldestAdminUserId,
  findOrInsertUser,
  insertMembership,
  updateMembership,
} from "./members.ts";
import { deleteMemberFromWorkspaces } from "./workspace-members.ts";

/** Adds a member, and also creates the user if the address is new. */
export function addMember(given: NewMember): Work<Member> {
  checkMember(given);
  return async (connection, organization, now) => {
    const userId = await findOrInsertUser(connection, { ...given, createdAt: now });
    const member = { ...given, userId, createdAt: now };
    if (!(await insertMembership(connection, organization.id, member))) throw memberExists(given.email);
    return { result: member, changes: [memberChange("member_added", member, differencesOf({}, loggedMember(member)))] };
  };
}

/** Makes all changes of an update, or none. */
export function updateMember(userId: string, update: MemberUpdate): Work<Member> {
  checkMember(update);
  return async (connection, organization) => {
    const before = await getMember(connection, organization.id, userId);
    const member = { ...before, ...update };
    const fields = differencesOf(loggedMember(before), loggedMember(member));
    if (fields.length === 0) return { result: before, changes: [] };
    if (before.role === "org:admin" && member.role !== "org:admin")
      await checkOtherAdmin(connection, organization.id, userId);
    await updateMembership(connection, organization.id, member);
    return { result: member, changes: [memberChange("member_updated", member, fields)] };
  };
}

interface Removed {
  readonly member: Member;
  readonly disabledKeyCount: number;
}

/**
 * Ends a membership. The user stays, because presets and versions refer to their creator. Working keys are disabled
 * with it if that is requested, and otherwise prevent it.
 */
export function removeMember(userId: string, disableKeys: boolean): Work<Removed> {
  return async (connection, organization, now) => {
    const member = await getMember(connection, organization.id, userId);
    if (member.role === "org:admin") await checkOtherAdmin(connection, organization.id, userId);
    const enabled = await listEnabledKeys(connection, organization.id, { creatorUserIds: [userId] });
    const working = workingKeys(enabled, now);
    if (working.length > 0 && !disableKeys) throw memberHasKeys(working);
    const disabled = working.map((key) => ({ ...key, disabled: true }));
    await checkManagement(connection, disabled, now, lastManagementKeyOfMember);
    await updateKeysDisabled(connection, working, now);
    await deleteMemberFromWorkspaces(connection, organization.id, userId);
    await deleteMembership(connection, organization.id, userId);
    const changes = working.map((key) =>
      changeOf("key", "key_updated", key, [{ field: "disabled", from: false, to: true }]),
    );
    return {
      result: { member, disabledKeyCount: working.length },
      changes: [memberChange("member_removed", member, []), ...changes],
    };
  };
}

async function checkOtherAdmin(executor: Executor, organizationId: string, userId: string): Promise<void> {
  if ((await findOldestAdminUserId(executor, organizationId, userId)) === undefined) throw lastAdmin();
}

async function getMember(executor: Executor, organizationId: string, userId: string): Promise<Member> {
  const member = await findMember(executor, organizationId, userId);
  if (!member) throw memberNotFound();
  return member;
}

function memberChange(action: ChangeAction, member: Member, fields: readonly FieldChange[]): Change {
  return changeOf("member", action, { id: member.userId, name: member.email }, fields);
}
