import type { Pool } from "../../platform/mysql/pool.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { required } from "../../platform/process/flags.ts";
import { type Key, keyStatus, permissionsOf } from "../domain/keys.ts";
import { listKeys as listStoredKeys } from "../store/list-keys.ts";
import { name } from "./flag-rules.ts";
import { getOrganization } from "./organization.ts";
import { type Columns, tableOf } from "./table.ts";

const columns: Columns<Key> = {
  id: (key) => key.id,
  name: (key) => key.name,
  kind: (key) => key.kind,
  status: (key) => keyStatus(key, new Date()),
  permissions: (key) => permissionsOf(key).join(","),
  workspace: (key) => key.workspaceId ?? "all",
  creator: (key) => key.creatorUserId,
  created: (key) => key.createdAt.toISOString(),
  expires: (key) => key.expiresAt?.toISOString(),
  last_used: (key) => key.lastUsedAt?.toISOString(),
  rate_limit: ({ rateLimit }) => rateLimit && `${rateLimit.perSecond}/s, burst ${rateLimit.burst}`,
};

/** Lists the keys of an organization, oldest first. No secret is stored, so none is shown. */
export const listKeys = defineCommand({
  name: "list-keys",
  summary: "Lists the keys of an organization, oldest first; never a secret.",
  flags: { organization: required(name, "the name of the organization") },
  example: "--organization Demo",
  run: async (flags, pool: Pool) => {
    const organization = await getOrganization(pool, flags.organization);
    return tableOf(columns, await listStoredKeys(pool, organization.id));
  },
});
