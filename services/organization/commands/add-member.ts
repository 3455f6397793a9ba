import type { Pool } from "../../platform/mysql/pool.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { oneOf, optional, required } from "../../platform/process/flags.ts";
import { memberRoles } from "../domain/members.ts";
import { findOrInsertUser, insertMembership } from "../store/members.ts";
import { email, name } from "./flag-rules.ts";
import { changeOrganization } from "./organization.ts";

/** Makes someone a member, and first a user where the address is new. A user who exists keeps their names. */
export const addMember = defineCommand({
  name: "add-member",
  summary: "Makes someone a member of an organization.",
  flags: {
    organization: required(name, "the name of the organization"),
    email: required(email, "who it is; a user who exists keeps their names"),
    "first-name": optional(name, "of a new user"),
    "last-name": optional(name, "of a new user"),
    role: optional(oneOf(memberRoles), "org:member unless told"),
  },
  example: "--organization Demo --email grace@example.com --role org:admin",
  run: async (flags, pool: Pool) => {
    const role = flags.role ?? "org:member";
    const userId = await changeOrganization(pool, flags.organization, async (connection, organization) => {
      const createdAt = new Date();
      const user = { email: flags.email, firstName: flags["first-name"], lastName: flags["last-name"], createdAt };
      const userId = await findOrInsertUser(connection, user);
      if (await insertMembership(connection, { organizationId: organization.id, userId, role, createdAt }))
        return userId;
      throw new CommandError(
        `${flags.email} is a member of "${organization.name}" already; for another role, run remove-member first`,
      );
    });
    return `${flags.email} (${userId}) is now ${role} of "${flags.organization}"`;
  },
});
