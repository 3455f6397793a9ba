import type { IncomingMessage } from "node:http";
import { isOfKind } from "../../services/platform/domain/domain-error.ts";
import type { Metrics } from "../../services/platform/observe/metrics.ts";
import { tooManyRequests } from "../json/http-error.ts";
import type { TrustedProxies } from "./client-address.ts";
import { type RateLimit, TokenBuckets } from "./token-buckets.ts";

/** More addresses than one attacker has. Each takes only a handful of bytes. */
const addressesMax = 10_000;

/**
 * Limits how many credentials from one address are refused. Beyond that, a credential that is not known to be valid is
 * not even looked up, so that guesses cost the organization service nothing. A working key is not slowed down by
 * someone else guessing from the same address.
 */
export class RefusedKeys {
  readonly #limit: RateLimit | undefined;
  readonly #proxies: TrustedProxies;
  readonly #metrics: Metrics;
  readonly #buckets = new TokenBuckets(addressesMax);

  constructor(limit: RateLimit | undefined, proxies: TrustedProxies, metrics: Metrics) {
    this.#limit = limit;
    this.#proxies = proxies;
    this.#metrics = metrics;
  }

  /** To be called before an unknown key is looked up. Only refusals count against the allowance. */
  requireAllowance(request: IncomingMessage): void {
    if (!this.#limit) return;
    const address = this.#proxies.clientOf(request);
    if (this.#buckets.allowance(address, this.#limit).remaining < 1) throw this.#refusal(address, this.#limit);
  }

  /** The answer to a credential that was not accepted: the reason, or that there were too many of them. */
  answerTo(request: IncomingMessage, error: unknown): unknown {
    if (!this.#limit || !isOfKind(error, "unauthenticated")) return error;
    const address = this.#proxies.clientOf(request);
    return this.#buckets.take(address, this.#limit) ? error : this.#refusal(address, this.#limit);
  }

  #refusal(address: string, limit: RateLimit): Error {
    this.#metrics.refused("refused_keys");
    return tooManyRequests(
      "Too many keys from this address were refused. Check the key, and try again in a moment.",
      this.#buckets.allowance(address, limit),
    );
  }
}
