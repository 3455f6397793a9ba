import { type FieldViolation, invalidRequest } from "../../platform/domain-error.ts";

const batchMax = 100;

/** Checks how many parts a batch has, and that there is an access token for each or for none. */
export function checkBatch(path: string, parts: readonly unknown[], accessTokens: readonly string[]): void {
  const violations: FieldViolation[] = [];
  if (parts.length < 1 || parts.length > batchMax) {
    violations.push({ path, message: `must have 1 to ${batchMax} elements` });
  }
  if (accessTokens.length > 0 && accessTokens.length !== parts.length) {
    violations.push({ path: "access_tokens", message: `must be empty, or have one element for each of ${path}` });
  }
  if (violations.length > 0) throw invalidRequest(violations);
}
