import type { BatchLimits } from "./lane-queue.ts";
import type { Member } from "./member.ts";

/** What waits for a batch, in order of arrival, where there are neither lanes nor groups. */
export class FifoQueue<Request, Answer> {
  readonly #limits: BatchLimits<Request>;
  #members: Member<Request, Answer>[] = [];
  #bytes = 0;

  constructor(limits: BatchLimits<Request>) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#members.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(member: Member<Request, Answer>): void {
    this.#members.push(member);
    this.#bytes += member.bytes;
  }

  /** The next batch; empty where nothing waits. */
  take(): Member<Request, Answer>[] {
    const { countMax, bytesMax } = this.#limits;
    let count = 0;
    let bytes = 0;
    for (const member of this.#members) {
      if (count === countMax || (count > 0 && bytes + member.bytes > bytesMax)) break;
      bytes += member.bytes;
      count += 1;
    }
    this.#bytes -= bytes;
    return this.#members.splice(0, count);
  }

  /** Nothing here is kept from others by a batch. */
  release(): void {}

  /** Tells those whose time is up that it is, and drops what nobody waits for any more. */
  expire(nowMs: number): void {
    for (const member of this.#members) member.expire(nowMs);
    const waiting = this.#members.filter(({ isDone }) => !isDone);
    if (waiting.length === this.#members.length) return;
    this.#members = waiting;
    this.#bytes = waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}
