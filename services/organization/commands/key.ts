import type { DatabaseCommand } from "../../platform/mysql/database-command.ts";
import type { Executor, Pool } from "../../platform/mysql/pool.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { id, required } from "../../platform/process/flags.ts";
import type { Key } from "../domain/keys.ts";
import type { Work } from "../store/change-organization.ts";
import { findKeyAnywhere } from "../store/keys.ts";
import { asFlag, change } from "./organization.ts";

const keyId = { ...id, meaning: "the id of a key, which list-keys shows" };

interface KeyChange {
  readonly name: string;
  readonly summary: string;
  /** Undefined if there is nothing to do. If it throws, nothing is changed. */
  readonly prepare: (key: Key) => Work<Key> | undefined;
  /** What to print about the resulting key. */
  readonly describe: (key: Key) => string;
}

export const tokensOutliveKey = "access tokens that it was exchanged for work until they expire";

/** A command that changes the key that its flag names. It may be repeated. */
export function keyCommand({ name, summary, prepare, describe }: KeyChange): DatabaseCommand {
  return defineCommand({
    name,
    summary,
    flags: { "key-id": required(keyId, "the id of the key, as list-keys shows it"), ...asFlag },
    example: "--key-id 01a1dd18-8375-71fd-b413-5dd7ff6a119d",
    run: async ({ "key-id": id, as }, pool: Pool) => {
      const key = await getKey(pool, id);
      const work = prepare(key);
      if (work) await change(pool, { organizationId: key.organizationId, as }, () => work);
      return describe(await getKey(pool, key.id));
    },
  });
}

async function getKey(executor: Executor, id: string): Promise<Key> {
  const key = await findKeyAnywhere(executor, id);
  if (key) return key;
  throw new CommandError(`There is no key ${id}; list-keys shows those of an organization`);
}

export function nameOf(key: Key): string {
  return `The key ${key.id} ("${key.name}")`;
}
