/** The codes of gRPC, beside OK. */
export const Code = {
  Canceled: 1,
  Unknown: 2,
  InvalidArgument: 3,
  DeadlineExceeded: 4,
  NotFound: 5,
  AlreadyExists: 6,
  PermissionDenied: 7,
  ResourceExhausted: 8,
  FailedPrecondition: 9,
  Aborted: 10,
  OutOfRange: 11,
  Unimplemented: 12,
  Internal: 13,
  Unavailable: 14,
  DataLoss: 15,
  Unauthenticated: 16,
} as const;

/** A peer may send any number. */
export type Code = number;

const names = new Map<number, string>(
  Object.entries(Code).map(([name, code]) => [code, name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase()]),
);

/** The canonical spelling of a code, as gRPC and its metrics write it: `INVALID_ARGUMENT`. */
export function codeName(code: Code | undefined): string {
  return code === undefined ? "OK" : (names.get(code) ?? "UNKNOWN");
}
