import { canceled } from "../domain/domain-error.ts";
import { monotonicMs } from "../time/clock.ts";
import type { PoolConnection } from "./connection.ts";
import type { ConnectionError } from "./errors.ts";
import type { TenantShares } from "./tenant-shares.ts";

interface Waiting {
  /** In order of arrival. */
  readonly number: number;
  readonly tenant: string | undefined;
  readonly isCanceled: () => boolean;
  readonly resolve: (connection: PoolConnection) => void;
  readonly reject: (error: Error) => void;
  /** When half of the waiting time is over. */
  readonly halfTimeMs: number;
  readonly timer: NodeJS.Timeout;
}

interface Arrival extends Pick<Waiting, "tenant" | "isCanceled" | "resolve" | "reject"> {
  readonly waitMs: number;
  /** The error if the waiting time was not enough. */
  readonly lateError: () => ConnectionError;
}

/**
 * The callers that wait for a connection. Tenants take turns, so that a rush of one delays no other; work for several
 * tenants together gets every other turn. Within a tenant, it is first come, first served, except that callers that
 * have waited for half of their time go behind those that have not: under overload, everyone would otherwise be served
 * so late that the work is wasted. A caller that gives up leaves the queue, and gets no connection later.
 */
export class ConnectionQueue {
  /** By tenant, in the order of their turns; undefined is for several together. None is empty. */
  readonly #queueByTenant = new Map<string | undefined, Set<Waiting>>();
  #size = 0;
  #arrived = 0;
  #isTurnOfTenants = false;
  readonly #shares: TenantShares;

  constructor(shares: TenantShares) {
    this.#shares = shares;
  }

  get size(): number {
    return this.#size;
  }

  sizeOf(tenant: string | undefined): number {
    return this.#queueByTenant.get(tenant)?.size ?? 0;
  }

  /** The number of the last arrival, whether it still waits or not. */
  get lastNumber(): number {
    return this.#arrived;
  }

  add({ tenant, isCanceled, resolve, reject, waitMs, lateError }: Arrival): void {
    const timer = setTimeout(() => {
      this.#remove(waiting);
      reject(lateError());
    }, waitMs);
    this.#arrived += 1;
    const halfTimeMs = monotonicMs() + waitMs / 2;
    const waiting = { number: this.#arrived, tenant, isCanceled, resolve, reject, halfTimeMs, timer };
    const queue = this.#queueByTenant.get(tenant);
    if (queue) queue.add(waiting);
    else this.#queueByTenant.set(tenant, new Set([waiting]));
    this.#size += 1;
  }

  /** Gives a connection to the one whose turn it is; false if nobody wants it, or may have it. */
  give(connection: PoolConnection): boolean {
    for (let queue = this.#nextQueue(); queue; queue = this.#nextQueue()) {
      const waiting = firstOf(queue);
      this.#remove(waiting);
      // The rest of this queue waits behind all other tenants.
      if (this.#queueByTenant.delete(waiting.tenant)) this.#queueByTenant.set(waiting.tenant, queue);
      if (!waiting.isCanceled()) {
        this.#shares.take(connection, waiting.tenant);
        waiting.resolve(connection.take());
        return true;
      }
      waiting.reject(canceled());
    }
    return false;
  }

  rejectCanceled(): void {
    for (const waiting of this.#everyone()) {
      if (!waiting.isCanceled()) continue;
      this.#remove(waiting);
      waiting.reject(canceled());
    }
  }

  /** Fails all callers up to the one with this number. */
  failAll(error: ConnectionError, lastNumber = Number.POSITIVE_INFINITY): void {
    for (const waiting of this.#everyone()) {
      if (waiting.number > lastNumber) continue;
      this.#remove(waiting);
      waiting.reject(error);
    }
  }

  #nextQueue(): Set<Waiting> | undefined {
    const shared = this.#queueByTenant.get(undefined);
    this.#isTurnOfTenants = !this.#isTurnOfTenants;
    if (shared && !this.#isTurnOfTenants) return shared;
    for (const [tenant, queue] of this.#queueByTenant) {
      if (tenant !== undefined && !this.#shares.isUsedUp(tenant)) return queue;
    }
    return shared;
  }

  #everyone(): Waiting[] {
    return [...this.#queueByTenant.values()].flatMap((queue) => [...queue]);
  }

  #remove(waiting: Waiting): void {
    const queue = this.#queueByTenant.get(waiting.tenant);
    if (queue?.delete(waiting)) this.#size -= 1;
    if (queue?.size === 0) this.#queueByTenant.delete(waiting.tenant);
    clearTimeout(waiting.timer);
  }
}

/** Not empty. */
function firstOf(queue: ReadonlySet<Waiting>): Waiting {
  const nowMs = monotonicMs();
  for (const waiting of queue) if (nowMs < waiting.halfTimeMs) return waiting;
  return queue.values().next().value as Waiting;
}
