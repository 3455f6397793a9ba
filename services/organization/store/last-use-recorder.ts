import { LRUCache } from "lru-cache";
import type { Logger } from "../../platform/observe/logger.ts";

const intervalMs = 60_000;
const rememberedMax = 10_000;
const batchMax = 100;

/** Records that these were used, unless that was recorded since `exceptSince`. Their names are sorted. */
type UpdateLastUsed = (names: readonly string[], usedAt: Date, exceptSince: Date) => Promise<void>;

/**
 * Records when keys, or sessions, were last used, about once a minute each. Nobody waits for it: a successful exchange
 * must not fail or slow down because of it. While one statement is in flight, uses are collected for the next.
 */
export class LastUseRecorder {
  readonly #title: string;
  readonly #update: UpdateLastUsed;
  readonly #logger: Logger;
  /**
   * Those that this process has recorded within the interval; the statement itself skips what other processes recorded.
   */
  readonly #recent = new LRUCache<string, true>({ max: rememberedMax, ttl: intervalMs });
  #waiting: string[] = [];
  #usedAt = new Date(0);
  #isWriting = false;

  /** The title names what is used, in the plural. */
  constructor(title: string, update: UpdateLastUsed, logger: Logger) {
    this.#title = title;
    this.#update = update;
    this.#logger = logger;
  }

  record(name: string, usedAt: Date): void {
    if (this.#recent.has(name)) return;
    this.#recent.set(name, true);
    this.#waiting.push(name);
    this.#usedAt = usedAt;
    if (!this.#isWriting) void this.#write();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    // Exchanges of the same turn of the event loop belong in one statement.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      // Sorted, so that two processes that record the same ones do not deadlock.
      const names = this.#waiting.splice(0, batchMax).sort();
      try {
        await this.#update(names, this.#usedAt, new Date(this.#usedAt.getTime() - intervalMs));
      } catch (error) {
        this.#logger.warn({ err: error, count: names.length }, `could not record the last use of ${this.#title}`);
      }
    }
    this.#isWriting = false;
  }
}
