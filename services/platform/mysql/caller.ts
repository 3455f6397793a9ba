import type { Trace } from "../observe/trace.ts";
import type { Deadline } from "../time/deadline.ts";

/** Whom statements are run for, and for how long. */
export interface Caller extends Deadline {
  /**
   * The organization that it is for: where many wait, tenants take turns. Undefined if it is for several, or not known.
   */
  readonly tenant?: string | undefined;
  /** The work done for the caller belongs to this trace. */
  readonly trace?: Trace | undefined;
}
