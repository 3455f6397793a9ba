import { answerMarginMs } from "../time/deadline.ts";
import type { BatchPart } from "./batch-part.ts";

/** What one batch may hold. */
export interface BatchLimits<Request> {
  readonly countMax: number;
  /** A single request that is larger is sent alone. */
  readonly bytesMax: number;
  /** Requests of one lane are never in two batches at once. Default: each has a lane of its own. */
  readonly laneOf?: (request: Request) => string;
  /** A batch holds requests of one group only. Default: all are in one group. */
  readonly groupOf?: (request: Request) => string;
}

/** The queue for batchers with lanes or groups. Lanes take turns, so that a crowd in one of them delays nobody else. */
export class LaneQueue<Request, Answer> {
  readonly #limits: BatchLimits<Request>;
  readonly #lanes = new Map<unknown, BatchPart<Request, Answer>[]>();
  /** Lanes with a request that may be taken, longest waiting first. */
  readonly #ready = new Set<unknown>();
  #count = 0;
  #bytes = 0;

  constructor(limits: BatchLimits<Request>) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(part: BatchPart<Request, Answer>): void {
    const lane = this.#laneOf(part);
    const queue = this.#lanes.get(lane);
    if (queue) {
      queue.push(part);
    } else {
      this.#lanes.set(lane, [part]);
      this.#ready.add(lane);
    }
    this.#count += 1;
    this.#bytes += part.bytes;
  }

  /**
   * The next batch; empty if nothing may be taken now. Its lanes are busy until they are released.
   *
   * Requests that have waited for half of their time go behind those that have not. Under overload, serving in order of
   * arrival would answer everyone just before or just after their deadline, and much of the work would be wasted.
   * Requests with less time left than a batch takes go behind all others, because what is stored together is rolled
   * back together if one of them turns out to be late. If that applies to all of them, only half of their time counts.
   */
  take(nowMs: number, batchMs: number): BatchPart<Request, Answer>[] {
    const isFresh = (part: BatchPart<Request, Answer>) => nowMs < part.halfTimeMs;
    const hasTime = (part: BatchPart<Request, Answer>) => nowMs + batchMs + answerMarginMs < part.deadlineMs;
    const isBoth = (part: BatchPart<Request, Answer>) => isFresh(part) && hasTime(part);
    for (const isWanted of [isBoth, hasTime, isFresh]) {
      const batch = this.#takeWhere(isWanted);
      if (batch.length > 0) return batch;
    }
    return this.#takeWhere(() => true);
  }

  #takeWhere(isWanted: (part: BatchPart<Request, Answer>) => boolean): BatchPart<Request, Answer>[] {
    const { countMax, bytesMax, groupOf } = this.#limits;
    const batch: BatchPart<Request, Answer>[] = [];
    let bytes = 0;
    const fits = (part: BatchPart<Request, Answer>) =>
      batch.length < countMax && (batch.length === 0 || bytes + part.bytes <= bytesMax);
    for (const lane of this.#ready) {
      const queue = this.#lanes.get(lane) ?? [];
      const [first] = batch;
      let next = queue.find(isWanted);
      if (!next || (groupOf && first && groupOf(next.request) !== groupOf(first.request))) continue;
      // What does not fit goes first in the next batch; nothing smaller overtakes it.
      if (!fits(next)) break;
      this.#ready.delete(lane);
      while (next && fits(next)) {
        queue.splice(queue.indexOf(next), 1);
        bytes += next.bytes;
        this.#count -= 1;
        this.#bytes -= next.bytes;
        batch.push(next);
        next = queue.find(isWanted);
      }
    }
    return batch;
  }

  /** Makes the lanes of a finished batch available again. */
  release(batch: readonly BatchPart<Request, Answer>[]): void {
    for (const part of batch) {
      const lane = this.#laneOf(part);
      const queue = this.#lanes.get(lane);
      if (queue && queue.length > 0) this.#ready.add(lane);
      else this.#lanes.delete(lane);
    }
  }

  /** Fails callers whose time is up, and drops parts that nobody waits for any more. */
  expire(nowMs: number): void {
    for (const [lane, queue] of this.#lanes) {
      for (const part of queue) part.expire(nowMs);
      const waiting = queue.filter(({ isDone }) => !isDone);
      if (waiting.length === queue.length) continue;
      for (const { isDone, bytes } of queue) {
        if (!isDone) continue;
        this.#count -= 1;
        this.#bytes -= bytes;
      }
      queue.splice(0, queue.length, ...waiting);
      // A lane that is in a batch is removed when that batch is released.
      if (queue.length === 0 && this.#ready.delete(lane)) this.#lanes.delete(lane);
    }
  }

  #laneOf(part: BatchPart<Request, Answer>): unknown {
    return this.#limits.laneOf?.(part.request) ?? part;
  }
}
