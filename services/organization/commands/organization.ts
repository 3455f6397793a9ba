import { DomainError, isOfKind } from "../../platform/domain/domain-error.ts";
import type { Executor, Pool } from "../../platform/mysql/pool.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { optional } from "../../platform/process/flags.ts";
import { monotonicMs } from "../../platform/time/clock.ts";
import type { Organization } from "../domain/organizations.ts";
import { changeOrganization, type Work } from "../store/change-organization.ts";
import { findMemberByEmail, findOldestAdminUserId } from "../store/members.ts";
import { findOrganizationByName } from "../store/organizations.ts";
import { email } from "./flag-rules.ts";

/** The organization that a flag names, or a refusal. */
export async function getOrganization(executor: Executor, name: string): Promise<Organization> {
  const organization = await findOrganizationByName(executor, name);
  if (organization) return organization;
  throw new CommandError(`There is no organization "${name}"; check the name, or make it with the bootstrap command`);
}

/** How long a command waits for others that change the same thing. */
export const timeoutMs = 15_000;

/** For every command that changes something. */
export const asFlag = {
  as: optional(email, "the member to record in the change log; by default the oldest admin"),
};

interface ChangeOptions {
  readonly organizationId: string;
  /** The member to record; undefined: the oldest admin. */
  readonly as: string | undefined;
}

/**
 * Makes a change to an organization as a management key would, on behalf of a member: all of it with its change log
 * entries, or nothing.
 */
export async function change<T>(
  pool: Pool,
  { organizationId, as }: ChangeOptions,
  prepare: (userId: string | undefined) => Work<T>,
): Promise<T> {
  const userId = await (as === undefined
    ? findOldestAdminUserId(pool, organizationId)
    : getMemberUserId(pool, organizationId, as));
  const caller = { deadlineMs: monotonicMs() + timeoutMs, isCanceled: () => false };
  return asCommandError(
    changeOrganization(pool, organizationId, { userId, keyId: undefined }, caller, prepare(userId)),
  );
}

/** Turns a domain refusal into a refusal of the command. */
export async function asCommandError<T>(changed: Promise<T>): Promise<T> {
  try {
    return await changed;
  } catch (error) {
    // Faults of the database are reported like any other.
    throw error instanceof DomainError && !isOfKind(error, "unavailable") ? commandErrorFrom(error) : error;
  }
}

async function getMemberUserId(pool: Pool, organizationId: string, address: string): Promise<string> {
  const member = await findMemberByEmail(pool, organizationId, address);
  if (member) return member.userId;
  throw new CommandError(`--as ${address}: no member of the organization; list-members shows who is`);
}

/** What refusals name for callers of the API, and what does the same for whoever types a command. */
const flagsByField = [
  ["(disable_keys)", "(--disable-keys)"],
  ["(creator_user_id)", "(create-key --as)"],
] as const;

function commandErrorFrom({ message, violations }: DomainError): CommandError {
  const lines = violations.map((violation) => `${violation.path} ${violation.message}`);
  const text = lines.length > 1 ? lines.join("\n") : message;
  return new CommandError(flagsByField.reduce((told, [field, flag]) => told.replace(field, flag), text));
}
