import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { FailureKind } from "./forward/failures.ts";
import type { Usage } from "./forward/usage.ts";
import type { Upstream } from "./upstreams/upstreams.ts";

/** Buckets in seconds, from a refusal to the longest generation. */
const durationBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/** Buckets in seconds, from a preset that is at hand to one that the preset service takes all of its time for. */
const resolveBuckets = [0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 10];

/** What ended a call that the upstream had not ended: its client went, or did not read. */
type AbortReason = "client_gone" | "client_stalled";

/**
 * The metrics of what is sent to upstreams. Labels hold names of the operator's table, statuses and words of ours; never
 * a model, which is the caller's to choose.
 */
export class InferenceMetrics {
  readonly #seconds: Histogram<"upstream" | "status">;
  readonly #firstByteSeconds: Histogram<"upstream">;
  readonly #resolveSeconds: Histogram;
  readonly #bytes: Counter<"upstream" | "direction">;
  readonly #aborted: Counter<"upstream" | "reason">;
  readonly #retries: Counter<"upstream" | "reason">;
  readonly #fallbacks: Counter<"upstream" | "reason">;
  readonly #tokens: Counter<"upstream" | "kind">;
  readonly #fileFault: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#seconds = new Histogram({
      name: "setpoint_inference_seconds",
      help: "Time from a request to the end of its answer, by upstream and the status that it ended with: 499 where the client went, 502 and 504 also where an answer broke off.",
      labelNames: ["upstream", "status"],
      buckets: durationBuckets,
      registers,
    });
    this.#firstByteSeconds = new Histogram({
      name: "setpoint_inference_first_byte_seconds",
      help: "Time from a request to the first byte of its answer, by upstream.",
      labelNames: ["upstream"],
      buckets: durationBuckets,
      registers,
    });
    this.#resolveSeconds = new Histogram({
      name: "setpoint_inference_resolve_seconds",
      help: "Time that it took to find the preset that a request names, and to make one request of both.",
      buckets: resolveBuckets,
      registers,
    });
    this.#bytes = new Counter({
      name: "setpoint_inference_bytes_total",
      help: "Bytes of bodies, by upstream and direction: sent to it, received from it.",
      labelNames: ["upstream", "direction"],
      registers,
    });
    this.#aborted = new Counter({
      name: "setpoint_inference_aborted_total",
      help: "Calls that were ended before the upstream did, by upstream and reason: client_gone, client_stalled.",
      labelNames: ["upstream", "reason"],
      registers,
    });
    this.#retries = new Counter({
      name: "setpoint_inference_retries_total",
      help: "Requests that were sent to the same upstream again, by upstream and reason.",
      labelNames: ["upstream", "reason"],
      registers,
    });
    this.#fallbacks = new Counter({
      name: "setpoint_inference_fallbacks_total",
      help: "Requests that went on to the next model of their list, by the upstream that failed and reason.",
      labelNames: ["upstream", "reason"],
      registers,
    });
    this.#tokens = new Counter({
      name: "setpoint_inference_tokens_total",
      help: "Tokens, where answers tell them, by upstream and kind: input, output.",
      labelNames: ["upstream", "kind"],
      registers,
    });
    this.#fileFault = new Gauge({
      name: "setpoint_upstreams_file_fault",
      help: "1 while the upstreams file cannot be used and the last good one stays in use.",
      registers,
    });
  }

  /** Shows how much each upstream has to do. */
  watchInFlight(list: () => readonly Upstream[], registry: Registry): void {
    new Gauge({
      name: "setpoint_inference_in_flight",
      help: "Calls that are under way, by upstream.",
      labelNames: ["upstream"],
      registers: [registry],
      collect() {
        this.reset();
        for (const { name, connections } of list()) this.set({ upstream: name }, connections.inFlight);
      },
    });
  }

  fileChecked(isGood: boolean): void {
    this.#fileFault.set(isGood ? 0 : 1);
  }

  presetResolved(ms: number): void {
    this.#resolveSeconds.observe(ms / 1000);
  }

  answerBegun(upstream: string, ms: number): void {
    this.#firstByteSeconds.observe({ upstream }, ms / 1000);
  }

  ended(upstream: string, status: number, ms: number, bytesSent: number, bytesReceived: number): void {
    this.#seconds.observe({ upstream, status }, ms / 1000);
    this.#bytes.inc({ upstream, direction: "sent" }, bytesSent);
    this.#bytes.inc({ upstream, direction: "received" }, bytesReceived);
  }

  aborted(upstream: string, reason: AbortReason): void {
    this.#aborted.inc({ upstream, reason });
  }

  retried(upstream: string, reason: FailureKind): void {
    this.#retries.inc({ upstream, reason });
  }

  fellBack(upstream: string, reason: FailureKind): void {
    this.#fallbacks.inc({ upstream, reason });
  }

  used(upstream: string, { input, output }: Usage): void {
    if (input !== undefined) this.#tokens.inc({ upstream, kind: "input" }, input);
    if (output !== undefined) this.#tokens.inc({ upstream, kind: "output" }, output);
  }
}
