import type { FieldViolation } from "../../platform/domain/domain-error.ts";
import { requestIdLengthMax, requestIdPattern } from "../../platform/domain/limits.ts";
import { isName } from "./organizations.ts";

const nameLengthMax = 255;

/** A name that people give; characters are counted as people count them. */
export function nameViolations(path: string, name: string, lengthMax = nameLengthMax): FieldViolation[] {
  if (isName(name) && [...name].length <= lengthMax) return [];
  return [{ path, message: `must be 1 to ${lengthMax} characters, not only spaces, without line breaks and the like` }];
}

/** A text that may be empty. */
export function textViolations(path: string, text: string, lengthMax: number): FieldViolation[] {
  if ([...text].length <= lengthMax) return [];
  return [{ path, message: `must have at most ${lengthMax} characters` }];
}

export function futureViolations(path: string, time: Date, now: Date): FieldViolation[] {
  return time.getTime() > now.getTime() && time.getTime() <= latestTimeMs ? [] : [{ path, message: "must be to come" }];
}

/** What the database can hold. */
const latestTimeMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Empty counts as not given. */
export function requestIdViolations(requestId: string): FieldViolation[] {
  if (requestId === "" || requestIdPattern.test(requestId)) return [];
  return [{ path: "request_id", message: `must be at most ${requestIdLengthMax} printable ASCII characters` }];
}
