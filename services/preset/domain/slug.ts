import { containsKey } from "../../platform/auth/key-format.ts";
import { type FieldViolation, invalidRequest } from "../../platform/domain/domain-error.ts";
import { slugPattern, slugRule } from "../../platform/domain/limits.ts";

export function slugViolations(slug: string): FieldViolation[] {
  if (slugPattern.test(slug)) return [];
  return [{ path: "slug", message: `must be ${slugRule}` }];
}

/**
 * For a creation. Slugs are part of addresses, which get into the logs of clients and proxies, so a key must not become
 * one. An existing preset with such a slug can be read and changed, but gets no new versions.
 */
export function newSlugViolations(slug: string): FieldViolation[] {
  if (!containsKey(slug)) return slugViolations(slug);
  return [...slugViolations(slug), { path: "slug", message: keyInSlug }];
}

const keyInSlug =
  "must not contain a secret such as a key (sk-sp-v1-…): choose another slug, and if the key is in use, rotate it";

export function checkSlug(slug: string): void {
  const violations = slugViolations(slug);
  if (violations.length > 0) throw invalidRequest(violations);
}
