/**
 * A failure that the person at the terminal can act on. Its message says what happened, why, and what to do, so it is
 * shown without a stack.
 */
export class StartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StartError";
  }
}

/** A process did not come up. */
export class FailedStart extends StartError {
  /** The reason, on one line. */
  readonly reason: string;
  /** Another start would fail the same way. */
  readonly isPermanent: boolean;

  constructor(message: string, reason: string, isPermanent: boolean) {
    super(message);
    this.name = "FailedStart";
    this.reason = reason;
    this.isPermanent = isPermanent;
  }
}
