import type { IncomingHttpHeaders } from "node:http";
import { invalidRequest } from "../../services/platform/domain/domain-error.ts";
import { newId } from "../../services/platform/domain/ids.ts";
import { requestIdLengthMax, requestIdPattern } from "../../services/platform/domain/limits.ts";
import { Type } from "./schema-builder.ts";

const rule = `1 to ${requestIdLengthMax} printable ASCII characters`;

function header(description: string) {
  const key = Type.String({ pattern: requestIdPattern.source, description: `${rule}. ${description}` });
  return { "Idempotency-Key": Type.Optional(key) };
}

/** For every call that stores something. */
export const idempotencyHeader = header(
  "Repeating a request with the same key returns the first answer and stores nothing; another request with that key is 409.",
);

/** For a call with no other headers of its own. */
export const repeatableHeaders = Type.Object(idempotencyHeader);

/** For a call that creates a secret, which is shown once. */
export const secretRepeatableHeaders = Type.Object(
  header(
    "Repeating a request with the same key within 24 hours is 409 and names the hash of the key that was created: no second key is created, and a secret is never shown twice. Another request with that key is 409, too.",
  ),
);

/** The id of a request that stores something: the caller's own, if it has one. */
export function requestIdFrom(headers: IncomingHttpHeaders): string {
  return idempotencyKeyFrom(headers) ?? newId();
}

/** The caller's own id for a request, if it has one. */
export function idempotencyKeyFrom(headers: IncomingHttpHeaders): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key === "string" && requestIdPattern.test(key)) return key;
  throw invalidRequest([{ path: "Idempotency-Key", message: `must be ${rule}` }]);
}
