import type { Pool } from "../../platform/mysql/pool.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { oneOf, optional, required } from "../../platform/process/flags.ts";
import { memberRoles } from "../domain/members.ts";
import { addMember as addStoredMember } from "../store/change-members.ts";
import { email, name } from "./flag-rules.ts";
import { asFlag, change, getOrganization } from "./organization.ts";

/** Adds a member, and also creates the user if the address is new. */
export const addMember = defineCommand({
  name: "add-member",
  summary: "Adds a member to an organization.",
  flags: {
    organization: required(name, "the name of the organization"),
    email: required(email, "who it is; they may be a member of other organizations, too"),
    "first-name": optional(name, "of the member, in this organization"),
    "last-name": optional(name, "of the member, in this organization"),
    role: optional(oneOf(memberRoles), "org:member by default"),
    ...asFlag,
  },
  example: "--organization Demo --email grace@example.com --role org:admin",
  run: async (flags, pool: Pool) => {
    const organization = await getOrganization(pool, flags.organization);
    const { userId, role } = await change(pool, { organizationId: organization.id, as: flags.as }, () =>
      addStoredMember({
        email: flags.email,
        firstName: flags["first-name"],
        lastName: flags["last-name"],
        role: flags.role ?? "org:member",
      }),
    );
    return `${flags.email} (${userId}) is now ${role} of "${flags.organization}"`;
  },
});
