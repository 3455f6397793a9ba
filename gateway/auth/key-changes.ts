import type { Principal } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { type ErrorKind, isOfKind } from "../../services/platform/domain/domain-error.ts";
import type { KeyExchange } from "./key-exchange.ts";
import type { IsChanged } from "./unsettled-changes.ts";

/** Errors after which a service has certainly changed nothing. */
const refusals: readonly ErrorKind[] = [
  "invalid_argument",
  "unauthenticated",
  "permission_denied",
  "not_found",
  "already_exists",
  "failed_precondition",
  "aborted",
];

/** Watches changes that end keys, or change their rights, so that no grant outlives them here. */
export class KeyChanges {
  readonly #exchange: KeyExchange;

  constructor(exchange: KeyExchange) {
    this.#exchange = exchange;
  }

  /**
   * Awaits a change and drops the keys that it concerns from the cache, so that it applies to the next request through
   * this gateway; other gateways notice within the life of an access token. If the call fails and its outcome is
   * unknown, the keys that it may concern are dropped, and not cached until it is certain.
   */
  async watch<Answer>(
    { organizationId }: Pick<Principal, "organizationId">,
    change: Promise<Answer>,
    isChanged: (answer: Answer) => IsChanged,
    mayBeChanged: IsChanged,
  ): Promise<Answer> {
    try {
      const answer = await change;
      this.#exchange.forgetWhere(isChanged(answer));
      return answer;
    } catch (error) {
      if (!isOfKind(error, ...refusals)) this.#exchange.forgetUntilSettled(organizationId, mayBeChanged);
      throw error;
    }
  }
}
