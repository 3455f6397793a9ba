import { redactKeys } from "../../services/platform/auth/key-format.ts";
import {
  DomainError,
  type ErrorKind,
  type FieldViolation,
  invalidRequest,
} from "../../services/platform/domain/domain-error.ts";
import { anthropicErrorType } from "./anthropic-error.ts";
import { doNotRetry, HttpError, nothingLeft, retryAfterSeconds, tooManyRequests } from "./http-error.ts";

/** The one table from the kind of an error, which is its RPC code, to its HTTP status. */
const statusByKind: Readonly<Record<ErrorKind, number>> = {
  invalid_argument: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  already_exists: 409,
  aborted: 409,
  failed_precondition: 409,
  resource_exhausted: 429,
  unavailable: 503,
  deadline_exceeded: 503,
  canceled: 500,
  unimplemented: 500,
  internal: 500,
};

/** Reasons whose status differs from that of their kind. */
const statusByReason: Readonly<Record<string, number>> = {
  ETAG_STALE: 412,
  // OpenRouter's clients know no 409 for workspaces.
  SLUG_TAKEN: 400,
  WORKSPACE_HAS_KEYS: 400,
  WORKSPACE_IS_DEFAULT: 400,
  WORKSPACE_MEMBER_HAS_KEYS: 400,
};

/** Fields of the services' contract that have another name in the REST API. */
const publicPaths = new Map([
  ["etags", "If-Match"],
  ["expire_time", "expires_at"],
  ["statuses", "status"],
]);

/** What a caller is told about an error. */
interface PublicParts {
  readonly status: number;
  readonly message: string;
  readonly violations: readonly FieldViolation[];
  readonly headers: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** What is sent for an error. */
interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A 409 may be retried only if a change was aborted. */
const headersByKind: Readonly<Partial<Record<ErrorKind, Readonly<Record<string, string>>>>> = {
  unauthenticated: { "www-authenticate": "Bearer", ...doNotRetry },
  already_exists: doNotRetry,
  failed_precondition: doNotRetry,
};

/** `own`: our shape. `inference`: the same, on inference routes. `anthropic`: there, the shape of Anthropic's API. */
export type ErrorShape = "own" | "inference" | "anthropic";

/** The answer to anything that was thrown. For a fault of ours, it reveals nothing but the request id. */
export function errorAnswer(thrown: unknown, requestId: string, shape: ErrorShape = "own"): ErrorAnswer {
  const publicError = publicParts(thrown);
  const parts = publicError === outOfReach && shape !== "own" ? outOfReachOfInference : publicError;
  const isAnthropic = shape === "anthropic";
  const body = isAnthropic ? anthropicBody(parts, requestId) : errorBody(parts, requestId);
  // Where Anthropic's clients look for it.
  const headers = isAnthropic ? { ...parts.headers, "request-id": requestId } : parts.headers;
  // A message may contain a path, a slug or a field into which the caller has put its key.
  return { status: parts.status, headers, body: redactKeys(body) };
}

function publicParts(thrown: unknown): PublicParts {
  if (thrown instanceof HttpError) return thrown;
  if (!(thrown instanceof DomainError)) return (isFastifyError(thrown) && fastifyErrors[thrown.code]) || internalError;
  const status = statusByReason[thrown.reason] ?? statusByKind[thrown.kind];
  if (status === 500) return internalError;
  if (status === 503) return outOfReach;
  const { message, violations, metadata } = withPublicPaths(thrown);
  // A service does not report its limit.
  const headers =
    status === 429 ? tooManyRequests(message, nothingLeft(0)).headers : (headersByKind[thrown.kind] ?? {});
  return { status, message, violations, headers, metadata };
}

function withPublicPaths(error: DomainError): DomainError {
  if (!error.violations.some(({ path }) => publicPaths.has(path))) return error;
  return invalidRequest(
    error.violations.map(({ path, message }) => ({ path: publicPaths.get(path) ?? path, message })),
  );
}

/** Errors of Fastify itself. */
const fastifyErrors: Readonly<Record<string, PublicParts>> = {
  FST_ERR_BAD_URL: refusal(400, "The path is not valid: check its percent-encoding.", [
    { path: "", message: "has a path that is not valid percent-encoding" },
  ]),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: refusal(400, "The body is not as long as its Content-Length says.", [
    { path: "Content-Length", message: "must be the length of the body" },
  ]),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: refusal(415, "Send JSON, with the header `Content-Type: application/json`."),
};

function isFastifyError(thrown: unknown): thrown is { code: string } {
  return (
    thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" && thrown.code.startsWith("FST_")
  );
}

function refusal(status: number, message: string, violations: readonly FieldViolation[] = []): PublicParts {
  return { status, message, violations, headers: {} };
}

const internalError: PublicParts = {
  status: 500,
  message: "Something went wrong on our side. Try again; if it happens again, report the request id.",
  violations: [],
  headers: {},
};

/**
 * Transport errors name hosts and ports, so none of their text is passed on. Whether anything was stored is not always
 * known: the last answer of a database that went away may have been lost.
 */
const outOfReach: PublicParts = {
  status: 503,
  message:
    "The service is out of reach or overloaded. Try again in a moment; with an Idempotency-Key, nothing is created twice.",
  violations: [],
  headers: { "retry-after": retryAfterSeconds },
};

/** Inference stores nothing, and forwards a request only when it has everything that it needs. */
const outOfReachOfInference: PublicParts = {
  ...outOfReach,
  message: "The service is out of reach or overloaded. Nothing was sent to an upstream. Try again in a moment.",
};

function errorBody({ status, message, violations, metadata }: PublicParts, requestId: string): string {
  const issues = violations.length > 0 ? { issues: violations } : {};
  const error = { code: status, message, metadata: { ...metadata, request_id: requestId, ...issues } };
  return JSON.stringify({ error });
}

function anthropicBody({ status, message }: PublicParts, requestId: string): string {
  const error = { type: anthropicErrorType(status), message };
  return JSON.stringify({ type: "error", error, request_id: requestId });
}
