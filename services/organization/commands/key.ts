import type { Executor, Pool } from "../../platform/mysql/pool.ts";
import { inTransaction } from "../../platform/mysql/transaction.ts";
import { CommandError } from "../../platform/process/command-line.ts";
import type { Key } from "../domain/keys.ts";
import { findKey } from "../store/keys.ts";
import { id, readFlags, required } from "./flags.ts";

const keyId = { ...id, meaning: "the id of a key, which list-keys shows" };

interface KeyChange {
  readonly change: (executor: Executor, keyId: string) => Promise<void>;
  /** What there is to say of the key as it is then. Where it throws, nothing is changed. */
  readonly tell: (key: Key) => string;
}

export const tokensOutliveKey = "access tokens that it was exchanged for work until they expire";

/** Changes the key that the flags name. To repeat it is harmless. */
export async function changeKey(
  pool: Pool,
  command: string,
  parameters: string[],
  { change, tell }: KeyChange,
): Promise<string> {
  const flags = readFlags(command, parameters, { "key-id": required(keyId) });
  return inTransaction(pool, async (connection) => {
    await change(connection, flags["key-id"]);
    return tell(await getKey(connection, flags["key-id"]));
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
