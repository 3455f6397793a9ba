import type { Pool } from "../../platform/mysql/pool.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { required } from "../../platform/process/flags.ts";
import { monotonicMs } from "../../platform/time/clock.ts";
import { hashKey, keyStatus } from "../domain/keys.ts";
import { newTicket } from "../domain/sessions.ts";
import { findKeyAnywhere } from "../store/keys.ts";
import { insertTicket } from "../store/sessions.ts";
import { keyName } from "./flag-rules.ts";
import { timeoutMs } from "./organization.ts";

/** For people with access to the database, who can do anything that a key can: it gives nobody additional rights. */
export const createConsoleTicket = defineCommand({
  name: "create-console-ticket",
  summary: "Creates a link into the console that signs in once, within five minutes, with the rights of a key.",
  flags: { key: required(keyName, "the id of the key, as list-keys shows it, or its hash") },
  example: "--key 01a1dd18-8375-71fd-b413-5dd7ff6a119d",
  run: async ({ key: name }, pool: Pool) => {
    // A new ticket at each attempt: whether the previous one was stored does not matter.
    const ticket = await retryTransient(monotonicMs() + timeoutMs, () => makeTicket(pool, name));
    // After a #, so that it reaches no server and no server's log until the page itself sends it.
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
