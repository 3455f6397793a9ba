import type { IncomingHttpHeaders } from "node:http";
import type { Trace } from "../../../services/platform/observe/trace.ts";
import type { Upstream } from "../upstreams/upstreams.ts";

/** The only client headers that an upstream receives. */
const passedOn = new Set([
  "accept",
  "anthropic-beta",
  "anthropic-version",
  "content-type",
  "http-referer",
  "idempotency-key",
  "openai-beta",
  "x-title",
]);
const passedOnPrefix = "x-openrouter-";

/** The headers of the request to an upstream, as alternating names and values. */
export function requestHeaders(
  given: IncomingHttpHeaders,
  upstream: Upstream,
  byteLength: number,
  trace: Trace | undefined,
): string[] {
  const { credential, headers: own } = upstream;
  // A compressed stream would be delayed in the upstream's buffers.
  const headers = ["accept-encoding", "identity", "content-length", String(byteLength)];
  for (const name in given) {
    if (!passedOn.has(name) && !name.startsWith(passedOnPrefix)) continue;
    if (name in own || name === credential?.[0]) continue;
    const value = given[name];
    if (value !== undefined) headers.push(name, typeof value === "string" ? value : value.join(", "));
  }
  if (trace) {
    if (!("traceparent" in own)) headers.push("traceparent", trace.traceparent);
    if (trace.tracestate !== undefined && !("tracestate" in own)) headers.push("tracestate", trace.tracestate);
  }
  for (const name in own) {
    if (name !== credential?.[0]) headers.push(name, own[name] as string);
  }
  if (credential) headers.push(credential[0], credential[1]);
  return headers;
}
