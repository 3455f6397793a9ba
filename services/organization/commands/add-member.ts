import type { Pool } from "../../platform/mysql/pool.ts";
import { CommandError } from "../../platform/process/command-line.ts";
import { memberRoles } from "../domain/members.ts";
import { findOrInsertUser, insertMembership } from "../store/members.ts";
import { email, name, oneOf, optional, readFlags, required } from "./flags.ts";
import { changeOrganization } from "./organization.ts";

/** Makes someone a member, and first a user where the address is new. A user who exists keeps their names. */
export async function addMember(pool: Pool, parameters: string[]): Promise<string> {
  const flags = readFlags("add-member", parameters, {
    organization: required(name),
    email: required(email),
    "first-name": optional(name),
    "last-name": optional(name),
    role: optional(oneOf(memberRoles)),
  });
  const role = flags.role ?? "org:member";
  const userId = await changeOrganization(pool, flags.organization, async (connection, organization) => {
    const createdAt = new Date();
    const user = { email: flags.email, firstName: flags["first-name"], lastName: flags["last-name"], createdAt };
    const userId = await findOrInsertUser(connection, user);
    if (await insertMembership(connection, { organizationId: organization.id, userId, role, createdAt })) return userId;
    throw new CommandError(
      `${flags.email} is a member of "${organization.name}" already; for another role, run remove-member first`,
    );
  });
  return `${flags.email} (${userId}) is now ${role} of "${flags.organization}"`;
}
