import { LRUCache } from "lru-cache";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import type { Allowance } from "../json/http-error.ts";

/** Requests per second, and the burst after an idle period. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/**
 * A token bucket for each name: full at first, and refilled over time. If there are too many buckets, the least
 * recently used one is dropped, and would be full again. It nearly always is by then: to gain tokens, one would have to
 * use as many other names as there is room for within the few seconds that refilling takes.
 */
export class TokenBuckets {
  readonly #buckets: LRUCache<string, Bucket>;

  constructor(bucketsMax: number) {
    this.#buckets = new LRUCache({ max: bucketsMax });
  }

  /** Whether there was a token, which is then taken. */
  take(name: string, limit: RateLimit): boolean {
    const bucket = this.#bucketOf(name, limit);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  allowance(name: string, limit: RateLimit): Allowance {
    const { tokens } = this.#bucketOf(name, limit);
    return {
      limit: limit.burst,
      remaining: Math.floor(tokens),
      nextInSeconds: Math.ceil(Math.max(0, 1 - tokens) / limit.perSecond),
      fullInSeconds: Math.ceil((limit.burst - tokens) / limit.perSecond),
    };
  }

  /** The bucket as of now. The limit may differ from last time: that of a key can change. */
  #bucketOf(name: string, { perSecond, burst }: RateLimit): Bucket {
    const now = monotonicMs();
    let bucket = this.#buckets.get(name);
    if (bucket) {
      bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.atMs) / 1000) * perSecond);
      bucket.atMs = now;
    } else {
      bucket = { tokens: burst, atMs: now };
      this.#buckets.set(name, bucket);
    }
    return bucket;
  }
}
