import type { Pool } from "../../platform/mysql/pool.ts";
import { CommandError } from "../../platform/process/command-line.ts";
import { removeMember as removeStoredMember } from "../store/change-members.ts";
import { findMemberByEmail } from "../store/members.ts";
import { email, name, readFlags, required, toggle } from "./flags.ts";
import { change, getOrganization } from "./organization.ts";

/** Ends a membership, and with --disable-keys the keys of the member that still work. */
export async function removeMember(pool: Pool, parameters: string[]): Promise<string> {
  const flags = readFlags("remove-member", parameters, {
    organization: required(name),
    email: required(email),
    "disable-keys": toggle,
  });
  const organization = await getOrganization(pool, flags.organization);
  const found = await findMemberByEmail(pool, organization.id, flags.email);
  if (!found)
    throw new CommandError(`${flags.email} is no member of "${organization.name}"; list-members shows who is`);
  const { member, disabledKeyCount } = await change(pool, organization.id, () =>
    removeStoredMember(found.userId, flags["disable-keys"]),
  );
  const removed = `${member.email} (${member.userId}) is no longer a member of "${organization.name}"`;
  return disabledKeyCount === 0 ? removed : `${removed}\nKeys of theirs that were disabled: ${disabledKeyCount}`;
}
