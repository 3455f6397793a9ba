import { Counter } from "prom-client";
import type { Metrics } from "../../services/platform/observe/metrics.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import type { ServiceReach } from "../clients/service-reach.ts";
import type { ExchangeRequest, Grant, KeyExchange } from "./key-exchange.ts";

interface InferenceGrant {
  readonly grant: Grant;
  /** Whether it has expired, and is used because the organization service cannot be asked about the key. */
  readonly isStale: boolean;
}

const retryMs = 1_000;
/** Concurrent exchanges while the service is out of reach. They only serve to find out when it is back. */
const retriesMax = 64;

/**
 * The grants of inference requests. If the organization service is out of reach, a key's last grant remains valid for a
 * while after its token has expired, so that inference continues; never beyond the key's own expiry, and not if the
 * service has refused the key.
 */
export class InferenceGrants {
  readonly #exchange: KeyExchange;
  /** Of the organization service. */
  readonly #reach: ServiceReach;
  readonly #staleMaxMs: number;
  readonly #staleCount: Counter;
  readonly #retryAtMs = new WeakMap<Grant, number>();
  #retries = 0;

  constructor(exchange: KeyExchange, reach: ServiceReach, staleMaxMs: number, metrics: Metrics) {
    this.#exchange = exchange;
    this.#reach = reach;
    this.#staleMaxMs = staleMaxMs;
    this.#staleCount = new Counter({
      name: "setpoint_stale_grants_total",
      help: "Inference requests whose key could not be checked again, because the organization service was out of reach.",
      registers: [metrics.registry],
    });
  }

  async grantFor(request: ExchangeRequest): Promise<InferenceGrant> {
    const last = this.#exchange.lastGrantOf(request);
    if (!last || !this.#mayBeStale(last)) return { grant: await this.#exchange.grantFor(request), isStale: false };
    if (this.#reach.isOutOfReach) {
      this.#retry(request, last);
      return this.#stale(last);
    }
    const exchange = this.#exchange.grantFor(request);
    await this.#reach.answeredOrOutOfReach(exchange, monotonicMs());
    // If the key was accepted meanwhile, there is a new grant; if it was refused, there is none.
    if (this.#reach.isOutOfReach && this.#exchange.lastGrantOf(request) === last) return this.#stale(last);
    return { grant: await exchange, isStale: false };
  }

  /** Whether it has expired, but recently enough to be used. */
  #mayBeStale({ useUntilMs, endsAtMs, keyEndsAtMs }: Grant): boolean {
    if (this.#staleMaxMs === 0) return false;
    const nowMs = monotonicMs();
    return nowMs >= useUntilMs && nowMs < Math.min(endsAtMs + this.#staleMaxMs, keyEndsAtMs);
  }

  #stale(grant: Grant): InferenceGrant {
    this.#staleCount.inc();
    return { grant, isStale: true };
  }

  /** Exchanges the key again in the background, unless it was tried a moment ago. */
  #retry(request: ExchangeRequest, grant: Grant): void {
    const nowMs = monotonicMs();
    if (nowMs < (this.#retryAtMs.get(grant) ?? 0) || this.#retries >= retriesMax) return;
    this.#retryAtMs.set(grant, nowMs + retryMs);
    this.#retries += 1;
    const ended = () => {
      this.#retries -= 1;
    };
    this.#exchange.grantFor(request).then(ended, ended);
  }
}
