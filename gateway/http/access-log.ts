import type { Principal } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { loggedCaller } from "../../services/platform/auth/logged-caller.ts";
import type { Logger } from "../../services/platform/observe/logger.ts";
import type { Metrics } from "../../services/platform/observe/metrics.ts";
import type { Span, Trace } from "../../services/platform/observe/trace.ts";

/** What the log line of some requests says beyond what that of every request does. */
export type LogDetails = Record<string, string | number | undefined>;

/** What is known about a request when it is over. Bytes that are not a request have neither a method nor a route. */
interface AccessEntry {
  readonly method?: string;
  readonly route?: string | undefined;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  readonly trace?: Trace | undefined;
  /** Undefined if its credential was not accepted, or not looked at. */
  readonly principal?: Principal | undefined;
  readonly details?: Readonly<LogDetails> | undefined;
  /** Logged only at level debug, and not counted: probes would dilute the part of the requests that fail. */
  readonly isQuiet?: boolean;
}

/** Writes a line of the log for every request, counts it in the metrics, and ends its span. */
export class AccessLog {
  readonly #logger: Logger;
  readonly #metrics: Metrics;

  constructor(logger: Logger, metrics: Metrics) {
    this.#logger = logger;
    this.#metrics = metrics;
  }

  record(entry: AccessEntry): void {
    const { method, route = "none", status, ms, requestId, trace, principal, details, isQuiet = false } = entry;
    if (!isQuiet) this.#metrics.requestHandled(operationOf(method, route, status), String(status), ms / 1000);
    this.#logger[isQuiet ? "debug" : "info"](
      {
        method,
        route,
        status,
        ms: Math.round(ms * 100) / 100,
        request_id: requestId,
        trace_id: trace?.traceId,
        ...(principal && loggedCaller(principal)),
        ...details,
      },
      "request",
    );
    if (trace?.span) endSpan(trace.span, method, route, status);
  }
}

/** Strangers may try every method on every path. Each would create another time series, which never goes away. */
function operationOf(method: string | undefined, route: string, status: number): string {
  if (method === undefined) return route;
  return `${status === methodNotAllowed ? "other" : method} ${route}`;
}

const methodNotAllowed = 405;

/** The route and not the path: nothing that a caller wrote is recorded. */
function endSpan(span: Span, method: string | undefined, route: string, status: number): void {
  span.set({ "http.request.method": method, "http.route": route, "http.response.status_code": status });
  span.end(status >= 500 ? String(status) : undefined);
}
