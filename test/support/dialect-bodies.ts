import type { Dialect } from "../../gateway/dialects/dialect.ts";
import { readBody } from "../../gateway/dialects/read-body.ts";
import { DomainError } from "../../services/platform/domain/domain-error.ts";

/** The violations in a body; empty if it is accepted. */
export function violationsOf(dialect: Dialect, body: unknown) {
  return violationsOfText(dialect, JSON.stringify(body));
}

export function violationsOfText(dialect: Dialect, text: string) {
  try {
    readBody(dialect, text);
  } catch (error) {
    if (error instanceof DomainError) return error.violations;
    throw error;
  }
  return [];
}

export function configOf(dialect: Dialect, body: unknown): Record<string, unknown> {
  return JSON.parse(readBody(dialect, JSON.stringify(body)).configJson);
}
