import { type FieldViolation, invalidRequest } from "./domain-error.ts";

/** One page of a list. */
export interface Page {
  readonly offset: number;
  readonly limit: number;
}

export const pageLimitDefault = 50;
export const pageLimitMax = 100;

/** A page as an RPC asks for it, where 0 means the default limit. Never clamps: clients stop paging on a short page. */
export function pageFrom(request: { readonly offset: number; readonly limit: number }): Page {
  const limit = request.limit === 0 ? pageLimitDefault : request.limit;
  const violations: FieldViolation[] = [];
  if (request.offset < 0) violations.push({ path: "offset", message: "must be at least 0" });
  if (limit < 1) violations.push({ path: "limit", message: "must be at least 1" });
  if (limit > pageLimitMax) violations.push({ path: "limit", message: `must be at most ${pageLimitMax}` });
  if (violations.length > 0) throw invalidRequest(violations);
  return { offset: request.offset, limit };
}
