import { create } from "@bufbuild/protobuf";
import { anyPack, durationFromMs } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../../proto/gen/google/rpc/error_details_pb.ts";
import { type Status, StatusSchema } from "../../../proto/gen/google/rpc/status_pb.ts";
import { DomainError, type FieldViolation } from "../domain/domain-error.ts";
import { Code } from "./codes.ts";
import { codeByKind } from "./status.ts";

const errorDomain = "setpoint";

/** Details travel in a header, and many clients refuse more than 8 KiB of those. What is left out is counted in the message. */
const violationBytesMax = 4_096;

/** The message is a header, too, of up to nine bytes for a character. */
const messageLengthMax = 1_000;

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
  return new ConnectError(truncated(thrown.message), codeByKind[thrown.kind], header, details, thrown.cause);
}

function truncated(message: string): string {
  return message.length > messageLengthMax ? `${message.slice(0, messageLengthMax)}…`.toWellFormed() : message;
}

/** The error as a message: what goes into `grpc-status-details-bin`, and into the outcomes of a batch. */
export function toStatusMessage(error: ConnectError): Status {
  const details = error.details.flatMap((detail) =>
    "desc" in detail ? [anyPack(detail.desc, create(detail.desc, detail.value))] : [],
  );
  return create(StatusSchema, { code: error.code, message: error.rawMessage, details });
}

function fittingCount(violations: readonly FieldViolation[]): number {
  let bytes = 0;
  const tooMany = violations.findIndex(({ path, message }) => {
    bytes += Buffer.byteLength(path) + Buffer.byteLength(message);
    return bytes > violationBytesMax;
  });
  return tooMany === -1 ? violations.length : tooMany;
}
