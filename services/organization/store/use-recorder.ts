import { LRUCache } from "lru-cache";
import type { Logger } from "../../platform/observe/logger.ts";

const intervalMs = 60_000;
const rememberedMax = 10_000;
const batchMax = 100;

/** Writes that these were used, unless that was written since `unlessSince`. Their names are in order. */
type UpdateLastUsed = (names: readonly string[], usedAt: Date, unlessSince: Date) => Promise<void>;

/**
 * Notes when keys, or sessions, were last used, about once a minute each. Nobody waits for it: an exchange that worked must not
 * fail or slow down because of a note. While one statement is under way, uses gather for the next.
 */
export class UseRecorder {
  readonly #update: UpdateLastUsed;
  readonly #logger: Logger;
  /** Those that this process has noted within the interval; the statement itself minds what others noted. */
  readonly #recent = new LRUCache<string, true>({ max: rememberedMax, ttl: intervalMs });
  #waiting: string[] = [];
  #usedAt = new Date(0);
  #isWriting = false;

  constructor(update: UpdateLastUsed, logger: Logger) {
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
    // What is exchanged in the same turn of the event loop belongs in one statement.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      // In order, so that two processes which note the same ones do not wait for each other crosswise.
      const names = this.#waiting.splice(0, batchMax).sort();
      try {
        await this.#update(names, this.#usedAt, new Date(this.#usedAt.getTime() - intervalMs));
      } catch (error) {
        this.#logger.warn({ err: error, count: names.length }, "could not record the last use of keys");
      }
    }
    this.#isWriting = false;
  }
}
