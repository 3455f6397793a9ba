import type { Executor, Pool } from "../../platform/mysql/pool.ts";
import { inTransaction } from "../../platform/mysql/transaction.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { required } from "../../platform/process/flags.ts";
import type { Key } from "../domain/keys.ts";
import { findKey } from "../store/keys.ts";
import { id } from "./flag-rules.ts";
import type { DatabaseCommand } from "./on-database.ts";

const keyId = { ...id, meaning: "the id of a key, which list-keys shows" };

interface KeyChange {
  readonly name: string;
  readonly summary: string;
  readonly change: (executor: Executor, keyId: string) => Promise<void>;
  /** What there is to say of the key as it is then. Where it throws, nothing is changed. */
  readonly tell: (key: Key) => string;
}

export const tokensOutliveKey = "access tokens that it was exchanged for work until they expire";

/** A command that changes the key that its flag names. To repeat it is harmless. */
export function keyCommand({ name, summary, change, tell }: KeyChange): DatabaseCommand {
  return defineCommand({
    name,
    summary,
    flags: { "key-id": required(keyId, "the id of the key, as list-keys shows it") },
    example: "--key-id 01a1dd18-8375-71fd-b413-5dd7ff6a119d",
    run: ({ "key-id": id }, pool: Pool) =>
      inTransaction(pool, async (connection) => {
        await change(connection, id);
        return tell(await getKey(connection, id));
      }),
  });
}

async function getKey(executor: Executor, id: string): Promise<Key> {
  const key = await findKey(executor, id);
  if (key) return key;
  throw new CommandError(`There is no key ${id}; list-keys shows those of an organization`);
}

export function nameOf(key: Key): string {
  return `The key ${key.id} ("${key.name}")`;
}
