import { DomainError, isOfKind } from "../../platform/domain/domain-error.ts";
import type { Executor, Pool } from "../../platform/mysql/pool.ts";
import { monotonicMs } from "../../platform/process/clock.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import type { Organization } from "../domain/organizations.ts";
import { changeOrganization, type Work } from "../store/change-organization.ts";
import { findOldestAdminUserId } from "../store/members.ts";
import { findOrganizationByName } from "../store/organizations.ts";

/** The organization that a flag names, or a refusal. */
export async function getOrganization(executor: Executor, name: string): Promise<Organization> {
  const organization = await findOrganizationByName(executor, name);
  if (organization) return organization;
  throw new CommandError(`There is no organization "${name}"; check the name, or make it with the bootstrap command`);
}

/** How long a command waits for others who change the same organization. */
const timeoutMs = 15_000;

/**
 * Changes what belongs to an organization as a management key would, in the name of its oldest admin: all of it with its
 * entries in the change log, or nothing. What the rules refuse becomes a refusal of the command.
 */
export async function change<T>(
  pool: Pool,
  organizationId: string,
  prepare: (adminUserId: string | undefined) => Work<T>,
): Promise<T> {
  const userId = await findOldestAdminUserId(pool, organizationId);
  const caller = { deadlineMs: monotonicMs() + timeoutMs, isCanceled: () => false };
  try {
    return await changeOrganization(pool, organizationId, { userId, keyId: undefined }, caller, prepare(userId));
  } catch (error) {
    // What the database is at fault for is told like any other fault of it.
    throw error instanceof DomainError && !isOfKind(error, "unavailable") ? refusalOf(error) : error;
  }
}

function refusalOf({ message, violations }: DomainError): CommandError {
  const lines = violations.map((violation) => `${violation.path} ${violation.message}`);
  return new CommandError(lines.length > 1 ? lines.join("\n") : message);
}
