import { type FieldViolation, invalidRequest } from "../../platform/domain-error.ts";

const slugPattern = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/;

export function slugViolations(slug: string): FieldViolation[] {
  if (slugPattern.test(slug)) return [];
  const message = "must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ -, with a letter or digit first";
  return [{ path: "slug", message }];
}

export function checkSlug(slug: string): void {
  const violations = slugViolations(slug);
  if (violations.length > 0) throw invalidRequest(violations);
}
