import type { Pool } from "../../platform/mysql/pool.ts";
import { CommandError } from "../../platform/process/command-line.ts";
import { keyKinds, permissions } from "../domain/keys.ts";
import { createKey as createStoredKey } from "../store/create-key.ts";
import { futureTime, id, name, oneOf, optional, readFlags, required, someOf, toggle } from "./flags.ts";
import { change, getOrganization } from "./organization.ts";

/** Makes a key in the name of the organization's oldest admin. An API key is for the default workspace unless told. */
export async function createKey(pool: Pool, parameters: string[]): Promise<string> {
  const flags = readFlags("create-key", parameters, {
    organization: required(name),
    name: required(name),
    kind: required(oneOf(keyKinds)),
    workspace: optional(id),
    permissions: optional(someOf(permissions)),
    "expires-at": optional(futureTime),
    json: toggle,
  });
  if (flags.kind === "management" && (flags.workspace || flags.permissions)) {
    throw new CommandError(
      "A management key has all permissions in every workspace; leave out --workspace and --permissions",
    );
  }
  const organization = await getOrganization(pool, flags.organization);
  const { key, secret } = await change(pool, organization.id, (adminUserId) => {
    if (adminUserId === undefined) {
      throw new CommandError(
        `"${organization.name}" has no admin, and a key needs a creator; add one with add-member --role org:admin`,
      );
    }
    const creation = {
      name: flags.name,
      kind: flags.kind,
      workspace: flags.workspace ?? "",
      creatorUserId: "",
      expiresAt: flags["expires-at"],
      permissions: flags.permissions ?? [],
      requestId: "",
    };
    return createStoredKey(creation, adminUserId);
  });
  return flags.json
    ? JSON.stringify({ key_id: key.id, key: secret })
    : `${secret}\n\nThe key ${key.id} is shown only now. Keep it safe.`;
}
