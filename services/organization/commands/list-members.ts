import type { Pool } from "../../platform/mysql/pool.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { required } from "../../platform/process/flags.ts";
import type { Member } from "../domain/members.ts";
import { listMembers as listStoredMembers } from "../store/members.ts";
import { name } from "./flag-rules.ts";
import { getOrganization } from "./organization.ts";
import { type Columns, tableOf } from "./table.ts";

const columns: Columns<Member> = {
  id: (member) => member.userId,
  email: (member) => member.email,
  first_name: (member) => member.firstName,
  last_name: (member) => member.lastName,
  role: (member) => member.role,
  created: (member) => member.createdAt.toISOString(),
};

const everyone = { offset: 0, limit: Number.MAX_SAFE_INTEGER };

/** Lists the members of an organization, oldest membership first. */
export const listMembers = defineCommand({
  name: "list-members",
  summary: "Lists the members of an organization, oldest membership first.",
  flags: { organization: required(name, "the name of the organization") },
  example: "--organization Demo",
  run: async (flags, pool: Pool) => {
    const organization = await getOrganization(pool, flags.organization);
    const found = await listStoredMembers(pool, organization.id, everyone);
    return tableOf(columns, found?.members ?? []);
  },
});
