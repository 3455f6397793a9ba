import { doNotRetry, HttpError, nothingLeft, retryAfterSeconds, tooManyRequests } from "../../json/http-error.ts";
import { waitAsTold } from "../../json/refusal-texts.ts";
import { MalformedAnswer } from "../upstreams/answer-head.ts";
import type { Upstream } from "../upstreams/upstreams.ts";

/** How a call to an upstream failed. */
export type FailureKind =
  /** No connection: nothing was sent. */
  | "unreachable"
  /** An idle connection was closed as the request was sent: nothing of it was processed. */
  | "stale_connection"
  /** The connection broke, so it is not known how far the request got. */
  | "broken"
  | "timeout"
  /** Its answer cannot be passed on. */
  | "bad_answer"
  /** It answered with an error that another attempt may not get. */
  | "refused"
  /** It is at its concurrency limit. */
  | "full"
  /** This process is shutting down. */
  | "stopping";

export interface Failure {
  readonly kind: FailureKind;
  /** What happened, to be read after "The upstream x". It contains no address and no value. */
  readonly reason: string;
  /** Of the operating system or of TLS, if there was no connection. */
  readonly code?: string;
}

export const stopping: Failure = { kind: "stopping", reason: "was not waited for any longer: this gateway stops" };

const statuses: Readonly<Record<FailureKind, number>> = {
  unreachable: 502,
  stale_connection: 502,
  broken: 502,
  timeout: 504,
  bad_answer: 502,
  refused: 502,
  full: 429,
  stopping: 503,
};

export function statusOf({ kind }: Failure): number {
  return statuses[kind];
}

/** The error for a client to which nothing has been sent yet. */
export function failureError(failure: Failure, { name, concurrencyMax }: Upstream): HttpError {
  const headers = { "x-setpoint-upstream": name };
  const message = `The upstream ${name} ${failure.reason}.`;
  const status = statusOf(failure);
  const fault = permanentFaultOf(failure);
  if (fault) return new HttpError(status, `${message} ${fault}`, { ...headers, ...doNotRetry });
  if (failure.code === "ENOTFOUND") return new HttpError(status, `${message} ${maybeWrongAddress}`, headers);
  if (status !== 429 && status !== 503) return new HttpError(status, `${message} Try again in a moment.`, headers);
  const wait = `${message} ${waitAsTold}`;
  if (status === 503) return new HttpError(status, wait, { ...headers, "retry-after": retryAfterSeconds });
  return tooManyRequests(wait, nothingLeft(concurrencyMax), headers);
}

const maybeWrongAddress = "Whoever runs this gateway may have to change its address.";

/** What has to be mended; undefined if waiting may help, as it may with a name that has no address at the moment. */
function permanentFaultOf({ kind, code = "" }: Failure): string | undefined {
  if (kind === "bad_answer" || code === "ERR_SSL_WRONG_VERSION_NUMBER") return maybeWrongAddress;
  if (wrongCertificate.test(code)) return "Whoever runs this gateway has to check its certificate.";
  return undefined;
}

const wrongCertificate = /CERT|SIGNATURE|^HOSTNAME_|^INVALID_/;

/** A code of the operating system or of TLS, such as that of a certificate that is not trusted. */
const saneCode = /^[A-Z][A-Z0-9_]{1,63}$/;

/** How far a call had got. */
interface CallProgress {
  /** At least a part of the request was sent. */
  readonly isSent: boolean;
  /** It was sent just now, on a reused connection. */
  readonly mayBeStale: boolean;
  /** Something came back. */
  readonly hasReceived: boolean;
  /** The head of an answer came back. */
  readonly isAnswered: boolean;
}

/** What a transport error means. */
export function failureOf(error: Error, { isSent, mayBeStale, hasReceived, isAnswered }: CallProgress): Failure {
  const code = String((error as NodeJS.ErrnoException).code ?? "");
  if (!isSent) {
    const detail = saneCode.test(code) ? ` (${code})` : "";
    return { kind: "unreachable", reason: `cannot be reached${detail}`, code };
  }
  if (!isAnswered && error instanceof MalformedAnswer) {
    return { kind: "bad_answer", reason: `did not answer in HTTP (${error.message})` };
  }
  if (mayBeStale && !hasReceived)
    return { kind: "stale_connection", reason: "closed the connection without an answer" };
  return { kind: "broken", reason: hasReceived ? "broke off its answer" : "closed the connection without an answer" };
}
