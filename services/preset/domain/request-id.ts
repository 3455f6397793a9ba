import type { FieldViolation } from "../../platform/domain/domain-error.ts";
import { requestIdLengthMax, requestIdPattern } from "../../platform/domain/limits.ts";

/** Empty counts as not given. */
export function requestIdViolations(requestId: string): FieldViolation[] {
  if (requestId === "" || requestIdPattern.test(requestId)) return [];
  return [{ path: "request_id", message: `must be at most ${requestIdLengthMax} printable ASCII characters` }];
}
