import type { FieldViolation } from "../../platform/domain-error.ts";

/** Empty counts as not given. */
export function requestIdViolations(requestId: string): FieldViolation[] {
  if (/^[\x20-\x7e]{0,255}$/.test(requestId)) return [];
  return [{ path: "request_id", message: "must be at most 255 printable ASCII characters" }];
}
