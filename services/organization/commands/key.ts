import type { Executor, Pool } from "../../platform/mysql/pool.ts";
import { CommandError } from "../../platform/process/command-line.ts";
import type { Key } from "../domain/keys.ts";
import type { Work } from "../store/change-organization.ts";
import { findKeyById } from "../store/keys.ts";
import { id, readFlags, required } from "./flags.ts";
import { change } from "./organization.ts";

const keyId = { ...id, meaning: "the id of a key, which list-keys shows" };

interface KeyChange {
  /** Undefined where there is nothing to do. Where it throws, nothing is changed. */
  readonly prepare: (key: Key) => Work<Key> | undefined;
  /** What there is to say of the key as it is then. */
  readonly tell: (key: Key) => string;
}

export const tokensOutliveKey = "access tokens that it was exchanged for work until they expire";

/** Changes the key that the flags name. To repeat it is harmless. */
export async function changeKey(
  pool: Pool,
  command: string,
  parameters: string[],
  { prepare, tell }: KeyChange,
): Promise<string> {
  const flags = readFlags(command, parameters, { "key-id": required(keyId) });
  const key = await getKey(pool, flags["key-id"]);
  const work = prepare(key);
  if (work) await change(pool, key.organizationId, () => work);
  return tell(await getKey(pool, key.id));
}

async function getKey(executor: Executor, id: string): Promise<Key> {
  const key = await findKeyById(executor, id);
  if (key) return key;
  throw new CommandError(`There is no key ${id}; list-keys shows those of an organization`);
}

export function nameOf(key: Key): string {
  return `The key ${key.id} ("${key.name}")`;
}
