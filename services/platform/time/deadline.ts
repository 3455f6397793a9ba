import { monotonicMs } from "./clock.ts";

/** How long a caller waits for an answer. */
export interface Deadline {
  /** By the monotonic clock. */
  readonly deadlineMs: number;
  /** Whether the caller has gone. */
  readonly isCanceled: () => boolean;
}

/** The time between giving up and the caller's deadline, so that the caller still receives the reason. */
export const answerMarginMs = 200;

/** How much time is left until an answer might come too late. */
export function timeLeftMs({ deadlineMs }: Pick<Deadline, "deadlineMs">): number {
  return deadlineMs - answerMarginMs - monotonicMs();
}

/** Whether it is too late to answer; if so, nothing may be stored any more. */
export function hasGivenUp(caller: Deadline): boolean {
  return timeLeftMs(caller) <= 0 || caller.isCanceled();
}
