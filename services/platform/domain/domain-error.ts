/** What went wrong, in terms that every transport can translate. */
export type ErrorKind =
  | "invalid_argument"
  | "unauthenticated"
  | "permission_denied"
  | "not_found"
  | "already_exists"
  | "failed_precondition"
  | "aborted"
  | "resource_exhausted"
  | "unavailable"
  | "deadline_exceeded"
  | "canceled"
  | "unimplemented"
  | "internal";

/** One field of a request that breaks its rule. `path` is written as a caller would, `tools[0].name`; empty for the whole body. */
export interface FieldViolation {
  readonly path: string;
  readonly message: string;
}

interface ErrorParts {
  /** For programs: UPPER_SNAKE_CASE, stable, never shown alone. */
  readonly reason: string;
  /** For people: a sentence that says what to do. It reaches the caller, so it holds nothing internal and no secret. */
  readonly message: string;
  readonly violations?: readonly FieldViolation[];
  /** How long to wait before trying again, if known. */
  readonly retryAfterMs?: number | undefined;
  /** For programs, in addition to the reason: values that occur in the message. It reaches the caller, too. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Kept for the log; never sent. */
  readonly cause?: unknown;
}

/**
 * The only error whose text reaches a caller. Anything else that is thrown becomes "internal error" on the wire
 * and keeps its cause for the log.
 */
export class DomainError extends Error {
  readonly kind: ErrorKind;
  readonly reason: string;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterMs: number | undefined;
  readonly metadata: Readonly<Record<string, string>>;

  constructor(kind: ErrorKind, parts: ErrorParts) {
    super(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.name = "DomainError";
    this.kind = kind;
    this.reason = parts.reason;
    this.violations = parts.violations ?? [];
    this.retryAfterMs = parts.retryAfterMs;
    this.metadata = parts.metadata ?? {};
  }
}

export function isOfKind(error: unknown, ...kinds: readonly ErrorKind[]): error is DomainError {
  return error instanceof DomainError && kinds.includes(error.kind);
}

/**
 * How many violations of one kind are collected, and how many are reported in total: a request has room for a million,
 * and nobody reads them.
 */
export const violationsMax = 100;
/** Paths consist of the caller's own keys, so a hundred of them may be long. */
const violationCharactersMax = 16_384;

/** A request with at least one field that breaks its rule; all of them are reported together, up to a limit. */
export function invalidRequest(violations: readonly FieldViolation[]): DomainError {
  const [first] = violations;
  const rest = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
  const message = first ? `${first.path || "The body"} ${first.message}${rest}` : "The request is not valid";
  return new DomainError("invalid_argument", {
    reason: "INVALID_REQUEST",
    message,
    violations: withinReportLimits(violations),
  });
}

function withinReportLimits(violations: readonly FieldViolation[]): readonly FieldViolation[] {
  let characters = 0;
  const tooMany = violations.findIndex(({ path, message }, index) => {
    characters += path.length + message.length;
    return index > 0 && (index >= violationsMax || characters > violationCharactersMax);
  });
  return tooMany === -1 ? violations : violations.slice(0, tooMany);
}

/** A service or the database is out of reach or overloaded. Nothing was stored. */
export function unavailable(message: string, cause?: unknown): DomainError {
  return new DomainError("unavailable", { reason: "UNAVAILABLE", message, cause });
}

/** Nobody waits for the answer any more, so nobody sees this. */
export function canceled(): DomainError {
  return new DomainError("canceled", { reason: "CANCELED", message: "The caller has gone." });
}

/** The caller's deadline passed before anything was stored. */
export function deadlineExceeded(): DomainError {
  return new DomainError("deadline_exceeded", {
    reason: "DEADLINE_EXCEEDED",
    message: "There was not enough time to answer; nothing was stored. Try again.",
  });
}

/** The request id was used before, for another request. */
export function requestIdReused(): DomainError {
  return new DomainError("already_exists", {
    reason: "REQUEST_ID_REUSED",
    message: "This idempotency key was used for another request. Use a new key, or send the same request again.",
  });
}
