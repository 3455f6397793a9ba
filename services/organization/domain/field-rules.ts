import type { FieldViolation } from "../../platform/domain/domain-error.ts";
import { nameLengthMax } from "../../platform/domain/limits.ts";
import { isLongerThan } from "../../platform/domain/text-violations.ts";

/**
 * The rule for every name that people choose: at least one character and at most `lengthMax`, not only spaces, and no
 * control characters.
 */
export function isName(text: string, lengthMax = nameLengthMax): boolean {
  return text.trim() !== "" && !isLongerThan(text, lengthMax) && !/\p{Cc}/u.test(text);
}

export function nameViolations(path: string, name: string, lengthMax = nameLengthMax): FieldViolation[] {
  if (isName(name, lengthMax)) return [];
  return [
    {
      path,
      message: `must be 1 to ${lengthMax} characters, not only spaces, without control characters such as line breaks`,
    },
  ];
}

export function futureViolations(path: string, time: Date, now: Date): FieldViolation[] {
  return time.getTime() > now.getTime() && time.getTime() <= latestTimeMs
    ? []
    : [{ path, message: "must be in the future" }];
}

/** What the database can hold. */
const latestTimeMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
