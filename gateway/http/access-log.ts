import type { Logger } from "../../services/platform/observe/logger.ts";
import type { Metrics } from "../../services/platform/observe/metrics.ts";

/** What is known of a request when it is over. Bytes that are no request have neither a method nor a route. */
interface AccessEntry {
  readonly method?: string;
  readonly route?: string | undefined;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  /** Not worth a line in the log of every day. */
  readonly isQuiet?: boolean;
}

/** One line in the log and one count in the metrics for every request. */
export class AccessLog {
  readonly #logger: Logger;
  readonly #metrics: Metrics;

  constructor(logger: Logger, metrics: Metrics) {
    this.#logger = logger;
    this.#metrics = metrics;
  }

  record({ method, route = "none", status, ms, requestId, isQuiet = false }: AccessEntry): void {
    this.#metrics.requestHandled(method === undefined ? route : `${method} ${route}`, String(status), ms / 1000);
    this.#logger[isQuiet ? "debug" : "info"](
      { method, route, status, ms: Math.round(ms * 100) / 100, request_id: requestId },
      "request",
    );
  }
}
