import type { Server } from "node:net";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** Buckets in seconds, from a cached read to a call that ran into its deadline. */
const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Which limit a request was refused by. */
export type RefusalReason = "key_rate" | "refused_keys" | "key_inflight" | "process_bytes";

/** The metrics of one process. Labels hold names of methods, routes and codes: never anything that a caller wrote. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests: Histogram<"operation" | "outcome">;
  readonly #partFailures: Counter<"outcome">;
  readonly #refusals: Counter<"reason">;
  readonly #clockAhead: Gauge;
  readonly #tokensOutOfTime: Counter;

  constructor(processName: string) {
    this.registry.setDefaultLabels({ process: processName });
    collectDefaultMetrics({ register: this.registry });
    this.#requests = new Histogram({
      name: "setpoint_request_seconds",
      help: "Time to answer, by operation (RPC method or HTTP route) and outcome (RPC code or HTTP status).",
      labelNames: ["operation", "outcome"],
      buckets: latencyBuckets,
      registers: [this.registry],
    });
    this.#partFailures = new Counter({
      name: "setpoint_part_failures_total",
      help: "Parts of batches that failed, by outcome (RPC code). The batch itself counts as OK.",
      labelNames: ["outcome"],
      registers: [this.registry],
    });
    this.#refusals = new Counter({
      name: "setpoint_refusals_total",
      help: "Requests that were refused by a limit, by reason: key_rate, refused_keys, key_inflight, process_bytes.",
      labelNames: ["reason"],
      registers: [this.registry],
    });
    this.#clockAhead = new Gauge({
      name: "setpoint_clock_ahead_seconds",
      help: "How far the clock of this machine is ahead of the organization service's, when its keys were last fetched.",
      registers: [this.registry],
    });
    this.#tokensOutOfTime = new Counter({
      name: "setpoint_tokens_out_of_time_total",
      help: "Access tokens that were shown before they were issued or after they expired, by the clock of this machine.",
      registers: [this.registry],
    });
  }

  requestHandled(operation: string, outcome: string, seconds: number): void {
    this.#requests.observe({ operation, outcome }, seconds);
  }

  partFailed(outcome: string): void {
    this.#partFailures.inc({ outcome });
  }

  refused(reason: RefusalReason): void {
    this.#refusals.inc({ reason });
  }

  /** Shows what is in memory for requests and answers that are under way. */
  watchInFlightBytes(read: () => number): void {
    new Gauge({
      name: "setpoint_inflight_bytes",
      help: "Bytes of requests and answers that are under way.",
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** Shows what the pools of database connections are at, counted when somebody asks. */
  watchPools(pools: Readonly<Record<string, { readonly counts: Readonly<Record<string, number>> }>>): void {
    new Gauge({
      name: "setpoint_database_pool",
      help: "Connections of a pool, by pool and state: used, idle; and waiting: callers who wait for one.",
      labelNames: ["pool", "state"],
      registers: [this.registry],
      collect() {
        for (const [pool, { counts }] of Object.entries(pools)) {
          for (const [state, count] of Object.entries(counts)) this.set({ pool, state }, count);
        }
      },
    });
  }

  clockMeasured(aheadSeconds: number): void {
    this.#clockAhead.set(aheadSeconds);
  }

  tokenOutOfTime(): void {
    this.#tokensOutOfTime.inc();
  }

  /** Shows how many connections a server has, counted when somebody asks. */
  showConnections(server: Server): void {
    new Gauge({
      name: "setpoint_connections",
      help: "Open HTTP/1.1 connections.",
      registers: [this.registry],
      collect() {
        return new Promise((resolve) => {
          server.getConnections((_, count) => resolve(this.set(count ?? 0)));
        });
      },
    });
  }
}
