import { canceled } from "../domain/domain-error.ts";
import type { PoolConnection } from "./connection.ts";
import type { ConnectionError } from "./errors.ts";

interface Waiting {
  /** In order of arrival. */
  readonly number: number;
  readonly isCanceled: () => boolean;
  readonly resolve: (connection: PoolConnection) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

interface Arrival extends Pick<Waiting, "isCanceled" | "resolve" | "reject"> {
  readonly waitMs: number;
  /** What they are told where that was not enough. */
  readonly lateError: () => ConnectionError;
}

/** Those who wait for a connection, in order of arrival. Whoever gives up leaves the queue, and is given none later. */
export class ConnectionQueue {
  readonly #waiting = new Set<Waiting>();
  #arrived = 0;

  get size(): number {
    return this.#waiting.size;
  }

  /** The number of the last arrival, whether they still wait or not. */
  get lastNumber(): number {
    return this.#arrived;
  }

  add({ isCanceled, resolve, reject, waitMs, lateError }: Arrival): void {
    const timer = setTimeout(() => {
      this.#waiting.delete(waiting);
      reject(lateError());
    }, waitMs);
    this.#arrived += 1;
    const waiting = { number: this.#arrived, isCanceled, resolve, reject, timer };
    this.#waiting.add(waiting);
  }

  /** Gives a connection to the one who has waited longest; false where nobody wants it. */
  give(connection: PoolConnection): boolean {
    for (const waiting of this.#waiting) {
      this.#dismiss(waiting);
      if (!waiting.isCanceled()) {
        waiting.resolve(connection.take());
        return true;
      }
      waiting.reject(canceled());
    }
    return false;
  }

  dismissCanceled(): void {
    for (const waiting of this.#waiting) {
      if (!waiting.isCanceled()) continue;
      this.#dismiss(waiting);
      waiting.reject(canceled());
    }
  }

  /** Fails all up to the one of this number. */
  failAll(error: ConnectionError, lastNumber = Number.POSITIVE_INFINITY): void {
    for (const waiting of this.#waiting) {
      if (waiting.number > lastNumber) return;
      this.#dismiss(waiting);
      waiting.reject(error);
    }
  }

  #dismiss(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    clearTimeout(waiting.timer);
  }
}
