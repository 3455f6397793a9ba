import type { KeyObject } from "node:crypto";
import { unavailable } from "../domain/domain-error.ts";
import type { Logger } from "../observe/logger.ts";
import { monotonicMs } from "../time/clock.ts";
import { type FetchKeySet, importKeys, type KeySet } from "./key-set.ts";

/** Keys are refreshed at this age, so that a key that is no longer published stops working. */
const refreshIntervalMs = 60_000;
/** After a failed fetch, or while clocks differ. Nobody waits for it, because the known keys stay in use. */
const retryIntervalMs = 5_000;
/** Tokens with invented key ids cannot make a service fetch more often than this. */
const fetchIntervalMinMs = 1_000;
/** A process that was idle for this long fetches the current keys before it trusts the ones it has. */
const idleMaxMs = 300_000;
/** How often the log says that the keys cannot be fetched. */
const logIntervalMs = 60_000;

interface Options {
  readonly fetchKeySet: FetchKeySet;
  readonly logger: Logger | undefined;
  /** A key was removed or replaced: what it has verified must be verified again. */
  readonly onKeyRemoved: () => void;
  /** Returns whether that is enough for a while, or should be checked again soon. */
  readonly onFetched: (keySet: KeySet) => boolean;
}

/** The public keys of access tokens, refreshed as they are used. All times are of the monotonic clock. */
export class VerificationKeys {
  readonly #options: Options;
  #keys = new Map<string, KeyObject>();
  #fetchStartedAtMs = Number.NEGATIVE_INFINITY;
  #refreshAtMs = Number.NEGATIVE_INFINITY;
  #loggedAtMs = Number.NEGATIVE_INFINITY;
  #fault: unknown;
  #refreshing: { readonly done: Promise<void>; readonly isAwaited: boolean } | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  get hasKeys(): boolean {
    return this.#keys.size > 0;
  }

  /** Why the last fetch failed. */
  get fault(): unknown {
    return this.#fault;
  }

  find(kid: string): KeyObject | undefined {
    return this.#keys.get(kid);
  }

  /** Called for every token: keeps the keys fresh. Returns a promise if it must be awaited; mostly it need not. */
  keepFresh(nowMs: number): Promise<void> | undefined {
    if (nowMs < this.#refreshAtMs && !this.#refreshing?.isAwaited) return undefined;
    const done = this.#refresh(nowMs);
    return this.#refreshing?.isAwaited ? done : undefined;
  }

  /** Called for an unknown key id. Throws if it cannot be determined whether there is such a key. */
  async refreshForUnknownKey(): Promise<void> {
    await this.#refreshSoon();
    if (this.#fault !== undefined) {
      throw unavailable("Access tokens cannot be verified right now. Try again.", this.#fault);
    }
  }

  /** Called for a token that would otherwise be refused: if the last fetch failed, it does not wait for another. */
  async refreshUnlessFailing(): Promise<void> {
    const refreshed = this.#refreshSoon();
    if (this.#fault === undefined) await refreshed;
  }

  /** Fetches the keys ahead of time if there is a reason to; not too often. */
  async #refreshSoon(): Promise<void> {
    const nowMs = monotonicMs();
    if (this.#refreshing || nowMs - this.#fetchStartedAtMs > fetchIntervalMinMs) await this.#refresh(nowMs);
  }

  /** Concurrent callers share one fetch. If it fails, the known keys stay. */
  #refresh(nowMs: number): Promise<void> {
    if (!this.#refreshing) {
      const done = this.#fetch().finally(() => {
        this.#refreshing = undefined;
      });
      this.#refreshing = { done, isAwaited: nowMs - this.#fetchStartedAtMs > idleMaxMs };
      this.#fetchStartedAtMs = nowMs;
      this.#refreshAtMs = nowMs + retryIntervalMs;
    }
    return this.#refreshing.done;
  }

  async #fetch(): Promise<void> {
    try {
      const keySet = await this.#options.fetchKeySet();
      this.#replace(importKeys(keySet.keys));
      this.#fault = undefined;
      if (this.#options.onFetched(keySet)) this.#refreshAtMs = this.#fetchStartedAtMs + refreshIntervalMs;
    } catch (error) {
      this.#fault = error;
      if (monotonicMs() - this.#loggedAtMs >= logIntervalMs) {
        this.#loggedAtMs = monotonicMs();
        const known = this.#keys.size;
        this.#options.logger?.error({ err: error, known }, "the public keys of access tokens cannot be fetched");
      }
    }
  }

  #replace(keys: Map<string, KeyObject>): void {
    const isAnyRemoved = [...this.#keys].some(([kid, key]) => !keys.get(kid)?.equals(key));
    this.#keys = keys;
    if (!isAnyRemoved) return;
    this.#options.onKeyRemoved();
    this.#options.logger?.info({ known: keys.size }, "a public key of access tokens was removed");
  }
}
