import type { Agent } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent as HttpAgent, request as requestHttp } from "../http/node-http.ts";
import { monotonicMs } from "../time/clock.ts";
import type { TracesConfig } from "./traces-config.ts";

/** For all attempts together. */
const sendTimeoutMs = 10_000;
const pauseFirstMs = 1_000;
const pauseGrowth = 1.5;

/** Statuses after which a collector may do better in a moment, according to OTLP. */
const retryableStatuses = new Set([429, 502, 503, 504]);

/** Why something could not be sent. It contains nothing that the collector wrote. */
class CollectorFault extends Error {
  override readonly name = "CollectorFault";
  readonly code: string | number | undefined;
  readonly isRetryable: boolean;
  /** Undefined: the collector does not say. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, code: string | number | undefined, isRetryable: boolean, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.isRetryable = isRetryable;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Sends OTLP over HTTP, in JSON. */
export class CollectorClient {
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #request: typeof requestHttp;
  readonly #agent: Agent;
  readonly #retriesStopped = new AbortController();

  constructor({ url, headers }: Pick<TracesConfig, "url" | "headers">) {
    this.#url = new URL(url);
    this.#headers = { ...headers, "content-type": "application/json", "user-agent": "setpoint" };
    const isSecure = this.#url.protocol === "https:";
    this.#request = isSecure ? requestHttps : requestHttp;
    this.#agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true });
  }

  /** Throws CollectorFault where the collector does not take it. */
  async send(body: string): Promise<void> {
    const deadlineMs = monotonicMs() + sendTimeoutMs;
    for (let attempt = 0; ; attempt += 1) {
      const fault = await this.#post(body, deadlineMs - monotonicMs());
      if (!fault) return;
      // At least our own pause: a collector that says 0 with every answer would be asked without a pause.
      const ownPauseMs = pauseFirstMs * pauseGrowth ** attempt * (0.8 + 0.4 * Math.random());
      const pauseMs = Math.max(ownPauseMs, fault.retryAfterMs ?? 0);
      const hasTime = monotonicMs() + pauseMs < deadlineMs && !this.#retriesStopped.signal.aborted;
      if (!fault.isRetryable || !hasTime) throw fault;
      await sleep(pauseMs, undefined, { ref: false, signal: this.#retriesStopped.signal }).catch(() => {});
    }
  }

  #post(body: string, timeoutMs: number): Promise<CollectorFault | undefined> {
    return new Promise((resolve) => {
      const signal = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)));
      const options = { method: "POST", agent: this.#agent, headers: this.#headers, signal };
      const request = this.#request(this.#url, options, (response) => {
        // Its body is of no use to us, and may break off.
        response.on("error", () => {}).resume();
        const { statusCode = 0, headers } = response;
        if (statusCode >= 200 && statusCode < 300) return resolve(undefined);
        const isRetryable = retryableStatuses.has(statusCode);
        const message = `The collector answered ${statusCode}`;
        resolve(new CollectorFault(message, statusCode, isRetryable, secondsIn(headers["retry-after"])));
      });
      request.on("error", (error: NodeJS.ErrnoException) => {
        const message = signal.aborted ? "The collector did not answer in time" : error.message;
        resolve(new CollectorFault(message, error.code, true));
      });
      request.end(body);
    });
  }

  /** What is in flight is tried once more at most. */
  stopRetrying(): void {
    this.#retriesStopped.abort();
  }
}

/** In milliseconds. A date, the other form, is ignored in favour of our own pause. */
function secondsIn(retryAfter: string | undefined): number | undefined {
  return retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : undefined;
}
