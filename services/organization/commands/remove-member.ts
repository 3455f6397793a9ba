import type { Pool } from "../../platform/mysql/pool.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { required, toggle } from "../../platform/process/flags.ts";
import { removeMember as removeStoredMember } from "../store/change-members.ts";
import { findMemberByEmail } from "../store/members.ts";
import { email, name } from "./flag-rules.ts";
import { asFlag, change, getOrganization } from "./organization.ts";

/** Removes a member and, with --disable-keys, disables the member's working keys. */
export const removeMember = defineCommand({
  name: "remove-member",
  summary: "Removes a member who has no working keys.",
  flags: {
    organization: required(name, "the name of the organization"),
    email: required(email, "of the member"),
    "disable-keys": toggle("disable the keys that the member created and that still work, instead of refusing"),
    ...asFlag,
  },
  example: "--organization Demo --email grace@example.com --disable-keys",
  run: async (flags, pool: Pool) => {
    const organization = await getOrganization(pool, flags.organization);
    const found = await findMemberByEmail(pool, organization.id, flags.email);
    if (!found) {
      throw new CommandError(`${flags.email} is no member of "${organization.name}"; list-members shows who is`);
    }
    const { member, disabledKeyCount } = await change(pool, { organizationId: organization.id, as: flags.as }, () =>
      removeStoredMember(found.userId, flags["disable-keys"]),
    );
    const removed = `${member.email} (${member.userId}) is no longer a member of "${organization.name}"`;
    return disabledKeyCount === 0 ? removed : `${removed}\nKeys of theirs that were disabled: ${disabledKeyCount}`;
  },
});
