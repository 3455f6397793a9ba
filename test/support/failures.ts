import { fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import type { ConnectError } from "@connectrpc/connect";
import type { ServiceError } from "@grpc/grpc-js";
import { BadRequestSchema, ErrorInfoSchema } from "../../proto/gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../proto/gen/google/rpc/status_pb.ts";
import { codeName } from "../../services/platform/rpc/codes.ts";

/** The parts of an error that every client sees. */
export interface Failure {
  /** The canonical name: `INVALID_ARGUMENT`. */
  readonly code: string;
  readonly message: string;
  readonly reason: string | undefined;
  readonly domain: string | undefined;
  readonly violations: readonly { readonly field: string; readonly description: string }[];
  /** Only if there is any. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export function failureFromGrpc(error: ServiceError): Failure {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  const details = bytes instanceof Buffer ? fromBinary(StatusSchema, bytes).details : [];
  const info = details.map((detail) => anyUnpack(detail, ErrorInfoSchema)).find(Boolean);
  const badRequest = details.map((detail) => anyUnpack(detail, BadRequestSchema)).find(Boolean);
  return failure(error.code, error.details, info, badRequest);
}

export function failureFromConnect(error: ConnectError): Failure {
  const [info] = error.findDetails(ErrorInfoSchema);
  const [badRequest] = error.findDetails(BadRequestSchema);
  return failure(error.code, error.rawMessage, info, badRequest);
}

function failure(
  code: number,
  message: string,
  info: MessageShape<typeof ErrorInfoSchema> | undefined,
  badRequest: MessageShape<typeof BadRequestSchema> | undefined,
): Failure {
  const violations = badRequest?.fieldViolations.map(({ field, description }) => ({ field, description })) ?? [];
  const metadata = info && Object.keys(info.metadata).length > 0 ? { metadata: info.metadata } : {};
  return { code: codeName(code), message, reason: info?.reason, domain: info?.domain, violations, ...metadata };
}

/** For a call that must fail. */
export function failureOf(call: Promise<unknown>): Promise<Failure> {
  return call.then(
    () => Promise.reject(new Error("the call succeeded")),
    (failure: Failure) => failure,
  );
}
