import { deadlineExceeded } from "../domain/domain-error.ts";
import { sharedTrace, type Trace } from "../observe/trace.ts";
import { monotonicMs } from "../time/clock.ts";
import type { Deadline } from "../time/deadline.ts";

/** A caller that waits for an answer. */
export interface BatchCaller extends Deadline {
  /** The work done for the caller belongs to this trace. */
  readonly trace?: Trace | undefined;
}

/** A caller, and how to answer it. */
interface Caller<Answer> extends BatchCaller {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Replaces the callers once they have been answered. Frozen, because joining a part that is done would be a bug. */
const noCallers = Object.freeze([]) as unknown as never[];

/** One request of a batch. Identical requests share it, each with its own deadline. */
export class BatchPart<Request, Answer> implements BatchCaller {
  readonly request: Request;
  /** What it counts against the limits of batches and queues. */
  readonly bytes: number;
  /** Identical requests have the same key; undefined if it is not shared. */
  readonly key: string | undefined;
  #halfTimeMs: number;
  #callers: Caller<Answer>[];
  #joined: Request[] | undefined;

  constructor(request: Request, bytes: number, key: string | undefined, first: Caller<Answer>) {
    this.request = request;
    this.bytes = bytes;
    this.key = key;
    this.#halfTimeMs = halfTimeOf(first);
    this.#callers = [first];
  }

  /** The request of each caller. */
  get requests(): readonly Request[] {
    return this.#joined ? [this.request, ...this.#joined] : [this.request];
  }

  /** When all callers have waited for half of their time. */
  get halfTimeMs(): number {
    return this.#halfTimeMs;
  }

  /** The latest of the callers' deadlines: as long as one of them waits, the work is worth doing. */
  get deadlineMs(): number {
    let latestMs = Number.NEGATIVE_INFINITY;
    for (const { deadlineMs } of this.#callers) if (deadlineMs > latestMs) latestMs = deadlineMs;
    return latestMs;
  }

  isCanceled(): boolean {
    return this.#callers.every((caller) => caller.isCanceled());
  }

  get trace(): Trace | undefined {
    return sharedTrace(this.#callers);
  }

  join(request: Request, caller: Caller<Answer>): void {
    this.#joined ??= [];
    this.#joined.push(request);
    this.#callers.push(caller);
    this.#halfTimeMs = Math.max(this.#halfTimeMs, halfTimeOf(caller));
  }

  /** All callers have been answered, or have no time left. */
  get isDone(): boolean {
    return this.#callers.length === 0;
  }

  settle(answer: Answer): void {
    const callers = this.#callers;
    this.#callers = noCallers;
    for (const { resolve } of callers) resolve(answer);
  }

  fail(error: unknown): void {
    const callers = this.#callers;
    this.#callers = noCallers;
    for (const { reject } of callers) reject(error);
  }

  /** Fails the callers whose time is up; the others keep waiting. */
  expire(nowMs: number): void {
    if (this.#callers.every(({ deadlineMs }) => deadlineMs > nowMs)) return;
    const expired = this.#callers.filter(({ deadlineMs }) => deadlineMs <= nowMs);
    this.#callers = this.#callers.filter(({ deadlineMs }) => deadlineMs > nowMs);
    for (const { reject } of expired) reject(deadlineExceeded());
  }
}

function halfTimeOf({ deadlineMs }: Pick<Deadline, "deadlineMs">): number {
  return (monotonicMs() + deadlineMs) / 2;
}
