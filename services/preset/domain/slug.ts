import { type FieldViolation, invalidRequest } from "../../platform/domain/domain-error.ts";
import { slugPattern, slugRule } from "../../platform/domain/limits.ts";

export function slugViolations(slug: string): FieldViolation[] {
  if (slugPattern.test(slug)) return [];
  return [{ path: "slug", message: `must be ${slugRule}` }];
}

export function checkSlug(slug: string): void {
  const violations = slugViolations(slug);
  if (violations.length > 0) throw invalidRequest(violations);
}
