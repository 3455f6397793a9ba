import { unavailable } from "../domain/domain-error.ts";
import { monotonicMs } from "../process/clock.ts";
import { answerMarginMs, type Deadline } from "../process/deadline.ts";
import { afterArrivals } from "../process/next-turn.ts";
import { TransientMap } from "../process/transient-map.ts";
import { type Member, nowhere, TransientSet } from "../process/transient-set.ts";
import { BatchPart } from "./batch-part.ts";
import type { BatchWatch } from "./batch-watch.ts";
import { FifoQueue } from "./fifo-queue.ts";
import { type BatchLimits, LaneQueue } from "./lane-queue.ts";

/** What batches may hold, how many run at once, and how much may wait for one. */
export interface BatchPolicy<Request> extends BatchLimits<Request> {
  /** How many batches may be under way at once. */
  readonly batchesMax: number;
  /** What comes while this much waits is refused. */
  readonly waitingMax: number;
  readonly waitingBytesMax: number;
  readonly bytesOf: (request: Request) => number;
  /** Requests with one key that wait together are one. Default: each is by itself. */
  readonly keyOf?: (request: Request) => string;
  readonly watch?: BatchWatch | undefined;
  /** Whether a caller is told that their time is up also while their batch runs. Not for what stores: it says so itself, once that is true. */
  readonly expiresRunning: boolean;
}

/** Does the work of a batch and tells each part its own outcome. What it throws is the outcome of those not told yet. */
type Run<Request, Answer> = (batch: readonly BatchPart<Request, Answer>[]) => Promise<void>;

interface RunningBatch<Request, Answer> extends Member {
  readonly batch: readonly BatchPart<Request, Answer>[];
}

/** How exactly a caller's deadline is kept. */
const expireEveryMs = 50;

/**
 * Gathers requests into batches. There is no timer: a lone request goes out at once; while others are under way or have
 * just been, those that arrive together go together, with the first turn of the event loop that brings no more of them.
 * A request never joins a batch that has begun, so it sees all that was stored before it.
 */
export class Batcher<Request, Answer> {
  readonly #policy: BatchPolicy<Request>;
  readonly #run: Run<Request, Answer>;
  readonly #queue: LaneQueue<Request, Answer> | FifoQueue<Request, Answer>;
  readonly #waitingByKey = new TransientMap<string, BatchPart<Request, Answer>>();
  readonly #running = new TransientSet<RunningBatch<Request, Answer>>();
  /** How many have asked since batches were last sent, and how many had asked for those. */
  #askedCount = 0;
  #lastAskedCount = 0;
  /** How long the last batch took that has ended. */
  #lastBatchMs = 0;
  #isScheduled = false;
  #isExpiring = false;

  constructor(policy: BatchPolicy<Request>, run: Run<Request, Answer>) {
    this.#policy = policy;
    this.#run = run;
    this.#queue = policy.laneOf || policy.groupOf ? new LaneQueue(policy) : new FifoQueue(policy);
    policy.watch?.opened(() => this.#queue.count);
  }

  ask(request: Request, { deadlineMs, isCanceled, trace }: Deadline): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asker = { deadlineMs, isCanceled, trace, resolve, reject };
      const key = this.#policy.keyOf?.(request);
      const alike = key === undefined ? undefined : this.#waitingByKey.get(key);
      this.#askedCount += 1;
      if (alike) return alike.join(request, asker);
      const part = new BatchPart(request, this.#policy.bytesOf(request), key, asker);
      if (this.#isFull(part.bytes)) return reject(tooMuchWaiting());
      if (key !== undefined) this.#waitingByKey.set(key, part);
      this.#queue.add(part);
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
    if (this.#isScheduled || this.#running.size >= this.#policy.batchesMax) return;
    this.#isScheduled = true;
    // What one call asks for comes in one go, and is together also where it does not wait.
    if (this.#running.size === 0 && this.#lastAskedCount <= 1) queueMicrotask(() => this.#send());
    else setImmediate(this.#sendWhenQuiet, 0);
  }

  readonly #sendWhenQuiet = (askedBefore: number): void => {
    const hasRoom = this.#queue.count < this.#policy.countMax;
    if (this.#askedCount > askedBefore && hasRoom) setImmediate(this.#sendWhenQuiet, this.#askedCount);
    else this.#send();
  };

  #send(): void {
    this.#isScheduled = false;
    // What waited behind a batch that ended was asked for before that.
    if (this.#askedCount > 0) this.#lastAskedCount = this.#askedCount;
    this.#askedCount = 0;
    while (this.#running.size < this.#policy.batchesMax) {
      const batch = this.#queue.take(monotonicMs(), this.#lastBatchMs);
      if (batch.length === 0) return;
      for (const { key } of batch) if (key !== undefined) this.#waitingByKey.delete(key);
      this.#policy.watch?.sent(batch.length);
      void this.#runBatch(batch);
    }
  }

  async #runBatch(batch: readonly BatchPart<Request, Answer>[]): Promise<void> {
    const running = { batch, place: nowhere };
    const begunAtMs = monotonicMs();
    this.#running.add(running);
    try {
      await this.#run(batch);
      // Looked for first: an error that is made for every batch, just in case, would cost more than the batch.
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
      // By the clock of now: what arrives while the arrivals are read has not been read then.
      const nowMs = monotonicMs();
      afterArrivals(() => this.#expire(nowMs));
    }, expireEveryMs).unref();
  }

  #expire(nowMs: number): void {
    this.#isExpiring = false;
    // Where it is to be stored, ahead of time: in one RPC there may be several, and the answer to all waits for this one.
    this.#queue.expire(this.#policy.expiresRunning ? nowMs : nowMs + answerMarginMs);
    for (const [key, { isDone }] of this.#waitingByKey.entries()) if (isDone) this.#waitingByKey.delete(key);
    if (this.#policy.expiresRunning)
      for (const { batch } of this.#running) for (const part of batch) part.expire(nowMs);
    if (this.#queue.count > 0 || this.#running.size > 0) this.#watchDeadlines();
  }
}

function tooMuchWaiting(): Error {
  return unavailable("The service is overloaded; nothing was stored. Try again in a moment.");
}
