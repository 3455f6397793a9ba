import { organizationNotFound } from "../../platform/auth/principal.ts";
import { DomainError, deadlineExceeded } from "../../platform/domain/domain-error.ts";
import { newId } from "../../platform/domain/ids.ts";
import type { Caller } from "../../platform/mysql/caller.ts";
import { isDuplicateKey, WrittenElsewhere } from "../../platform/mysql/errors.ts";
import type { Pool, PoolConnection } from "../../platform/mysql/pool.ts";
import { inTransaction, retryTransient } from "../../platform/mysql/transaction.ts";
import { hasGivenUp } from "../../platform/time/deadline.ts";
import type { Actor, Changed } from "../domain/changes.ts";
import { keyInvalid } from "../domain/errors.ts";
import { keyStatus } from "../domain/keys.ts";
import type { Organization } from "../domain/organizations.ts";
import { findAnswer, insertAnswer, type RepeatableRequest } from "./change-requests.ts";
import { countChanges, findLoggedId, insertChanges } from "./changes.ts";
import { findKeyAnywhere } from "./keys.ts";
import { lockOrganization } from "./organizations.ts";

/** A change to an organization, made while nobody else changes anything in it. */
export type Work<T> = (connection: PoolConnection, organization: Organization, now: Date) => Promise<Changed<T>>;

/**
 * Makes a change together with its change log entries, or neither; changes to one organization are serialized. After an
 * error nothing is stored, unless the database did not report the outcome of a commit before the deadline. A request
 * with an id that was executed before gets the first answer, whichever process gave it.
 */
export function changeOrganization<T>(
  pool: Pool,
  organizationId: string,
  actor: Actor,
  caller: Caller,
  work: Work<T>,
  request?: RepeatableRequest<T>,
): Promise<T> {
  /** What each attempt would answer, by its first change log entry. */
  const attempts = new Map<string, T>();
  const makeAndLog = async (connection: PoolConnection, organization: Organization, last: number) => {
    const now = new Date();
    await checkActor(connection, actor, now);
    const { result, changes } = await work(connection, organization, now);
    const entries = changes.map((change) => ({ ...change, id: newId(), actor, createdAt: now }));
    const [first] = entries;
    if (first) {
      await insertChanges(connection, organizationId, last, entries);
      attempts.set(first.id, result);
    }
    // Even if nothing was changed: a retry must not undo what others have changed since.
    if (request) await insertAnswer(connection, organizationId, request, result, now);
    return result;
  };
  const attempt = async (connection: PoolConnection): Promise<T> => {
    const organization = await lockOrganization(connection, organizationId);
    if (!organization) throw organizationNotFound();
    const last = await countChanges(connection, organizationId, {});
    // If a connection was lost during the commit of an attempt, the change log shows whether it was stored. All
    // attempts are checked: a cluster node may apply what came through another only after it has refused a second
    // attempt.
    const stored = await findLoggedId(connection, [...attempts.keys()]);
    if (stored !== undefined) return attempts.get(stored) as T;
    // Before anything is checked: the change may have ended the key that made the request.
    const answered = request && (await findAnswer(connection, organizationId, request));
    if (answered) return answered.answer;
    const result = await makeAndLog(connection, organization, last).catch(async (error: unknown) => {
      // What may be written, and under which numbers and names, was determined under the lock of the organization.
      if (isDuplicateKey(error)) throw new WrittenElsewhere(error);
      // It may be refused because of its own earlier effect: through another node of a cluster, since we looked.
      const isDone = request && error instanceof DomainError && (await findAnswer(connection, organizationId, request));
      throw isDone ? new WrittenElsewhere(error) : error;
    });
    // The lock may have taken long: a caller that was not answered in time must not find the change later.
    if (hasGivenUp(caller)) throw deadlineExceeded();
    return result;
  };
  return retryTransient(caller.deadlineMs, () => inTransaction(pool, attempt, caller));
}

/**
 * Access tokens of a key that was ended remain valid for a while. They must not change anything, or create other keys.
 */
async function checkActor(connection: PoolConnection, { keyId }: Actor, now: Date): Promise<void> {
  if (keyId === undefined) return;
  const key = await findKeyAnywhere(connection, keyId);
  if (!key || keyStatus(key, now) !== "active") throw keyInvalid();
}
