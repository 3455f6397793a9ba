import type { Pool } from "../../platform/mysql/pool.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import { monotonicMs } from "../../platform/process/clock.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { required } from "../../platform/process/flags.ts";
import { hashKey, keyStatus } from "../domain/keys.ts";
import { newTicket } from "../domain/sessions.ts";
import { findKeyAnywhere } from "../store/keys.ts";
import { insertTicket } from "../store/sessions.ts";
import { keyName } from "./flag-rules.ts";
import { timeoutMs } from "./organization.ts";

/** For people who may use the database, and so may do what any key may: it gives nobody more than they have. */
export const createConsoleTicket = defineCommand({
  name: "create-console-ticket",
  summary: "Creates a link into the console that signs in once, within five minutes, with the rights of a key.",
  flags: { key: required(keyName, "the id of the key, as list-keys shows it, or its hash") },
  example: "--key 01a1dd18-8375-71fd-b413-5dd7ff6a119d",
  run: async ({ key: name }, pool: Pool) => {
    // Another ticket each time: whether the one before was stored need not be known.
    const ticket = await retryTransient(monotonicMs() + timeoutMs, () => makeTicket(pool, name));
    // Behind a #, so that it reaches no server and no log of one until the page itself sends it.
    return `/console/#ticket=${ticket}`;
  },
});

async function makeTicket(pool: Pool, keyName: string): Promise<string> {
  const key = await findKeyAnywhere(pool, keyName);
  const now = new Date();
  if (!key || keyStatus(key, now) !== "active") {
    throw new CommandError(`There is no key ${keyName} that works; list-keys shows those of an organization`);
  }
  const ticket = newTicket();
  await insertTicket(pool, hashKey(ticket), { keyId: key.id, keyHash: Buffer.from(key.hash, "hex") }, now);
  return ticket;
}
