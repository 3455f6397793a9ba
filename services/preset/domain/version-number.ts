import { type FieldViolation, invalidRequest } from "../../platform/domain/domain-error.ts";

export function versionNumberViolations(path: string, version: number): FieldViolation[] {
  return version < 1 ? [{ path, message: "must be at least 1" }] : [];
}

export function checkVersionNumber(path: string, version: number): void {
  const violations = versionNumberViolations(path, version);
  if (violations.length > 0) throw invalidRequest(violations);
}
