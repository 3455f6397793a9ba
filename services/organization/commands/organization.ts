import type { Executor, Pool, PoolConnection } from "../../platform/mysql/pool.ts";
import { inTransaction } from "../../platform/mysql/transaction.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import type { Organization } from "../domain/organizations.ts";
import { findOrganizationByName, lockOrganizationByName } from "../store/organizations.ts";

/** The organization that a flag names, or a refusal. */
export async function getOrganization(
  executor: Executor,
  name: string,
  find = findOrganizationByName,
): Promise<Organization> {
  const organization = await find(executor, name);
  if (organization) return organization;
  throw new CommandError(`There is no organization "${name}"; check the name, or make it with the bootstrap command`);
}

/** Changes what belongs to the organization that a flag names: all of it, or nothing, and one change after the other. */
export function changeOrganization<T>(
  pool: Pool,
  name: string,
  change: (connection: PoolConnection, organization: Organization) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, async (connection) =>
    change(connection, await getOrganization(connection, name, lockOrganizationByName)),
  );
}
