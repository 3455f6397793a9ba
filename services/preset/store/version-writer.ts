import { setTimeout as sleep } from "node:timers/promises";
import { DomainError, deadlineExceeded, unavailable } from "../../platform/domain/domain-error.ts";
import {
  conflictNotSettled,
  databaseUnavailable,
  isConnectionLost,
  isLockTimeout,
  isTransient,
} from "../../platform/mysql/errors.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { backoffMs, type Deadline, hasGivenUp, inTransaction, timeLeftMs } from "../../platform/mysql/transaction.ts";
import type { NewVersion } from "../domain/new-version.ts";
import { type Outcome, presetKey, type ServedPreset } from "../domain/preset.ts";
import { findReplay } from "./find-replay.ts";
import { insertVersions, RequestSeen, type RowLock } from "./insert-versions.ts";
import { PresetAppeared } from "./write-presets.ts";

const batchMax = 32;
/** Well below the packet that a server takes by default (16 MiB). */
const batchBytesMax = 4 * 1024 * 1024;
const writersMax = 2;
const waitingMax = 10_000;
/** About half a second in all. */
const triesMax = 7;

/** A creation that waits to be stored, and whom to tell. */
interface Waiting {
  readonly creation: NewVersion;
  readonly caller: Deadline;
  readonly settle: (outcome: Outcome) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Stores versions by group commit. There is no timer: while a batch is being written, arrivals queue for the next one,
 * so a lone creation is an ordinary transaction and a crowd shares one. An answer is given only after its commit.
 *
 * The writers of one process never wait for each other's row locks: a preset is in one batch at a time.
 */
export class VersionWriter {
  /** More than this it cannot use. */
  static readonly connectionsMax = writersMax;

  readonly #pool: Pool;
  readonly #batchByWorkspace: boolean;
  /** Creations by preset, in order of arrival. */
  readonly #queues = new Map<string, Waiting[]>();
  /** Presets that have a queue and are in no batch, oldest first. */
  readonly #runnable = new Set<string>();
  readonly #inFlight = new Map<string, Promise<ServedPreset>>();
  /** Presets whose row someone outside was seen to hold for long. They are written by themselves, and not waited for. */
  readonly #held = new Set<string>();
  #waiting = 0;
  #writers = 0;

  constructor(pool: Pool, { batchByWorkspace }: { readonly batchByWorkspace: boolean }) {
    this.#pool = pool;
    this.#batchByWorkspace = batchByWorkspace;
  }

  /**
   * Stores one version and returns the preset as this creation left it.
   * A request id that was stored before returns the first answer. After an error nothing is stored.
   */
  async createVersion(creation: NewVersion, caller: Deadline): Promise<ServedPreset> {
    const request = `${creation.workspaceId}/${creation.requestId}`;
    // A duplicate of a request in flight waits for it, and then finds it stored, or stores it itself.
    for (let first = this.#inFlight.get(request); first; first = this.#inFlight.get(request))
      await first.catch(() => {});
    if (this.#waiting >= waitingMax)
      throw unavailable("Too many creations at once; nothing was stored. Try again in a moment.");
    const stored = this.#enqueue(creation, caller).finally(() => this.#inFlight.delete(request));
    this.#inFlight.set(request, stored);
    return stored;
  }

  #enqueue(creation: NewVersion, caller: Deadline): Promise<ServedPreset> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome) => (outcome instanceof DomainError ? reject(outcome) : resolve(outcome));
      const waiting: Waiting = { creation, caller, settle, fail: reject };
      const key = presetKey(creation);
      const queue = this.#queues.get(key);
      if (queue) {
        queue.push(waiting);
      } else {
        this.#queues.set(key, [waiting]);
        this.#runnable.add(key);
      }
      this.#waiting += 1;
      if (this.#writers < writersMax && this.#runnable.size > 0) void this.#runWriter();
    });
  }

  async #runWriter(): Promise<void> {
    this.#writers += 1;
    // Creations that arrive in the same turn of the event loop belong in one batch.
    await new Promise(setImmediate);
    for (let batch = this.#takeBatch(); batch.length > 0; batch = this.#takeBatch()) {
      if (batch.some(({ creation }) => this.#held.has(presetKey(creation)))) await this.#writeUnlessHeld(batch, 1);
      else await this.#write(batch);
      this.#waiting -= batch.length;
      this.#releasePresets(batch);
    }
    this.#writers -= 1;
  }

  #takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    let bytes = 0;
    for (const key of this.#runnable) {
      const queue = this.#queues.get(key) ?? [];
      const [first] = batch;
      if (this.#batchByWorkspace && first && queue[0]?.creation.workspaceId !== first.creation.workspaceId) continue;
      const isHeld = this.#held.has(key);
      if (isHeld && first) continue;
      this.#runnable.delete(key);
      while (queue[0] && batch.length < batchMax && (bytes < batchBytesMax || batch.length === 0)) {
        const waiting = queue.shift() as Waiting;
        bytes += waiting.creation.configJson.length + (waiting.creation.systemPrompt?.length ?? 0);
        batch.push(waiting);
      }
      if (isHeld || batch.length >= batchMax || bytes >= batchBytesMax) break;
    }
    return batch;
  }

  /** Lets the presets of a batch that is done be taken again. */
  #releasePresets(batch: readonly Waiting[]): void {
    for (const { creation } of batch) {
      const key = presetKey(creation);
      const queue = this.#queues.get(key);
      if (queue && queue.length > 0) this.#runnable.add(key);
      else this.#queues.delete(key);
    }
  }

  /** Tells every member of the batch its outcome; tries again while there is time and hope. Never throws. */
  async #write(batch: readonly Waiting[]): Promise<void> {
    let members = batch;
    let lastError: unknown;
    for (let attempt = 0; ; attempt += 1) {
      members = members.filter((member) => !refusedAsLate(member, lastError));
      if (members.length === 0) return;
      try {
        members = await this.#attempt(members);
      } catch (error) {
        lastError = error;
        if (isLockTimeout(error)) return this.#takeApart(members, error);
        const leftMs = Math.min(...members.map(({ caller }) => timeLeftMs(caller)));
        if (isTransient(error)) await sleep(Math.min(backoffMs(attempt), Math.max(0, leftMs)));
        else if (!(error instanceof PresetAppeared || error instanceof MemberLate)) return this.#split(members, error);
      }
    }
  }

  /** Settles the members that it can, and returns the others. */
  async #attempt(members: readonly Waiting[], lock?: RowLock): Promise<Waiting[]> {
    const creations = members.map(({ creation }) => creation);
    try {
      const outcomes = await inTransaction(this.#pool, async (connection) => {
        const stored = await insertVersions(connection, creations, lock);
        // A lock may have been waited for: who was not answered in time must not find a version later.
        if (members.some(isLate)) throw new MemberLate();
        return stored;
      });
      for (const [index, outcome] of outcomes.entries()) members[index]?.settle(outcome);
      return [];
    } catch (error) {
      if (!(error instanceof RequestSeen)) throw error;
    }
    const replays = await Promise.all(creations.map((creation) => findReplay(this.#pool, creation)));
    return members.filter((member, index) => {
      const replay = replays[index];
      if (replay) member.settle(replay);
      return replay === undefined;
    });
  }

  /** Someone holds a row of one of the presets for long: it is given up, and the others do not wait for it again. */
  async #takeApart(members: readonly Waiting[], error: unknown): Promise<void> {
    const groups = [...Map.groupBy(members, ({ creation }) => presetKey(creation)).values()];
    if (groups.length === 1) this.#giveUp(members, error);
    else await Promise.all(groups.map((group) => this.#writeUnlessHeld(group, triesMax)));
  }

  /** Writes creations of one preset without waiting for its row. Who merely writes it just now lets go between two tries. */
  async #writeUnlessHeld(members: readonly Waiting[], tries: number): Promise<void> {
    try {
      const rest = await this.#attempt(members, "FOR UPDATE NOWAIT");
      for (const { creation } of members) this.#held.delete(presetKey(creation));
      if (rest.length > 0) await this.#write(rest);
    } catch (error) {
      if (!isLockTimeout(error)) return this.#write(members);
      if (tries <= 1) return this.#giveUp(members, error);
      await sleep(backoffMs(triesMax - tries));
      await this.#writeUnlessHeld(members, tries - 1);
    }
  }

  #giveUp(members: readonly Waiting[], error: unknown): void {
    for (const { creation, fail } of members) {
      this.#held.add(presetKey(creation));
      fail(conflictNotSettled(error));
    }
  }

  /** A batch that fails for a reason of one member is halved until the culprit stands alone. */
  async #split(members: readonly Waiting[], error: unknown): Promise<void> {
    if (members.length === 1) return members[0]?.fail(error);
    const middle = members.length >> 1;
    await this.#write(members.slice(0, middle));
    await this.#write(members.slice(middle));
  }
}

/** The time of a member was up before the commit. */
class MemberLate extends Error {}

function isLate({ caller }: Waiting): boolean {
  return hasGivenUp(caller);
}

/** True where the member's time is up; it has then been told why nothing was stored. */
function refusedAsLate(member: Waiting, lastError: unknown): boolean {
  if (!isLate(member)) return false;
  const { fail } = member;
  if (lastError === undefined || lastError instanceof MemberLate) fail(deadlineExceeded());
  else if (isConnectionLost(lastError)) fail(databaseUnavailable(lastError));
  else fail(conflictNotSettled(lastError));
  return true;
}
