import { unavailable } from "../domain/domain-error.ts";
import { TransientMap } from "../memory/transient-map.ts";
import { type Member, nowhere, TransientSet } from "../memory/transient-set.ts";
import { monotonicMs } from "../time/clock.ts";
import { answerMarginMs } from "../time/deadline.ts";
import { afterArrivals } from "../time/next-turn.ts";
import type { BatchObserver } from "./batch-observer.ts";
import { type BatchCaller, BatchPart } from "./batch-part.ts";
import { FifoQueue } from "./fifo-queue.ts";
import { type BatchLimits, LaneQueue } from "./lane-queue.ts";

/** What a batch may hold, how many run at once, and how much may be queued. */
export interface BatchPolicy<Request> extends BatchLimits<Request> {
  /** How many batches may be under way at once. */
  readonly batchesMax: number;
  /** Requests that arrive while this much is queued are refused. */
  readonly waitingMax: number;
  readonly waitingBytesMax: number;
  readonly bytesOf: (request: Request) => number;
  /** Queued requests with the same key are merged. Default: none are. */
  readonly keyOf?: (request: Request) => string;
  readonly observer?: BatchObserver | undefined;
  /**
   * Whether a caller is told that its time is up even while its batch runs. Not for writes: only the writer knows
   * whether something was stored.
   */
  readonly expiresRunning: boolean;
}

/**
 * Does the work of a batch and settles each part with its own outcome. If it throws, that is the outcome of the parts
 * not settled yet.
 */
type Run<Request, Answer> = (batch: readonly BatchPart<Request, Answer>[]) => Promise<void>;

interface RunningBatch<Request, Answer> extends Member {
  readonly batch: readonly BatchPart<Request, Answer>[];
}

/** Requests that keep arriving, turn after turn, are waited for until they are this many times a full batch. */
const fullBatchesMax = 8;

/** How precisely a caller's deadline is kept. */
const expireEveryMs = 50;

/**
 * Combines requests into batches. There is no timer: a lone request and a full batch are sent at once; while others are
 * in flight, or have just been, requests that arrive together are sent together, at the first turn of the event loop
 * that brings no more of them. A request never joins a batch that has begun, so it sees everything that was stored
 * before it.
 */
export class Batcher<Request, Answer> {
  readonly #policy: BatchPolicy<Request>;
  readonly #run: Run<Request, Answer>;
  readonly #queue: LaneQueue<Request, Answer> | FifoQueue<Request, Answer>;
  readonly #waitingByKey = new TransientMap<string, BatchPart<Request, Answer>>();
  readonly #running = new TransientSet<RunningBatch<Request, Answer>>();
  /** How many requests came since batches were last sent, and how many had come for those. */
  #submittedCount = 0;
  #lastSubmittedCount = 0;
  /** How long the batch took that ended last. */
  #lastBatchMs = 0;
  #isScheduled = false;
  #nextTurn: NodeJS.Immediate | undefined;
  #isExpiring = false;

  constructor(policy: BatchPolicy<Request>, run: Run<Request, Answer>) {
    this.#policy = policy;
    this.#run = run;
    this.#queue = policy.laneOf || policy.groupOf ? new LaneQueue(policy) : new FifoQueue(policy);
    policy.observer?.opened(() => this.#queue.count);
  }

  submit(request: Request, { deadlineMs, isCanceled, trace }: BatchCaller): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const caller = { deadlineMs, isCanceled, trace, resolve, reject };
      const key = this.#policy.keyOf?.(request);
      const identical = key === undefined ? undefined : this.#waitingByKey.get(key);
      this.#submittedCount += 1;
      if (identical) {
        identical.join(request, caller);
      } else {
        const part = new BatchPart(request, this.#policy.bytesOf(request), key, caller);
        if (this.#isFull(part.bytes)) return reject(queueIsFull());
        if (key !== undefined) this.#waitingByKey.set(key, part);
        this.#queue.add(part);
      }
      this.#schedule();
      this.#watchDeadlines();
    });
  }

  #isFull(bytes: number): boolean {
    const { waitingMax, waitingBytesMax } = this.#policy;
    const { count } = this.#queue;
    return count >= waitingMax || (count > 0 && this.#queue.bytes + bytes > waitingBytesMax);
  }

  #schedule(): void {
    const { batchesMax, countMax } = this.#policy;
    if (this.#running.size >= batchesMax) return;
    // What is sent is worked on while the next batch is gathered. The queue may hold more that cannot be sent yet, and
    // identical requests never fill a batch.
    const isFull = this.#submittedCount >= countMax && this.#queue.count >= countMax;
    const isLate = this.#submittedCount >= countMax * fullBatchesMax;
    if (isFull || isLate) {
      this.#send();
      return;
    }
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // All requests of one call are made in the same turn, so a microtask is enough to have them together.
    if (this.#running.size === 0 && this.#lastSubmittedCount <= 1) queueMicrotask(() => this.#send());
    else this.#nextTurn = setImmediate(this.#sendWhenQuiet, 0);
  }

  readonly #sendWhenQuiet = (submittedBefore: number): void => {
    if (this.#submittedCount === submittedBefore) this.#send();
    else this.#nextTurn = setImmediate(this.#sendWhenQuiet, this.#submittedCount);
  };

  #send(): void {
    this.#isScheduled = false;
    clearImmediate(this.#nextTurn);
    // Zero when a batch has ended and only requests that queued meanwhile are left: they were counted then.
    if (this.#submittedCount > 0) this.#lastSubmittedCount = this.#submittedCount;
    this.#submittedCount = 0;
    while (this.#running.size < this.#policy.batchesMax) {
      const batch = this.#queue.take(monotonicMs(), this.#lastBatchMs);
      if (batch.length === 0) return;
      for (const { key } of batch) if (key !== undefined) this.#waitingByKey.delete(key);
      this.#policy.observer?.sent(batch.length);
      void this.#runBatch(batch);
    }
  }

  async #runBatch(batch: readonly BatchPart<Request, Answer>[]): Promise<void> {
    const running = { batch, place: nowhere };
    const begunAtMs = monotonicMs();
    this.#running.add(running);
    try {
      await this.#run(batch);
      // Checked before an error is created: creating one for every batch, just in case, would cost more than the batch.
      if (batch.some(({ isDone }) => !isDone)) throw new Error("A batch did not say what became of one of its parts");
    } catch (error) {
      for (const part of batch) part.fail(error);
    }
    this.#lastBatchMs = monotonicMs() - begunAtMs;
    this.#running.delete(running);
    this.#queue.release(batch);
    if (!this.#isScheduled) this.#send();
  }

  #watchDeadlines(): void {
    if (this.#isExpiring) return;
    this.#isExpiring = true;
    setTimeout(() => {
      // The time is read before the arrivals are: what arrives while they are read has not been read then.
      const nowMs = monotonicMs();
      afterArrivals(() => this.#expire(nowMs));
    }, expireEveryMs).unref();
  }

  #expire(nowMs: number): void {
    this.#isExpiring = false;
    // Writes expire a little early: an RPC may carry several, and its answer waits for the last of them.
    this.#queue.expire(this.#policy.expiresRunning ? nowMs : nowMs + answerMarginMs);
    for (const [key, { isDone }] of this.#waitingByKey.entries()) if (isDone) this.#waitingByKey.delete(key);
    if (this.#policy.expiresRunning)
      for (const { batch } of this.#running) for (const part of batch) part.expire(nowMs);
    if (this.#queue.count > 0 || this.#running.size > 0) this.#watchDeadlines();
  }
}

function queueIsFull(): Error {
  return unavailable("The service is overloaded; nothing was stored. Try again in a moment.");
}
