import type { Pool } from "../../platform/mysql/pool.ts";
import { memberRoles } from "../domain/members.ts";
import { addMember as addStoredMember } from "../store/change-members.ts";
import { email, name, oneOf, optional, readFlags, required } from "./flags.ts";
import { change, getOrganization } from "./organization.ts";

/** Makes someone a member, and first a user where the address is new. */
export async function addMember(pool: Pool, parameters: string[]): Promise<string> {
  const flags = readFlags("add-member", parameters, {
    organization: required(name),
    email: required(email),
    "first-name": optional(name),
    "last-name": optional(name),
    role: optional(oneOf(memberRoles)),
  });
  const organization = await getOrganization(pool, flags.organization);
  const { userId, role } = await change(pool, organization.id, () =>
    addStoredMember({
      email: flags.email,
      firstName: flags["first-name"],
      lastName: flags["last-name"],
      role: flags.role ?? "org:member",
    }),
  );
  return `${flags.email} (${userId}) is now ${role} of "${flags.organization}"`;
}
