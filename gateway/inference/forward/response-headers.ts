import type { OutgoingHttpHeaders } from "node:http";
import { doNotRetry } from "../../json/http-error.ts";
import type { AnswerHeaders } from "../upstreams/answer-head.ts";
import type { HiddenSecret } from "../upstreams/hidden-secret.ts";

/**
 * The only upstream headers that a client receives. Length and encoding describe the bytes, which are passed on as they
 * are unless an error is decoded: an upstream that compresses although it was asked not to must still be understood.
 */
const passedOn = new Set([
  "content-encoding",
  "content-length",
  "content-type",
  "retry-after",
  "retry-after-ms",
  "x-generation-id",
  "x-should-retry",
]);
const passedOnPrefixes = ["x-ratelimit-", "openai-", "anthropic-"];
const eventStream = /^text\/event-stream\b/i;

/** Adds the upstream's allowed headers to `headers`, without its secrets. */
export function passOnHeaders(
  status: number,
  given: AnswerHeaders,
  headers: OutgoingHttpHeaders,
  secrets: readonly HiddenSecret[],
): void {
  const hidden = (text: string) => secrets.reduce((shown, secret) => secret.hiddenIn(shown), text);
  // It is the operator's credential that was refused. Unless the upstream says otherwise, only the operator can help.
  if (status === 401) Object.assign(headers, doNotRetry);
  for (const name in given) {
    if (!passedOn.has(name) && !passedOnPrefixes.some((prefix) => name.startsWith(prefix))) continue;
    const value = given[name];
    headers[name] = typeof value === "string" ? hidden(value) : value?.map(hidden);
  }
}

/** Whether an answer is a stream of events. */
export function isEventStream({ "content-type": type }: AnswerHeaders): boolean {
  return eventStream.test(typeof type === "string" ? type : (type?.[0] ?? ""));
}

/** Some servers name an encoding that is none, so that nothing between them and the client compresses a stream. */
export function isEncoded({ "content-encoding": encoding = "" }: AnswerHeaders): boolean {
  return typeof encoding !== "string" || !/^(?:identity|none)?$/i.test(encoding);
}

const longestWaitMs = 2_000;

/** How long an upstream asks to wait, if that is short enough to wait for here. */
export function shortWaitMs(given: AnswerHeaders): number | undefined {
  const value = given["retry-after"];
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  // Excludes anything that begins like neither seconds nor a date: Date.parse accepts nearly everything.
  if (!/^(\d+(\.\d+)?$|[a-z])/i.test(text)) return undefined;
  // A date in the header refers to the wall clock.
  const waitMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return waitMs <= longestWaitMs ? Math.max(0, waitMs) : undefined;
}
