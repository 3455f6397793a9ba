import { LRUCache } from "lru-cache";
import type { Pool } from "../../platform/mysql/pool.ts";
import type { Logger } from "../../platform/observe/logger.ts";
import { updateKeyLastUsed } from "./keys.ts";

const intervalMs = 60_000;
const rememberedMax = 10_000;

/**
 * Notes when keys were last used, about once a minute each. Nobody waits for it: an exchange that worked must not
 * fail or slow down because of a note.
 */
export class KeyUseRecorder {
  readonly #pool: Pool;
  readonly #logger: Logger;
  /** Keys that this process has noted within the interval; the statement itself minds what others noted. */
  readonly #recent = new LRUCache<string, true>({ max: rememberedMax, ttl: intervalMs });

  constructor(pool: Pool, logger: Logger) {
    this.#pool = pool;
    this.#logger = logger;
  }

  record(keyId: string, usedAt: Date): void {
    if (this.#recent.has(keyId)) return;
    this.#recent.set(keyId, true);
    updateKeyLastUsed(this.#pool, keyId, usedAt, new Date(usedAt.getTime() - intervalMs)).catch((error: unknown) => {
      this.#logger.warn({ err: error, key_id: keyId }, "could not note the use of a key");
    });
  }
}
