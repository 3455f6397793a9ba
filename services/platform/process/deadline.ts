import type { Trace } from "../observe/trace.ts";
import { monotonicMs } from "./clock.ts";

/** How long a caller waits for an answer. */
export interface Deadline {
  /** By the monotonic clock. */
  readonly deadlineMs: number;
  /** Whether the caller has gone. */
  readonly isCanceled: () => boolean;
  /** Whom they call for: where many wait, tenants take turns. Undefined where it is for several together, or not known. */
  readonly tenant?: string | undefined;
  /** What is done for them is part of it. */
  readonly trace?: Trace | undefined;
}

/** Left between giving up and the caller's deadline, so that the caller still hears why. */
export const answerMarginMs = 200;

/** How long there is until an answer could come too late. */
export function timeLeftMs({ deadlineMs }: Pick<Deadline, "deadlineMs">): number {
  return deadlineMs - answerMarginMs - monotonicMs();
}

/** Whether it is too late to answer: then nothing may be stored any more. */
export function hasGivenUp(caller: Deadline): boolean {
  return timeLeftMs(caller) <= 0 || caller.isCanceled();
}
