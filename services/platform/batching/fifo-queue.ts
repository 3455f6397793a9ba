import type { BatchPart } from "./batch-part.ts";
import type { BatchLimits } from "./lane-queue.ts";

/**
 * The queue in order of arrival, for batchers without lanes and groups. As in a LaneQueue, and for the same reason,
 * requests that have waited for half of their time go behind those that have not.
 */
export class FifoQueue<Request, Answer> {
  readonly #limits: BatchLimits<Request>;
  #parts: BatchPart<Request, Answer>[] = [];
  #bytes = 0;

  constructor(limits: BatchLimits<Request>) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#parts.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(part: BatchPart<Request, Answer>): void {
    this.#parts.push(part);
    this.#bytes += part.bytes;
  }

  /** The next batch; empty if nothing is queued. */
  take(nowMs: number): BatchPart<Request, Answer>[] {
    const { countMax, bytesMax } = this.#limits;
    if (this.#parts.length > countMax || this.#bytes > bytesMax) this.#moveLateToBack(nowMs);
    let count = 0;
    let bytes = 0;
    for (const part of this.#parts) {
      if (count === countMax || (count > 0 && bytes + part.bytes > bytesMax)) break;
      bytes += part.bytes;
      count += 1;
    }
    this.#bytes -= bytes;
    return this.#parts.splice(0, count);
  }

  #moveLateToBack(nowMs: number): void {
    const late = this.#parts.filter(({ halfTimeMs }) => halfTimeMs <= nowMs);
    if (late.length > 0) this.#parts = [...this.#parts.filter(({ halfTimeMs }) => nowMs < halfTimeMs), ...late];
  }

  /** There are no lanes to release. */
  release(): void {}

  /** Fails callers whose time is up, and drops parts that nobody waits for any more. */
  expire(nowMs: number): void {
    for (const part of this.#parts) part.expire(nowMs);
    const waiting = this.#parts.filter(({ isDone }) => !isDone);
    if (waiting.length === this.#parts.length) return;
    this.#parts = waiting;
    this.#bytes = waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}
