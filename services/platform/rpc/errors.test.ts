import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../../proto/gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../../proto/gen/google/rpc/status_pb.ts";
import { DomainError, type ErrorKind, invalidRequest } from "../domain/domain-error.ts";
import { toRpcError, toStatusMessage } from "./errors.ts";
import { fromStatusMessage } from "./status.ts";

const kinds: [ErrorKind, Code][] = [
  ["invalid_argument", Code.InvalidArgument],
  ["unauthenticated", Code.Unauthenticated],
  ["permission_denied", Code.PermissionDenied],
  ["not_found", Code.NotFound],
  ["already_exists", Code.AlreadyExists],
  ["failed_precondition", Code.FailedPrecondition],
  ["aborted", Code.Aborted],
  ["resource_exhausted", Code.ResourceExhausted],
  ["unavailable", Code.Unavailable],
  ["deadline_exceeded", Code.DeadlineExceeded],
  ["canceled", Code.Canceled],
  ["unimplemented", Code.Unimplemented],
  ["internal", Code.Internal],
];

describe("toRpcError", () => {
  it.each(kinds)("maps %s to its code and back", (kind, code) => {
    const error = toRpcError(new DomainError(kind, { reason: "REASON", message: "A sentence." }));
    expect([error.code, error.rawMessage]).toEqual([code, "A sentence."]);
    expect(fromStatusMessage(toStatusMessage(error)).kind).toBe(kind);
  });

  it("includes the reason and the domain", () => {
    const error = toRpcError(new DomainError("not_found", { reason: "PRESET_NOT_FOUND", message: "None." }));
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: "PRESET_NOT_FOUND", domain: "setpoint" }]);
    expect(error.findDetails(BadRequestSchema)).toEqual([]);
  });

  it("includes every violation", () => {
    const error = toRpcError(invalidRequest([{ path: "slug", message: "is required" }]));
    expect(error.findDetails(BadRequestSchema)).toMatchObject([
      { fieldViolations: [{ field: "slug", description: "is required" }] },
    ]);
  });

  it("includes no more violations than fit into a header", () => {
    const violations = Array.from({ length: 1_000 }, (_, n) => ({
      path: `é-${n}`,
      message: "is not a field that is known",
    }));
    const error = toRpcError(invalidRequest(violations));
    const told = error.findDetails(BadRequestSchema)[0]?.fieldViolations ?? [];
    expect(told.length).toBeGreaterThan(50);
    expect(Buffer.byteLength(told.map(({ field, description }) => field + description).join(""))).toBeLessThan(4_097);
    expect(error.rawMessage).toContain("(and 999 more)");
  });

  it("truncates a message to fit into a header, without splitting a character", () => {
    const error = toRpcError(
      new DomainError("not_found", { reason: "REASON", message: `a${"\u{1f600}".repeat(50_000)}` }),
    );
    expect(encodeURI(error.rawMessage).length).toBeLessThan(10_000);
    expect(error.rawMessage.isWellFormed()).toBe(true);
  });

  it.each([new Error("inside"), "inside", undefined])("hides any other error, and keeps it for the log", (thrown) => {
    const error = toRpcError(thrown);
    expect([error.code, error.rawMessage, error.details]).toEqual([Code.Internal, "internal error", []]);
    expect(error.cause).toBe(thrown);
  });
});

describe("fromStatusMessage", () => {
  it("restores what the service threw", () => {
    const thrown = invalidRequest([{ path: "slug", message: "is required" }]);
    const { kind, reason, message, violations } = thrown;
    expect(fromStatusMessage(toStatusMessage(toRpcError(thrown)))).toMatchObject({ kind, reason, message, violations });
  });

  it.each([Code.Unknown, Code.DataLoss, Code.OutOfRange, 99])(
    "maps the unexpected code %d to an internal error",
    (code) => {
      expect(fromStatusMessage(create(StatusSchema, { code, message: "odd" })).kind).toBe("internal");
    },
  );
});
