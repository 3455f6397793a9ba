import { CommandError } from "../../platform/lifecycle.ts";
import type { Executor, Pool } from "../../platform/mysql/pool.ts";
import { keyKinds, newApiKey, newManagementKey, permissions } from "../domain/keys.ts";
import type { Organization } from "../domain/organizations.ts";
import { insertKey } from "../store/keys.ts";
import { findOldestAdmin } from "../store/members.ts";
import { workspaceExists } from "../store/organizations.ts";
import { futureTime, id, name, oneOf, optional, readFlags, required, someOf, toggle } from "./flags.ts";
import { getOrganization } from "./organization.ts";

const usage = `create-key --organization NAME --name NAME --kind api|management [--workspace ID]
  [--permissions presets:read,presets:write] [--expires-at TIME] [--json]`;

/** Makes a key in the name of the organization's oldest admin. An API key is for the default workspace unless told. */
export async function createKey(pool: Pool, parameters: string[], print: (text: string) => void): Promise<void> {
  const flags = readFlags(
    parameters,
    {
      organization: required(name),
      name: required(name),
      kind: required(oneOf(keyKinds)),
      workspace: optional(id),
      permissions: optional(someOf(permissions)),
      "expires-at": optional(futureTime),
      json: toggle,
    },
    usage,
  );
  const isManagement = flags.kind === "management";
  if (isManagement && (flags.workspace || flags.permissions)) {
    throw new CommandError(
      "A management key has all permissions in every workspace; leave out --workspace and --permissions",
    );
  }
  const organization = await getOrganization(pool, flags.organization);
  const owner = {
    name: flags.name,
    organizationId: organization.id,
    creatorUserId: await getOldestAdmin(pool, organization),
    expiresAt: flags["expires-at"],
  };
  const newKey = isManagement
    ? newManagementKey(owner)
    : newApiKey(owner, {
        workspaceId: await getWorkspace(pool, organization, flags.workspace),
        permissions: flags.permissions ?? permissions,
      });
  await insertKey(pool, newKey);
  print(
    flags.json
      ? JSON.stringify({ key_id: newKey.key.id, key: newKey.secret })
      : `${newKey.secret}\n\nThe key ${newKey.key.id} is shown only now. Keep it safe.`,
  );
}

async function getOldestAdmin(executor: Executor, organization: Organization): Promise<string> {
  const userId = await findOldestAdmin(executor, organization.id);
  if (userId !== undefined) return userId;
  throw new CommandError(`"${organization.name}" has no admin, and a key needs a creator; add one with add-member`);
}

async function getWorkspace(executor: Executor, organization: Organization, id: string | undefined): Promise<string> {
  const workspaceId = id ?? organization.defaultWorkspaceId;
  if (await workspaceExists(executor, organization.id, workspaceId)) return workspaceId;
  throw new CommandError(`"${organization.name}" has no workspace ${workspaceId}; name another one with --workspace`);
}
