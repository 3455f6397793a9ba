import { isOfKind, unavailable } from "../../../services/platform/domain/domain-error.ts";
import { TransientMap } from "../../../services/platform/memory/transient-map.ts";
import { monotonicMs } from "../../../services/platform/time/clock.ts";

/** On whose behalf a lookup is made. */
export interface FetchCaller {
  readonly principal: { readonly keyId: string };
  /** Whether its grant has expired, so that a service may reject it. */
  readonly isStale: boolean;
}

/** A lookup at a service. Everyone who needs the same one meanwhile waits for its answer. */
export class SharedFetch<Answer> {
  readonly startedAtMs = monotonicMs();
  /** Never rejects. */
  readonly settled: Promise<void>;
  /** Whether its subject was changed since: later callers have to start another. */
  isOutdated = false;
  #outcome: { readonly answer: Answer } | { readonly error: unknown } | undefined;
  readonly #caller: FetchCaller;

  constructor(caller: FetchCaller, fetch: (sharedFetch: SharedFetch<Answer>) => Promise<Answer>) {
    this.#caller = caller;
    this.settled = fetch(this).then(
      (answer) => {
        this.#outcome = { answer };
      },
      (error: unknown) => {
        this.#outcome = { error };
      },
    );
  }

  get isSettled(): boolean {
    return this.#outcome !== undefined;
  }

  /** The answer; throws the error if it failed. Only after it is settled. */
  answer(): Answer {
    if (!this.#outcome) throw new Error("The fetch has not settled yet");
    if (!("error" in this.#outcome)) return this.#outcome.answer;
    const { error } = this.#outcome;
    // Not a 401, which would be about the caller's key: nobody has refused that.
    if (this.#caller.isStale && isOfKind(error, "unauthenticated")) {
      throw unavailable("The organization service is out of reach, and this preset is not in memory.", error);
    }
    throw error;
  }

  /**
   * Whether it failed for a reason that need not apply to this caller: another caller, which had begun to wait earlier,
   * was refused or ran out of time.
   */
  mustBeRepeatedFor({ principal, isStale }: FetchCaller, waitingSinceMs: number): boolean {
    if (!this.#outcome || !("error" in this.#outcome)) return false;
    if (!isAboutCaller(this.#outcome.error)) return this.startedAtMs < waitingSinceMs;
    return principal.keyId !== this.#caller.principal.keyId || isStale !== this.#caller.isStale;
  }
}

/** Whether an error is about the caller, and not about what it looks up. */
export function isAboutCaller(error: unknown): boolean {
  return isOfKind(error, "permission_denied", "unauthenticated", "not_found", "invalid_argument");
}

/** The lookups in flight, by their subject. */
export class SharedFetches<Answer> {
  readonly #inFlight = new TransientMap<string, SharedFetch<Answer>>();

  get count(): number {
    return this.#inFlight.size;
  }

  find(subject: string): SharedFetch<Answer> | undefined {
    return this.#inFlight.get(subject);
  }

  start(
    subject: string,
    caller: FetchCaller,
    fetch: (sharedFetch: SharedFetch<Answer>) => Promise<Answer>,
  ): SharedFetch<Answer> {
    const sharedFetch = new SharedFetch(caller, fetch);
    this.#inFlight.set(subject, sharedFetch);
    void sharedFetch.settled.then(() => this.#end(subject, sharedFetch));
    return sharedFetch;
  }

  /** To be called after a change. An answer that is still to come may predate it. */
  markOutdated(subject: string): void {
    const sharedFetch = this.#inFlight.get(subject);
    if (!sharedFetch) return;
    sharedFetch.isOutdated = true;
    this.#end(subject, sharedFetch);
  }

  #end(subject: string, sharedFetch: SharedFetch<Answer>): void {
    if (this.#inFlight.get(subject) === sharedFetch) this.#inFlight.delete(subject);
  }
}
