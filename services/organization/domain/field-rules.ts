import type { FieldViolation } from "../../platform/domain/domain-error.ts";
import { isName } from "./organizations.ts";

const nameLengthMax = 255;

/** A name that people give; characters are counted as people count them. */
export function nameViolations(path: string, name: string, lengthMax = nameLengthMax): FieldViolation[] {
  if (isName(name) && [...name].length <= lengthMax) return [];
  return [{ path, message: `must be 1 to ${lengthMax} characters, not only spaces, without line breaks and the like` }];
}

export function futureViolations(path: string, time: Date, now: Date): FieldViolation[] {
  return time.getTime() > now.getTime() && time.getTime() <= latestTimeMs ? [] : [{ path, message: "must be to come" }];
}

/** What the database can hold. */
const latestTimeMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
