import { knownPermissions } from "../../platform/auth/principal.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { id, oneOf, optional, required, someOf, toggle } from "../../platform/process/flags.ts";
import { keyKinds } from "../domain/keys.ts";
import { createKey as createStoredKey } from "../store/create-key.ts";
import { count, email, futureTime, name } from "./flag-rules.ts";
import { change, getOrganization } from "./organization.ts";

/** Creates a key that belongs to a member. The default for an API key is the default workspace. */
export const createKey = defineCommand({
  name: "create-key",
  summary: "Creates a key that belongs to a member, and prints it once.",
  flags: {
    organization: required(name, "the name of the organization"),
    name: required(name, "what the key is for, as list-keys shows it"),
    kind: required(
      oneOf(keyKinds),
      "api: presets of one workspace; management: keys, workspaces and members, and presets of any workspace",
    ),
    workspace: optional(id, "of an API key, as list-workspaces shows it; by default the default workspace"),
    permissions: optional(someOf(knownPermissions), "of an API key; by default all"),
    "expires-at": optional(futureTime, "such as 2030-01-31T12:00:00Z; never unless told"),
    "rate-limit": optional(count, "requests a second; no limit of its own unless told"),
    "rate-burst": optional(count, "how many of them may come at once; as many as the limit unless told"),
    as: optional(email, "the member to whom the key will belong; by default the oldest admin"),
    json: toggle("print the key and its id as JSON, for scripts"),
  },
  example: "--organization Demo --name ci --kind api --permissions presets:read",
  run: async (flags, pool: Pool) => {
    if (flags.kind === "management" && (flags.workspace || flags.permissions)) {
      throw new CommandError(
        "A management key can use every workspace and has fixed permissions; leave out --workspace and --permissions",
      );
    }
    const perSecond = flags["rate-limit"];
    const burst = flags["rate-burst"];
    if (burst !== undefined && perSecond === undefined) {
      throw new CommandError("--rate-burst says how much of --rate-limit may come at once; give both");
    }
    const organization = await getOrganization(pool, flags.organization);
    const { key, secret } = await change(pool, { organizationId: organization.id, as: flags.as }, (userId) => {
      if (userId === undefined) {
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
        rateLimit: perSecond === undefined ? undefined : { perSecond, burst: burst ?? perSecond },
        requestId: "",
      };
      return createStoredKey(creation, userId);
    });
    return flags.json
      ? JSON.stringify({ key_id: key.id, key: secret })
      : `${secret}\n\nThe key ${key.id} is shown only now. Keep it safe.`;
  },
});
