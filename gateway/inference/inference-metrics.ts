import { Gauge, type Registry } from "prom-client";
import { Counter } from "../../services/platform/observe/counter.ts";
import { Histogram, type Series } from "../../services/platform/observe/histogram.ts";
import type { FailureKind } from "./forward/failures.ts";
import type { Usage } from "./forward/usage.ts";
import type { Upstream } from "./upstreams/upstreams.ts";

/** Buckets in seconds, from a refusal to the longest generation. */
const durationBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/** Buckets in seconds, from a cached preset to one that takes the preset service up to its deadline. */
const resolveBuckets = [0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 10];

/** Why a call was aborted before the upstream was done: its client has disconnected, or does not read. */
type AbortReason = "client_gone" | "client_stalled";

/** What a call asks for. Their first bytes cannot be compared: that of a whole answer comes when all of it is generated. */
export type AnswerKind = "stream" | "whole" | "count";

/**
 * The metrics of calls to upstreams. Labels hold names from the operator's table, statuses and words of ours; never a
 * model, which callers could invent.
 */
export class InferenceMetrics {
  readonly #seconds: Histogram;
  readonly #firstByteSeconds: Histogram;
  readonly #resolveSeconds: Series;
  readonly #bytes: Counter;
  readonly #aborted: Counter;
  readonly #retries: Counter;
  readonly #fallbacks: Counter;
  readonly #tokens: Counter;
  readonly #fileFault: Gauge;

  constructor(registry: Registry) {
    this.#seconds = new Histogram({
      name: "setpoint_inference_seconds",
      help: "Time from a request to the end of its answer, by upstream and the final status: 499 if the client disconnected, 502 and 504 also if an answer broke off.",
      labelNames: ["upstream", "status"],
      buckets: durationBuckets,
      registry,
    });
    this.#firstByteSeconds = new Histogram({
      name: "setpoint_inference_first_byte_seconds",
      help: "Time from a request to the first byte of its answer, by upstream and what was asked for: stream, whole, count (of tokens).",
      labelNames: ["upstream", "answer"],
      buckets: durationBuckets,
      registry,
    });
    this.#resolveSeconds = new Histogram({
      name: "setpoint_inference_resolve_seconds",
      help: "Time to find the preset that a request names, and to merge it into the request.",
      labelNames: [],
      buckets: resolveBuckets,
      registry,
    }).at();
    this.#bytes = new Counter({
      name: "setpoint_inference_bytes_total",
      help: "Bytes of bodies, by upstream and direction: sent to it, received from it.",
      labelNames: ["upstream", "direction"],
      registry,
    });
    this.#aborted = new Counter({
      name: "setpoint_inference_aborted_total",
      help: "Calls that were aborted before the upstream was done, by upstream and reason: client_gone, client_stalled.",
      labelNames: ["upstream", "reason"],
      registry,
    });
    this.#retries = new Counter({
      name: "setpoint_inference_retries_total",
      help: "Requests that were retried on the same upstream, by upstream and reason.",
      labelNames: ["upstream", "reason"],
      registry,
    });
    this.#fallbacks = new Counter({
      name: "setpoint_inference_fallbacks_total",
      help: "Requests that fell back to the next model of their list, by the upstream that failed and reason.",
      labelNames: ["upstream", "reason"],
      registry,
    });
    this.#tokens = new Counter({
      name: "setpoint_inference_tokens_total",
      help: "Tokens that answers report, by upstream and kind: input, output.",
      labelNames: ["upstream", "kind"],
      registry,
    });
    this.#fileFault = new Gauge({
      name: "setpoint_upstreams_file_fault",
      help: "1 while the upstreams file is faulty and the last good one stays in use.",
      registers: [registry],
    });
  }

  /** Shows how many calls each upstream has in flight. */
  watchInFlight(list: () => readonly Upstream[], registry: Registry): void {
    new Gauge({
      name: "setpoint_inference_in_flight",
      help: "Calls in flight, by upstream.",
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

  answerBegun(upstream: string, answer: AnswerKind, ms: number): void {
    this.#firstByteSeconds.at(upstream, answer).observe(ms / 1000);
  }

  ended(upstream: string, status: number, ms: number, bytesSent: number, bytesReceived: number): void {
    this.#seconds.at(upstream, String(status)).observe(ms / 1000);
    this.#bytes.at(upstream, "sent").add(bytesSent);
    this.#bytes.at(upstream, "received").add(bytesReceived);
  }

  aborted(upstream: string, reason: AbortReason): void {
    this.#aborted.at(upstream, reason).add(1);
  }

  retried(upstream: string, reason: FailureKind): void {
    this.#retries.at(upstream, reason).add(1);
  }

  fellBack(upstream: string, reason: FailureKind): void {
    this.#fallbacks.at(upstream, reason).add(1);
  }

  used(upstream: string, { input, output }: Usage): void {
    if (input !== undefined) this.#tokens.at(upstream, "input").add(input);
    if (output !== undefined) this.#tokens.at(upstream, "output").add(output);
  }
}
