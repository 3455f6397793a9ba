import { type ErrorKind, isOfKind } from "../../services/platform/domain/domain-error.ts";
import type { IsChanged, KeyExchange } from "./key-exchange.ts";

/** The errors of a service that has changed nothing. */
const refusals: readonly ErrorKind[] = [
  "invalid_argument",
  "unauthenticated",
  "permission_denied",
  "not_found",
  "already_exists",
  "failed_precondition",
  "aborted",
];

/** Watches changes that end keys, or change what they may do, so that no grant outlives them here. */
export class KeyChanges {
  readonly #exchange: KeyExchange;

  constructor(exchange: KeyExchange) {
    this.#exchange = exchange;
  }

  /**
   * Waits for a change and has the keys that it concerns forgotten, so that it holds for the next request through this
   * gateway; other gateways notice within the life of an access token. Where the call fails and nobody knows whether the
   * change was made, the keys that it may concern are forgotten.
   */
  async watch<Answer>(
    change: Promise<Answer>,
    isChanged: (answer: Answer) => IsChanged,
    mayBeChanged: IsChanged,
  ): Promise<Answer> {
    try {
      const answer = await change;
      this.#exchange.forgetWhere(isChanged(answer));
      return answer;
    } catch (error) {
      if (!isOfKind(error, ...refusals)) this.#exchange.forgetWhere(mayBeChanged);
      throw error;
    }
  }
}
