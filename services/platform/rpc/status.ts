import { anyUnpack, durationMs } from "@bufbuild/protobuf/wkt";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../../proto/gen/google/rpc/error_details_pb.ts";
import type { Status } from "../../../proto/gen/google/rpc/status_pb.ts";
import { DomainError, type ErrorKind } from "../domain/domain-error.ts";
import { Code } from "./codes.ts";
import { namesByNumber } from "./names-by-number.ts";

/** The one table from the kind of a domain error to its RPC code. */
export const codeByKind = {
  invalid_argument: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  not_found: Code.NotFound,
  already_exists: Code.AlreadyExists,
  failed_precondition: Code.FailedPrecondition,
  aborted: Code.Aborted,
  resource_exhausted: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
  deadline_exceeded: Code.DeadlineExceeded,
  canceled: Code.Canceled,
  unimplemented: Code.Unimplemented,
  internal: Code.Internal,
} as const satisfies Record<ErrorKind, number>;

const kindByCode = namesByNumber(codeByKind);

/** The error as a client throws it: the reverse of `toStatusMessage`. The cause is for the log. */
export function fromStatusMessage({ code, message, details }: Status, cause?: Error): DomainError {
  const info = details.map((detail) => anyUnpack(detail, ErrorInfoSchema)).find((each) => each !== undefined);
  const badRequest = details.map((detail) => anyUnpack(detail, BadRequestSchema)).find((each) => each !== undefined);
  const retryInfo = details.map((detail) => anyUnpack(detail, RetryInfoSchema)).find((each) => each !== undefined);
  const violations = badRequest?.fieldViolations ?? [];
  // A code that we never send is a fault of ours.
  return new DomainError(kindByCode.get(code) ?? "internal", {
    reason: info?.reason ?? "",
    message,
    violations: violations.map(({ field, description }) => ({ path: field, message: description })),
    retryAfterMs: retryInfo?.retryDelay && durationMs(retryInfo.retryDelay),
    metadata: info?.metadata ?? {},
    cause,
  });
}
