import type { TSchema } from "typebox";
import { STATUS_CODES } from "../../services/platform/http/node-http.ts";
import { exampleRequestId } from "../json/error-schema.ts";
import { waitAsTold } from "../json/refusal-texts.ts";
import { Type } from "../json/schema-builder.ts";
import { componentSchema } from "../json/schema-parts.ts";

/** Headers of an answer, as a route describes them. */
type HeaderSchemas = Readonly<Record<string, TSchema>>;

export const requestId = Type.String({
  description: "Identifies the request. Taken from the caller's own `x-request-id` if that is well formed.",
});
/** Beside `x-request-id`, where errors have the shape of Anthropic's API. */
const anthropicRequestId = Type.String({ description: "The same, where Anthropic's clients look for it." });
const retryAfter: HeaderSchemas = {
  "Retry-After": Type.String({ description: "How many seconds to wait before trying again." }),
};
const rateLimit: HeaderSchemas = {
  "x-ratelimit-limit": Type.String({ description: "How many requests may come at once." }),
  "x-ratelimit-remaining": Type.String({ description: "How many of them are left." }),
  "x-ratelimit-reset": Type.String({ description: "In how many seconds all of them are available again." }),
};
const challenge: HeaderSchemas = {
  "WWW-Authenticate": Type.String({ description: "The required authentication scheme: `Bearer`." }),
};
export const etag = Type.String({
  description: "Identifies this state of the preset, for `If-Match` and `If-None-Match`.",
});

export const upstreamName = Type.String({ description: "Which upstream the request was sent to." });

export const noStore = Type.String({ description: "`no-store`: no cache on the way may keep a secret." });

/** An answer with `{"data": …}` or a page in it. */
export function success(description: string, schema: TSchema, headers: HeaderSchemas = {}) {
  return {
    description,
    headers: { ...headers, "x-request-id": requestId },
    content: { "application/json": { schema } },
  };
}

export function dataOf(name: string): TSchema {
  return Type.Object({ data: componentSchema(name) });
}

/** The answer to a deletion. */
export const deleted = success(
  "It was deleted.",
  Type.Object({ deleted: Type.Unsafe({ type: "boolean", const: true }) }),
);

/** An answer without a body. */
export function withoutBody(description: string, headers: HeaderSchemas) {
  return { description, headers: { ...headers, "x-request-id": requestId }, type: "null" };
}

interface Refusal {
  readonly when: string;
  /** What the example of the answer says. */
  readonly message: string;
  readonly issues?: readonly { readonly path: string; readonly message: string }[];
  readonly headers?: HeaderSchemas;
}

const refusals = {
  400: {
    when: "The body is malformed, or a field or parameter breaks its rule. Nothing was stored or sent.",
    message: "temperature must be at most 2",
    issues: [{ path: "temperature", message: "must be at most 2" }],
  },
  401: {
    when: "There is no key, or it is unknown, disabled, revoked or expired; or the operation needs a management key.",
    message: "Send your key in the header `Authorization: Bearer <key>`.",
    headers: challenge,
  },
  403: {
    when: "The key lacks the permission, as a read-only key does for a write.",
    message: "This key does not have the permission presets:write. Use a key that has it.",
  },
  404: {
    when: "There is no such preset, version, key, workspace, member or organization that the key has access to.",
    message: "There is no preset support-bot in this workspace. Check the slug, or create it first.",
  },
  409: {
    when: "The preset is archived; the last management key or admin would be lost; the user is already a member, or still has working keys; the idempotency key was used for another request, or has already created a key; or too many changes came at once.",
    message:
      'The preset support-bot is archived and takes no new version. Restore it first: PATCH /api/v1/presets/support-bot with {"status": "active"}.',
  },
  412: {
    when: "The preset has changed since the state that `If-Match` names, or does not exist; or it exists although `If-None-Match: *` was sent. Nothing was stored.",
    message: "The preset has changed since you read it. Read it again and repeat your change.",
  },
  413: { when: "The body is over the limit.", message: "The body is too large. Send one of at most 10485760 bytes." },
  415: {
    when: "The body is not `application/json`, or is compressed.",
    message: "Send JSON, with the header `Content-Type: application/json`.",
  },
  429: {
    when: "The key is over its rate limit or has too much in flight, the upstream is at its concurrency limit, or too many keys from this address were refused. Nothing was stored or sent. If a key has a rate limit, other answers have the `x-ratelimit` headers, too.",
    message: `This key is over its rate limit. ${waitAsTold}`,
    headers: { ...retryAfter, ...rateLimit },
  },
  500: {
    when: "An error on our side; the log has the details under the request id.",
    message: "Something went wrong on our side. Try again; if it happens again, report the request id.",
  },
  502: {
    when: "The upstream cannot be reached, broke off, or sent an answer that cannot be passed on.",
    message: "The upstream openai cannot be reached (ECONNREFUSED). Try again in a moment.",
    headers: { "x-setpoint-upstream": upstreamName },
  },
  503: {
    when: "A service or the database is out of reach or overloaded. Nothing was stored or sent, unless the database or the service went away during a commit.",
    message:
      "The service is out of reach or overloaded. Try again in a moment; with an Idempotency-Key, nothing is created twice.",
    headers: retryAfter,
  },
  504: {
    when: "The upstream did not answer in time.",
    message: "The upstream openai did not answer in time. Try again in a moment.",
    headers: { "x-setpoint-upstream": upstreamName },
  },
} satisfies Record<number, Refusal>;

type RefusalStatus = keyof typeof refusals;

/** The errors that every operation may answer. */
const everywhere = [401, 429, 500, 503] as const satisfies RefusalStatus[];

/** The errors of an operation, in addition to those of every operation. */
export function refusedWith(...statuses: readonly RefusalStatus[]) {
  return Object.fromEntries(
    [...statuses, ...everywhere].map((status) => [status, { $ref: `#/components/responses/${refusalName(status)}` }]),
  );
}

/** The same where errors have the shape of Anthropic's API. */
export function refusedInAnthropicShape(...statuses: readonly RefusalStatus[]) {
  return Object.fromEntries(
    [...statuses, ...everywhere].map((status) => [
      status,
      {
        description: refusals[status].when,
        headers: { ...headersOf(refusals[status]), "request-id": anthropicRequestId },
        content: { "application/json": { schema: componentSchema("AnthropicError") } },
      },
    ]),
  );
}

/** The errors by their names in the API description. */
export const refusalComponents = Object.fromEntries(
  Object.entries<Refusal>(refusals).map(([status, refusal]) => [
    refusalName(status),
    refusalComponent(Number(status), refusal),
  ]),
);

function refusalName(status: string | number): string {
  return String(STATUS_CODES[status]).replaceAll(" ", "");
}

function headersOf({ headers }: Refusal): HeaderSchemas {
  return { "x-request-id": requestId, ...headers };
}

function refusalComponent(code: number, refusal: Refusal) {
  const { when, message, issues } = refusal;
  const metadata = { request_id: exampleRequestId, ...(issues ? { issues } : {}) };
  const headers = Object.entries(headersOf(refusal));
  return {
    description: when,
    headers: Object.fromEntries(headers.map(([name, schema]) => [name, header(schema)])),
    content: {
      "application/json": {
        schema: componentSchema("Error"),
        example: { error: { code, message, metadata } },
      },
    },
  };
}

/** A header in the form of the API description; for the answers of a route, the plugin does this. */
function header({ description, ...schema }: TSchema & { description?: string }) {
  return { description, schema };
}
