import { create } from "@bufbuild/protobuf";
import { anyPack, anyUnpack, durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../../proto/gen/google/rpc/error_details_pb.ts";
import { type Status, StatusSchema } from "../../../proto/gen/google/rpc/status_pb.ts";
import { DomainError, type ErrorKind, type FieldViolation } from "../domain/domain-error.ts";

/** The one table from the kind of a domain error to its RPC code. */
const codeByKind: Readonly<Record<ErrorKind, Code>> = {
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
};

const kindByCode = new Map(Object.entries(codeByKind).map(([kind, code]) => [code as number, kind as ErrorKind]));

/** The same table read backwards, by a client. A code that we never send is a fault of ours. */
function kindOfCode(code: number): ErrorKind {
  return kindByCode.get(code) ?? "internal";
}

const errorDomain = "setpoint";

/** Details travel in a header, and many clients refuse more than 8 KiB of those. What is left out is counted in the message. */
const violationBytesMax = 4_096;

/**
 * What a caller may see of anything that was thrown. Only a DomainError speaks for itself; all else is an
 * "internal error" whose cause stays here for the log.
 */
export function toRpcError(thrown: unknown): ConnectError {
  if (!(thrown instanceof DomainError)) {
    return new ConnectError("internal error", Code.Internal, undefined, undefined, thrown);
  }
  const { retryAfterMs } = thrown;
  const info = create(ErrorInfoSchema, {
    reason: thrown.reason,
    domain: errorDomain,
    metadata: { ...thrown.metadata },
  });
  const fieldViolations = thrown.violations
    .slice(0, fittingCount(thrown.violations))
    .map(({ path, message }) => ({ field: path, description: message }));
  const details = [
    { desc: ErrorInfoSchema, value: info },
    ...(fieldViolations.length > 0 ? [{ desc: BadRequestSchema, value: { fieldViolations } }] : []),
    ...(retryAfterMs === undefined
      ? []
      : [{ desc: RetryInfoSchema, value: { retryDelay: durationFromMs(retryAfterMs) } }]),
  ];
  // The header is for plain HTTP clients.
  const header = retryAfterMs === undefined ? undefined : { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
  return new ConnectError(thrown.message, codeByKind[thrown.kind], header, details, thrown.cause);
}

/** The error as a message: what goes into `grpc-status-details-bin`, and into the outcomes of a batch. */
export function toStatusMessage(error: ConnectError): Status {
  const details = error.details.flatMap((detail) =>
    "desc" in detail ? [anyPack(detail.desc, create(detail.desc, detail.value))] : [],
  );
  return create(StatusSchema, { code: error.code, message: error.rawMessage, details });
}

/** What a client makes of it. */
export function fromStatusMessage({ code, message, details }: Status, cause?: unknown): DomainError {
  const info = details.map((detail) => anyUnpack(detail, ErrorInfoSchema)).find((each) => each !== undefined);
  const badRequest = details.map((detail) => anyUnpack(detail, BadRequestSchema)).find((each) => each !== undefined);
  const retryInfo = details.map((detail) => anyUnpack(detail, RetryInfoSchema)).find((each) => each !== undefined);
  const violations = badRequest?.fieldViolations ?? [];
  return new DomainError(kindOfCode(code), {
    reason: info?.reason ?? "",
    message,
    violations: violations.map(({ field, description }) => ({ path: field, message: description })),
    retryAfterMs: retryInfo?.retryDelay && durationMs(retryInfo.retryDelay),
    metadata: info?.metadata ?? {},
    cause,
  });
}

function fittingCount(violations: readonly FieldViolation[]): number {
  let bytes = 0;
  const tooMany = violations.findIndex(({ path, message }) => {
    bytes += Buffer.byteLength(path) + Buffer.byteLength(message);
    return bytes > violationBytesMax;
  });
  return tooMany === -1 ? violations.length : tooMany;
}

/** The canonical spelling of a code, as gRPC and its metrics write it: `INVALID_ARGUMENT`. */
export function codeName(code: Code | undefined): string {
  if (code === undefined) return "OK";
  return Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}
