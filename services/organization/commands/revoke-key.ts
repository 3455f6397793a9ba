import { CommandError } from "../../platform/lifecycle.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { findKey, updateKeyRevoked } from "../store/keys.ts";
import { id, readFlags, required } from "./flags.ts";

const usage = "revoke-key --key-id ID (list-keys shows the ids)";

/** Ends a key for good. To repeat it is harmless. */
export async function revokeKey(pool: Pool, parameters: string[], print: (text: string) => void): Promise<void> {
  const { "key-id": keyId } = readFlags(parameters, { "key-id": required(id) }, usage);
  await updateKeyRevoked(pool, keyId, new Date());
  const key = await findKey(pool, keyId);
  if (!key) throw new CommandError(`There is no key ${keyId}; list-keys shows those of an organization`);
  print(
    `The key ${keyId} ("${key.name}") is revoked since ${key.revokedAt?.toISOString()}; access tokens that it was exchanged for work until they expire`,
  );
}
