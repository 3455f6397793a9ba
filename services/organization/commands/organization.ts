import { CommandError } from "../../platform/lifecycle.ts";
import type { Executor } from "../../platform/mysql/pool.ts";
import type { Organization } from "../domain/organizations.ts";
import { findOrganizationByName } from "../store/organizations.ts";

/** The organization that a flag names, or a refusal. */
export async function getOrganization(executor: Executor, name: string): Promise<Organization> {
  const organization = await findOrganizationByName(executor, name);
  if (organization) return organization;
  throw new CommandError(`There is no organization "${name}"; check the name, or make it with the bootstrap command`);
}
