import type { Server } from "node:net";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { BatchObserver } from "../batching/batch-observer.ts";
import { Histogram } from "./histogram.ts";

/** Buckets in seconds, from a cached read to a call that ran into its deadline. */
const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** In seconds, from a row that is in memory to a statement that was given up. */
const statementBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 10];

const refusalReasons = ["key_rate", "refused_keys", "key_inflight", "organization_inflight", "process_bytes"] as const;

/** Which limit a request was refused by. */
type RefusalReason = (typeof refusalReasons)[number];

/** Unexpected errors, as RPC code and as HTTP status. */
const faults = ["INTERNAL", "500"];

interface WatchedPool {
  readonly size: number;
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * The metrics of one process. Labels contain names of methods, routes and codes: never anything that a caller wrote.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests: Histogram;
  readonly #faults: Counter;
  readonly #statements: Histogram;
  readonly #batchParts: Histogram;
  readonly #batchWaiting = new Map<string, () => number>();
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
      registry: this.registry,
    });
    // Prometheus sees no increase in a counter that appears with its first event, so those that alerts use start at 0.
    this.#faults = new Counter({
      name: "setpoint_faults_total",
      help: "Calls, parts of batches and requests that failed with INTERNAL or 500.",
      registers: [this.registry],
    });
    this.#statements = new Histogram({
      name: "setpoint_statement_seconds",
      help: "Time of a statement, from sending it to its last row, by statement (its verb and first table; CONNECT: an attempt to connect that failed) and outcome (ok, or the name of the error).",
      labelNames: ["statement", "outcome"],
      buckets: statementBuckets,
      registry: this.registry,
    });
    this.#batchParts = new Histogram({
      name: "setpoint_batch_parts",
      help: "How many requests a batch holds, by batch (what is batched).",
      labelNames: ["batch"],
      buckets: [1, 2, 4, 8, 16, 32, 64],
      registry: this.registry,
    });
    const waiting = this.#batchWaiting;
    new Gauge({
      name: "setpoint_batch_waiting",
      help: "Requests that are queued for a batch, by batch (what is batched).",
      labelNames: ["batch"],
      registers: [this.registry],
      collect() {
        for (const [batch, read] of waiting) this.set({ batch }, read());
      },
    });
    this.#partFailures = new Counter({
      name: "setpoint_part_failures_total",
      help: "Parts of batches that failed, by outcome (RPC code). The batch itself counts as OK.",
      labelNames: ["outcome"],
      registers: [this.registry],
    });
    this.#refusals = new Counter({
      name: "setpoint_refusals_total",
      help: "Requests that were refused by a limit, by reason: key_rate, refused_keys, key_inflight, organization_inflight, process_bytes.",
      labelNames: ["reason"],
      registers: [this.registry],
    });
    for (const reason of refusalReasons) this.#refusals.inc({ reason }, 0);
    this.#clockAhead = new Gauge({
      name: "setpoint_clock_ahead_seconds",
      help: "How far the clock of this machine is ahead of the organization service's, when its keys were last fetched.",
      registers: [this.registry],
    });
    this.#tokensOutOfTime = new Counter({
      name: "setpoint_tokens_out_of_time_total",
      help: "Access tokens that were presented before they were issued or after they expired, by the clock of this machine.",
      registers: [this.registry],
    });
  }

  requestHandled(operation: string, outcome: string, seconds: number): void {
    this.#requests.at(operation, outcome).observe(seconds);
    if (faults.includes(outcome)) this.#faults.inc();
  }

  partFailed(outcome: string): void {
    this.#partFailures.inc({ outcome });
    if (faults.includes(outcome)) this.#faults.inc();
  }

  refused(reason: RefusalReason): void {
    this.#refusals.inc({ reason });
  }

  statementAnswered(statement: string, outcome: string, seconds: number): void {
    this.#statements.at(statement, outcome).observe(seconds);
  }

  /** Shows what is gathered under this name. */
  watchBatches(batch: string): BatchObserver {
    const parts = this.#batchParts.at(batch);
    return {
      opened: (readWaiting) => this.#batchWaiting.set(batch, readWaiting),
      sent: (count) => parts.observe(count),
    };
  }

  /** Shows the memory of requests and answers in flight, and its limit. */
  watchInFlightBytes(max: number, read: () => number): void {
    new Gauge({
      name: "setpoint_inflight_bytes_max",
      help: "How many bytes of requests and answers may be in flight.",
      registers: [this.registry],
    }).set(max);
    new Gauge({
      name: "setpoint_inflight_bytes",
      help: "Bytes of requests and answers in flight.",
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** Shows the state of the database pools, read on demand. */
  watchPools(pools: Readonly<Record<string, WatchedPool>>): void {
    const sizes = new Gauge({
      name: "setpoint_database_pool_size",
      help: "How many connections a pool may have, by pool.",
      labelNames: ["pool"],
      registers: [this.registry],
    });
    for (const [pool, { size }] of Object.entries(pools)) sizes.set({ pool }, size);
    new Gauge({
      name: "setpoint_database_pool",
      help: "Connections of a pool, by pool and state: used, idle; state waiting: callers that wait for a connection.",
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

  /** Shows the number of a server's connections, counted on demand. */
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
