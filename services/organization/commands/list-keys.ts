import type { Pool } from "../../platform/mysql/pool.ts";
import { type Key, keyStatus } from "../domain/keys.ts";
import { listKeys as listStoredKeys } from "../store/keys.ts";
import { name, readFlags, required } from "./flags.ts";
import { getOrganization } from "./organization.ts";

const usage = "list-keys --organization NAME";

const columns: Readonly<Record<string, (key: Key) => string | undefined>> = {
  id: (key) => key.id,
  name: (key) => key.name,
  kind: (key) => key.kind,
  status: (key) => keyStatus(key, new Date()),
  permissions: (key) => (key.kind === "management" ? "all" : key.permissions.join(",")),
  workspace: (key) => key.workspaceId ?? "all",
  creator: (key) => key.creatorUserId,
  created: (key) => key.createdAt.toISOString(),
  expires: (key) => key.expiresAt?.toISOString(),
  last_used: (key) => key.lastUsedAt?.toISOString(),
};

/** Prints one line for each key, with tabs between the columns, oldest first. No secret is known, so none is shown. */
export async function listKeys(pool: Pool, parameters: string[], print: (text: string) => void): Promise<void> {
  const flags = readFlags(parameters, { organization: required(name) }, usage);
  const organization = await getOrganization(pool, flags.organization);
  print(Object.keys(columns).join("\t"));
  for (const key of await listStoredKeys(pool, organization.id)) {
    print(
      Object.values(columns)
        .map((column) => column(key) ?? "-")
        .join("\t"),
    );
  }
}
