import { DomainError, unavailable } from "../domain/domain-error.ts";
import { CommitUnknown, isFull, NoConnectionFree } from "./errors.ts";

// What a caller is told about a database fault. Each keeps its cause for the log.

/** A commit was not answered, or is still in progress, and there is no time left to find out its outcome. */
export function outcomeUnknown(cause?: unknown): DomainError {
  return unavailable(
    "The database did not say whether this was stored. Try again with the same request id: nothing is stored twice.",
    cause,
  );
}

/** The commit whose outcome is unknown, if that is what the caller was told. */
export function unknownCommitOf(refusal: unknown): CommitUnknown | undefined {
  return refusal instanceof DomainError && refusal.cause instanceof CommitUnknown ? refusal.cause : undefined;
}

/**
 * Others kept changing the same rows until the deadline; one of them may be the same request, through another process.
 */
export function conflictNotSettled(cause: unknown): DomainError {
  return new DomainError("aborted", {
    reason: "CONFLICT",
    message:
      "Someone else is changing the same thing. Try again in a moment; with the same request id, nothing is stored twice.",
    cause,
  });
}

export function databaseUnavailable(cause: unknown): DomainError {
  if (cause instanceof NoConnectionFree) return databaseOverloaded(cause);
  return unavailable(
    "The database cannot be reached right now. Try again in a moment; with the same request id, nothing is stored twice.",
    isFull(cause)
      ? new Error("The database has no room left: free space on its disk, or let its tables grow", { cause })
      : cause,
  );
}

function databaseOverloaded(cause: NoConnectionFree): DomainError {
  return new DomainError("unavailable", {
    reason: "OVERLOADED",
    message:
      "The database is overloaded, or does not answer, right now. Try again in a moment; with the same request id, nothing is stored twice.",
    retryAfterMs: 1_000,
    cause,
  });
}
