import type { AnswerHeaders } from "../upstreams/answer-head.ts";
import type { Upstream } from "../upstreams/upstreams.ts";
import type { Failure } from "./failures.ts";
import { shortWaitMs } from "./response-headers.ts";

/** Statuses that mean "not now". Nothing was generated, so nothing is billed. */
const refusals = new Set([429, 503, 529]);
/** Statuses after which it is not known whether something is billed. */
const faults = new Set([500, 502, 504]);

/** Whether a request that failed like this may be retried: it has not been processed, or the operator allows it. */
export function mayRetry({ kind }: Failure, { mayRetryAny }: Upstream): boolean {
  if (kind === "unreachable" || kind === "stale_connection") return true;
  return kind === "broken" && mayRetryAny;
}

/** How long to wait before a request with such an answer is retried; undefined if it may not be. */
export function retryWaitMs(status: number, headers: AnswerHeaders, { mayRetryAny }: Upstream): number | undefined {
  if (refusals.has(status)) return shortWaitMs(headers);
  return faults.has(status) && mayRetryAny ? 0 : undefined;
}

/** Whether another model might do better. A faulty request is faulty everywhere. */
export function mayBeServedByAnother(status: number): boolean {
  return status >= 500 || status === 402 || status === 404 || status === 408 || status === 429;
}
