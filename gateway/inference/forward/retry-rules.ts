import type { AnswerHeaders } from "../upstreams/answer-head.ts";
import type { Upstream } from "../upstreams/upstreams.ts";
import type { Failure } from "./failures.ts";
import { shortWaitMs } from "./response-headers.ts";

/** Statuses that say: not now. Nothing was generated, so nothing is billed. */
const refusals = new Set([429, 503, 529]);
/** Statuses of faults, after which it is not known whether something is billed. */
const faults = new Set([500, 502, 504]);

/** Whether a request that failed like this may be sent again: nobody has looked at it, or the operator allows it. */
export function mayRetry({ kind }: Failure, { mayRetryAny }: Upstream): boolean {
  if (kind === "unreachable" || kind === "stale_connection") return true;
  return kind === "broken" && mayRetryAny;
}

/** After how long a request with such an answer may be sent again; undefined if it may not. */
export function retryWaitMs(status: number, headers: AnswerHeaders, { mayRetryAny }: Upstream): number | undefined {
  if (refusals.has(status)) return shortWaitMs(headers);
  return faults.has(status) && mayRetryAny ? 0 : undefined;
}

/** Whether another model might do better. What is wrong with a request itself is wrong everywhere. */
export function mayBeServedByAnother(status: number): boolean {
  return status >= 500 || status === 402 || status === 404 || status === 408 || status === 429;
}
