import type { DomainError } from "../../platform/domain/domain-error.ts";
import type { Executor } from "../../platform/mysql/pool.ts";
import { checkManagementRemains } from "../domain/key-changes.ts";
import type { Key } from "../domain/keys.ts";
import { listEnabledKeys } from "./list-keys.ts";

/** Throws if the changed keys leave their organization without a management key. */
export async function checkManagement(
  executor: Executor,
  keys: readonly Key[],
  now: Date,
  refusal?: () => DomainError,
): Promise<void> {
  const management = keys.filter(({ kind }) => kind === "management");
  const [first] = management;
  if (!first) return;
  const before = await listEnabledKeys(executor, first.organizationId, { kind: "management" });
  checkManagementRemains(before, management, now, refusal);
}
