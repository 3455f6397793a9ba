import { LRUCache } from "lru-cache";
import type { Pool } from "../../platform/mysql/pool.ts";
import type { Logger } from "../../platform/observe/logger.ts";
import { updateKeysLastUsed } from "./keys.ts";

const intervalMs = 60_000;
const rememberedMax = 10_000;
const batchMax = 100;

/**
 * Notes when keys were last used, about once a minute each. Nobody waits for it: an exchange that worked must not
 * fail or slow down because of a note. While one statement is under way, uses gather for the next.
 */
export class KeyUseRecorder {
  readonly #pool: Pool;
  readonly #logger: Logger;
  /** Keys that this process has noted within the interval; the statement itself minds what others noted. */
  readonly #recent = new LRUCache<string, true>({ max: rememberedMax, ttl: intervalMs });
  #waiting: string[] = [];
  #usedAt = new Date(0);
  #isWriting = false;

  constructor(pool: Pool, logger: Logger) {
    this.#pool = pool;
    this.#logger = logger;
  }

  record(keyId: string, usedAt: Date): void {
    if (this.#recent.has(keyId)) return;
    this.#recent.set(keyId, true);
    this.#waiting.push(keyId);
    this.#usedAt = usedAt;
    if (!this.#isWriting) void this.#write();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    // What is exchanged in the same turn of the event loop belongs in one statement.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      // In order, so that two processes which note the same keys do not wait for each other crosswise.
      const ids = this.#waiting.splice(0, batchMax).sort();
      try {
        await updateKeysLastUsed(this.#pool, ids, this.#usedAt, new Date(this.#usedAt.getTime() - intervalMs));
      } catch (error) {
        this.#logger.warn({ err: error, keys: ids.length }, "could not note the use of keys");
      }
    }
    this.#isWriting = false;
  }
}
