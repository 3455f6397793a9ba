import { setTimeout as sleep } from "node:timers/promises";
import type { Member } from "../../platform/batching/member.ts";
import { DomainError, deadlineExceeded } from "../../platform/domain/domain-error.ts";
import {
  CommitUnknown,
  conflictNotSettled,
  databaseUnavailable,
  isConnectionLost,
  isLockTimeout,
  isTransient,
  outcomeUnknown,
} from "../../platform/mysql/errors.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { backoffMs, inTransaction, outOfReachAfterMs } from "../../platform/mysql/transaction.ts";
import { monotonicMs } from "../../platform/process/clock.ts";
import { hasGivenUp, timeLeftMs } from "../../platform/process/deadline.ts";
import type { NewVersion } from "../domain/new-version.ts";
import { presetKey, type ServedPreset } from "../domain/preset.ts";
import { findReplay } from "./find-replay.ts";
import type { HeldPresets } from "./held-presets.ts";
import { insertVersions, RequestSeen, type RowLock } from "./insert-versions.ts";
import { PresetAppeared } from "./write-presets.ts";

type Creation = Member<NewVersion, ServedPreset>;

/** About half a second in all. */
const triesMax = 7;

/** Writes a batch and tells every creation what became of it; tries again while there is time and hope. */
export function writeVersions(pool: Pool, held: HeldPresets, members: readonly Creation[]): Promise<void> {
  const attempts = new Attempts(pool, held);
  return members.some(({ request }) => held.has(request))
    ? attempts.writeUnlessHeld(members, 1)
    : attempts.write(members);
}

/** The attempts to write one batch, and what is known after each. */
class Attempts {
  readonly #pool: Pool;
  readonly #held: HeldPresets;
  readonly #startedAtMs = monotonicMs();
  /**
   * A commit of these was sent and not answered. From then on nobody claims that nothing was stored: they are tried again,
   * which finds what was stored, or waits for the row locks of the commit that was lost, until one of both is certain.
   */
  readonly #unsettled = new Map<Creation, CommitUnknown>();

  constructor(pool: Pool, held: HeldPresets) {
    this.#pool = pool;
    this.#held = held;
  }

  async write(batch: readonly Creation[]): Promise<void> {
    let members = batch;
    let lastError: unknown;
    for (let attempt = 0; ; attempt += 1) {
      members = members.filter((member) => !this.#refusesAsLate(member, lastError));
      if (members.length === 0) return;
      try {
        members = await this.#attempt(members);
      } catch (error) {
        lastError = error;
        const isSettled = !members.some((member) => this.#unsettled.has(member));
        if (isSettled && isLockTimeout(error)) return this.#takeApart(members, error);
        if (isSettled && this.#isOutOfReach(error)) return fail(members, databaseUnavailable(error));
        if (isTransient(error)) await pause(attempt, members);
        else if (!(error instanceof PresetAppeared || error instanceof MemberLate)) return this.#split(members, error);
      }
    }
  }

  /** Writes creations without waiting for a row. Who merely writes it just now lets go between two tries. */
  async writeUnlessHeld(members: readonly Creation[], tries: number): Promise<void> {
    try {
      const rest = await this.#attempt(members, "FOR UPDATE NOWAIT");
      for (const { request } of members) this.#held.delete(request);
      if (rest.length > 0) await this.write(rest);
    } catch (error) {
      if (!isLockTimeout(error)) return this.write(members);
      if (tries <= 1) return this.#giveUp(members, error);
      await sleep(backoffMs(triesMax - tries));
      await this.writeUnlessHeld(members, tries - 1);
    }
  }

  /** Settles the members that it can, and returns the others. */
  async #attempt(members: readonly Creation[], lock?: RowLock): Promise<Creation[]> {
    const creations = members.map(({ request }) => request);
    try {
      const outcomes = await inTransaction(this.#pool, async (connection) => {
        const stored = await insertVersions(connection, creations, lock);
        // A lock may have been waited for: who was not answered in time must not find a version later.
        if (members.some(hasGivenUp)) throw new MemberLate();
        return stored;
      });
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome instanceof DomainError) members[index]?.fail(outcome);
        else members[index]?.settle(outcome);
      }
      return [];
    } catch (error) {
      if (error instanceof CommitUnknown) for (const member of members) this.#unsettled.set(member, error);
      if (!(error instanceof RequestSeen)) throw error;
    }
    const replays = await Promise.all(creations.map((creation) => findReplay(this.#pool, creation)));
    return members.filter((member, index) => {
      const replay = replays[index];
      if (replay instanceof DomainError) member.fail(replay);
      else if (replay) member.settle(replay);
      return replay === undefined;
    });
  }

  /** Someone holds a row of one of the presets for long: it is given up, and the others do not wait for it again. */
  async #takeApart(members: readonly Creation[], error: unknown): Promise<void> {
    const groups = [...Map.groupBy(members, ({ request }) => presetKey(request)).values()];
    if (groups.length === 1) this.#giveUp(members, error);
    else await Promise.all(groups.map((group) => this.writeUnlessHeld(group, triesMax)));
  }

  #giveUp(members: readonly Creation[], error: unknown): void {
    for (const { request } of members) this.#held.add(request);
    fail(members, conflictNotSettled(error));
  }

  /** A batch that fails for a reason of one member is halved until the culprit stands alone. */
  async #split(members: readonly Creation[], error: unknown): Promise<void> {
    if (members.length === 1) return fail(members, error);
    const middle = members.length >> 1;
    await this.write(members.slice(0, middle));
    await this.write(members.slice(middle));
  }

  /** Whether the database has not been there for so long that another process may do better. */
  #isOutOfReach(error: unknown): boolean {
    return isConnectionLost(error) && monotonicMs() - this.#startedAtMs >= outOfReachAfterMs;
  }

  /** True where the member's time is up; it has then been told what is known of it. */
  #refusesAsLate(member: Creation, lastError: unknown): boolean {
    if (!hasGivenUp(member)) return false;
    const unknown = this.#unsettled.get(member);
    if (unknown) member.fail(outcomeUnknown(unknown));
    else if (lastError === undefined || lastError instanceof MemberLate) member.fail(deadlineExceeded());
    else if (isConnectionLost(lastError)) member.fail(databaseUnavailable(lastError));
    else member.fail(conflictNotSettled(lastError));
    return true;
  }
}

/** The time of a member was up before the commit. */
class MemberLate extends Error {}

function fail(members: readonly Creation[], error: unknown): void {
  for (const member of members) member.fail(error);
}

/** Until the next attempt, or until the first of the members has no time left. */
async function pause(attempt: number, members: readonly Creation[]): Promise<void> {
  const leftMs = Math.min(...members.map(timeLeftMs));
  await sleep(Math.min(backoffMs(attempt), Math.max(0, leftMs)));
}
