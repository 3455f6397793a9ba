import { deadlineExceeded } from "../domain/domain-error.ts";
import { type Trace, traceTogether } from "../observe/trace.ts";
import { monotonicMs } from "../process/clock.ts";
import type { Deadline } from "../process/deadline.ts";

/** A caller that waits for an answer, and how to give it. */
interface Asker<Answer> extends Deadline {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Replaces the askers once they have been answered. Frozen, because joining a part that is done would be a bug. */
const nobody = Object.freeze([]) as unknown as never[];

/** One request of a batch. Identical requests share it, each with its own deadline. */
export class BatchPart<Request, Answer> implements Deadline {
  readonly request: Request;
  /** What it counts against the limits of batches and queues. */
  readonly bytes: number;
  /** Identical requests have the same key; undefined if it is not shared. */
  readonly key: string | undefined;
  #halfTimeMs: number;
  #askers: Asker<Answer>[];
  #joined: Request[] | undefined;

  constructor(request: Request, bytes: number, key: string | undefined, first: Asker<Answer>) {
    this.request = request;
    this.bytes = bytes;
    this.key = key;
    this.#halfTimeMs = halfTimeOf(first);
    this.#askers = [first];
  }

  /** The request of each asker. */
  get requests(): readonly Request[] {
    return this.#joined ? [this.request, ...this.#joined] : [this.request];
  }

  /** When all askers have waited for half of their time. */
  get halfTimeMs(): number {
    return this.#halfTimeMs;
  }

  /** The latest of the askers' deadlines: as long as one of them waits, the work is worth doing. */
  get deadlineMs(): number {
    let latestMs = Number.NEGATIVE_INFINITY;
    for (const { deadlineMs } of this.#askers) if (deadlineMs > latestMs) latestMs = deadlineMs;
    return latestMs;
  }

  isCanceled(): boolean {
    return this.#askers.every((asker) => asker.isCanceled());
  }

  get trace(): Trace | undefined {
    return traceTogether(this.#askers);
  }

  join(request: Request, asker: Asker<Answer>): void {
    this.#joined ??= [];
    this.#joined.push(request);
    this.#askers.push(asker);
    this.#halfTimeMs = Math.max(this.#halfTimeMs, halfTimeOf(asker));
  }

  /** All askers have been answered, or have no time left. */
  get isDone(): boolean {
    return this.#askers.length === 0;
  }

  settle(answer: Answer): void {
    const askers = this.#askers;
    this.#askers = nobody;
    for (const { resolve } of askers) resolve(answer);
  }

  fail(error: unknown): void {
    const askers = this.#askers;
    this.#askers = nobody;
    for (const { reject } of askers) reject(error);
  }

  /** Fails the askers whose time is up; the others keep waiting. */
  expire(nowMs: number): void {
    if (this.#askers.every(({ deadlineMs }) => deadlineMs > nowMs)) return;
    const expired = this.#askers.filter(({ deadlineMs }) => deadlineMs <= nowMs);
    this.#askers = this.#askers.filter(({ deadlineMs }) => deadlineMs > nowMs);
    for (const { reject } of expired) reject(deadlineExceeded());
  }
}

function halfTimeOf({ deadlineMs }: Pick<Deadline, "deadlineMs">): number {
  return (monotonicMs() + deadlineMs) / 2;
}
