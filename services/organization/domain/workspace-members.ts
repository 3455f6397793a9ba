import { v5 } from "uuid";
import { type FieldViolation, invalidRequest } from "../../platform/domain/domain-error.ts";
import { userIdsMax } from "../../platform/domain/limits.ts";
import type { MemberRole } from "./members.ts";

/** A user as a member of one workspace. */
export interface WorkspaceMember {
  readonly workspaceId: string;
  readonly userId: string;
  /** The user's role in the organization. */
  readonly role: MemberRole;
  readonly createdAt: Date;
}

/** Members of the default workspace have no rows of their own there, so the id is derived from the membership. */
export function workspaceMemberId({ workspaceId, userId }: WorkspaceMember): string {
  return v5(userId, workspaceId);
}

/** Each user once; throws if there are none or too many. */
export function distinctUserIds(userIds: readonly string[]): string[] {
  if (userIds.length >= 1 && userIds.length <= userIdsMax) return [...new Set(userIds)];
  throw invalidRequest([{ path: "user_ids", message: `must have 1 to ${userIdsMax} elements` }]);
}

/** Reports every user who is not a member of the organization, whether such a user exists or not. */
export function checkAllMembers(userIds: readonly string[], memberIds: ReadonlySet<string>): void {
  const violations = userIds.flatMap((userId, index): FieldViolation[] =>
    memberIds.has(userId) ? [] : [{ path: `user_ids[${index}]`, message: "must be a member of the organization" }],
  );
  if (violations.length > 0) throw invalidRequest(violations);
}
