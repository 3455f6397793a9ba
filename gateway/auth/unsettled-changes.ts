import { LRUCache } from "lru-cache";
import type { Principal } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";

/** Whether a change concerns a key, given its principal and its secret. */
export type IsChanged = (principal: Principal, secret: string) => boolean;

/**
 * When a change whose outcome is unknown has certainly been stored, or never will be: a service gives up a call after 15
 * seconds, and its database connection 8 seconds after it has sent the commit.
 */
const settledAfterMs = 30_000;
/** Of one organization. If there are more, they may concern any of its keys. */
const changesMax = 16;
const organizationsMax = 10_000;

/** Changes of keys that may yet be stored, because their outcome is unknown. */
export class UnsettledChanges {
  readonly #byOrganization = new LRUCache<string, readonly { isChanged: IsChanged; untilMs: number }[]>({
    max: organizationsMax,
    ttl: settledAfterMs,
  });

  add(organizationId: string, isChanged: IsChanged): void {
    const nowMs = monotonicMs();
    const before = (this.#byOrganization.get(organizationId) ?? []).filter(({ untilMs }) => nowMs < untilMs);
    const untilMs = nowMs + settledAfterMs;
    this.#byOrganization.set(
      organizationId,
      before.length < changesMax ? [...before, { isChanged, untilMs }] : [{ isChanged: () => true, untilMs }],
    );
  }

  mayConcern(principal: Principal, secret: string): boolean {
    const changes = this.#byOrganization.get(principal.organizationId);
    if (!changes) return false;
    const nowMs = monotonicMs();
    return changes.some(({ isChanged, untilMs }) => nowMs < untilMs && isChanged(principal, secret));
  }
}
