import type { Executor, Pool } from "../../platform/mysql/pool.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { required } from "../../platform/process/flags.ts";
import { keyStatus } from "../domain/keys.ts";
import type { Member } from "../domain/members.ts";
import type { Organization } from "../domain/organizations.ts";
import { listKeys } from "../store/keys.ts";
import { deleteMembership, findMemberByEmail, findOldestAdminUserId } from "../store/members.ts";
import { email, name } from "./flag-rules.ts";
import { changeOrganization } from "./organization.ts";

/**
 * Ends a membership, but not that of the last admin, in whose name keys are made. The user stays, because presets and
 * versions name their creator; so do the keys that they created, because services use them.
 */
export const removeMember = defineCommand({
  name: "remove-member",
  summary: "Ends a membership; the keys that the member created go on working.",
  flags: { organization: required(name, "the name of the organization"), email: required(email, "of the member") },
  example: "--organization Demo --email grace@example.com",
  run: async (flags, pool: Pool) => {
    return changeOrganization(pool, flags.organization, async (connection, organization) => {
      const member = await findMemberByEmail(connection, organization.id, flags.email);
      if (!member || !(await deleteMembership(connection, organization.id, member.userId))) {
        throw new CommandError(`${flags.email} is no member of "${organization.name}"; list-members shows who is`);
      }
      if (member.role === "org:admin" && !(await findOldestAdminUserId(connection, organization.id))) {
        throw new CommandError(
          `${member.email} is the last admin of "${organization.name}"; first make another one with add-member --role org:admin`,
        );
      }
      const removed = `${member.email} (${member.userId}) is no longer a member of "${organization.name}"`;
      const keyCount = await countActiveKeys(connection, organization, member);
      return keyCount === 0
        ? removed
        : `${removed}\nKeys that they created and that go on working: ${keyCount}; list-keys shows them, revoke-key ends one`;
    });
  },
});

async function countActiveKeys(executor: Executor, organization: Organization, creator: Member): Promise<number> {
  const now = new Date();
  const keys = await listKeys(executor, organization.id);
  return keys.filter((key) => key.creatorUserId === creator.userId && keyStatus(key, now) === "active").length;
}
