import { setTimeout as sleep } from "node:timers/promises";
import type { BatchPart } from "../../platform/batching/batch-part.ts";
import { DomainError, deadlineExceeded } from "../../platform/domain/domain-error.ts";
import { CommitUnknown, isConnectionLost, isLockTimeout, isTransient } from "../../platform/mysql/errors.ts";
import type { Pool, PoolConnection } from "../../platform/mysql/pool.ts";
import { conflictNotSettled, databaseUnavailable, outcomeUnknown } from "../../platform/mysql/refusals.ts";
import { inTransaction, outOfReachAfterMs, transientBackoff } from "../../platform/mysql/transaction.ts";
import { sharedTrace } from "../../platform/observe/trace.ts";
import { backoffMs } from "../../platform/time/backoff.ts";
import { monotonicMs } from "../../platform/time/clock.ts";
import { hasGivenUp, timeLeftMs } from "../../platform/time/deadline.ts";
import type { NewVersion } from "../domain/new-version.ts";
import { presetKey, type ServedPreset } from "../domain/preset.ts";
import { findReplays, type Replays } from "./find-replays.ts";
import { DuplicateRequest, insertVersions, PresetCreatedElsewhere, type RowLock } from "./insert-versions.ts";
import type { LockedPresets } from "./locked-presets.ts";

type Creation = BatchPart<NewVersion, ServedPreset>;

/** About half a second in total. */
const triesMax = 7;

/** Writes a batch and settles every creation; retries while there is time and a chance of success. */
export function writeVersions(pool: Pool, lockedPresets: LockedPresets, parts: readonly Creation[]): Promise<void> {
  const attempts = new Attempts(pool, lockedPresets);
  return parts.some(({ request }) => lockedPresets.has(request))
    ? attempts.writeUnlessLocked(parts, 1)
    : attempts.write(parts);
}

/** The attempts to write one batch, and what is known after each. */
class Attempts {
  readonly #pool: Pool;
  readonly #lockedPresets: LockedPresets;
  readonly #startedAtMs = monotonicMs();
  /**
   * Creations whose commit was sent and not answered. From then on none of them may be reported as not stored: they are
   * retried, which finds what was stored or waits for the row locks of the lost commit, until the outcome is certain.
   */
  readonly #unsettled = new Map<Creation, CommitUnknown>();

  constructor(pool: Pool, lockedPresets: LockedPresets) {
    this.#pool = pool;
    this.#lockedPresets = lockedPresets;
  }

  async write(batch: readonly Creation[]): Promise<void> {
    let parts = batch;
    let lastError: unknown;
    for (let attempt = 0; ; attempt += 1) {
      parts = parts.filter((part) => !this.#failIfLate(part, lastError));
      if (parts.length === 0) return;
      try {
        parts = await this.#attempt(parts);
      } catch (error) {
        lastError = error;
        const isSettled = !parts.some((part) => this.#unsettled.has(part));
        if (isSettled && isLockTimeout(error)) return this.#writeEachPreset(parts, error);
        if (isSettled && this.#isOutOfReach(error)) return fail(parts, databaseUnavailable(error));
        if (isTransient(error)) await pause(attempt, parts);
        else if (!(error instanceof PresetCreatedElsewhere || error instanceof PartLate))
          return this.#split(parts, error);
      }
    }
  }

  /**
   * Writes creations without waiting for a row lock. A process that is merely writing the row right now releases it
   * between two tries.
   */
  async writeUnlessLocked(parts: readonly Creation[], tries: number): Promise<void> {
    try {
      const rest = await this.#attempt(parts, "FOR UPDATE NOWAIT");
      for (const { request } of parts) this.#lockedPresets.delete(request);
      if (rest.length > 0) await this.write(rest);
    } catch (error) {
      if (!isLockTimeout(error)) return this.write(parts);
      if (tries <= 1) return this.#giveUp(parts, error);
      await sleep(backoffMs(transientBackoff, triesMax - tries));
      await this.writeUnlessLocked(parts, tries - 1);
    }
  }

  /** Settles the parts that it can, and returns the others. */
  async #attempt(parts: readonly Creation[], lock?: RowLock): Promise<Creation[]> {
    const creations = parts.map(({ request }) => request);
    const trace = sharedTrace(parts);
    try {
      const store = async (connection: PoolConnection) => {
        const stored = await insertVersions(connection, creations, lock);
        // The lock may have taken long: a caller that was not answered in time must not find a version later.
        if (parts.some(hasGivenUp)) throw new PartLate();
        return stored;
      };
      const outcomes = await inTransaction(this.#pool, store, undefined, trace);
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome instanceof DomainError) parts[index]?.fail(outcome);
        else parts[index]?.settle(outcome);
      }
      return [];
    } catch (error) {
      if (error instanceof CommitUnknown) for (const part of parts) this.#unsettled.set(part, error);
      if (!(error instanceof DuplicateRequest)) throw error;
      return settleFound(parts, error.replays);
    }
  }

  /**
   * Another session holds the row of one of the presets for long: that preset is given up, and the others do not wait
   * for it again.
   */
  async #writeEachPreset(parts: readonly Creation[], error: unknown): Promise<void> {
    const groups = [...Map.groupBy(parts, ({ request }) => presetKey(request)).values()];
    if (groups.length === 1) await this.#giveUp(parts, error);
    else await Promise.all(groups.map((group) => this.writeUnlessLocked(group, triesMax)));
  }

  /** What is already stored is answered all the same: to find it takes no lock. */
  async #giveUp(parts: readonly Creation[], error: unknown): Promise<void> {
    const creations = parts.map(({ request }) => request);
    for (const creation of creations) this.#lockedPresets.add(creation);
    const replays = await findReplays(this.#pool, creations).catch((): Replays => new Map());
    fail(settleFound(parts, replays), conflictNotSettled(error));
  }

  /** A batch that fails because of one part is bisected until that part is alone. */
  async #split(parts: readonly Creation[], error: unknown): Promise<void> {
    if (parts.length === 1) return fail(parts, error);
    const middle = parts.length >> 1;
    await this.write(parts.slice(0, middle));
    await this.write(parts.slice(middle));
  }

  /** Whether the database has been away for so long that another process may do better. */
  #isOutOfReach(error: unknown): boolean {
    return isConnectionLost(error) && monotonicMs() - this.#startedAtMs >= outOfReachAfterMs;
  }

  /** True if the part's time is up; it has then been settled with what is known. */
  #failIfLate(part: Creation, lastError: unknown): boolean {
    if (!hasGivenUp(part)) return false;
    const unknown = this.#unsettled.get(part);
    if (unknown) part.fail(outcomeUnknown(unknown));
    else if (lastError === undefined || lastError instanceof PartLate) part.fail(deadlineExceeded());
    else if (isConnectionLost(lastError)) part.fail(databaseUnavailable(lastError));
    else part.fail(conflictNotSettled(lastError));
    return true;
  }
}

/** Settles the parts that were stored before, and returns the others. */
function settleFound(parts: readonly Creation[], replays: Replays): Creation[] {
  return parts.filter((part) => {
    const outcome = replays.get(part.request);
    if (outcome instanceof DomainError) part.fail(outcome);
    else if (outcome) part.settle(outcome);
    return outcome === undefined;
  });
}

/** The deadline of a part passed before the commit. */
class PartLate extends Error {}

function fail(parts: readonly Creation[], error: unknown): void {
  for (const part of parts) part.fail(error);
}

/** Waits for the next attempt, or until the first of the parts has no time left. */
async function pause(attempt: number, parts: readonly Creation[]): Promise<void> {
  const leftMs = Math.min(...parts.map(timeLeftMs));
  await sleep(Math.min(backoffMs(transientBackoff, attempt), Math.max(0, leftMs)));
}
