import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../time/clock.ts";
import { CollectorThread, type SendFault } from "./collector-thread.ts";
import type { Logger } from "./logger.ts";
import { OtlpJson } from "./otlp-json.ts";
import type { RecordedSpan } from "./recorded-span.ts";
import type { TracesConfig } from "./traces-config.ts";

/** Spans that wait to be sent; more are dropped, however long the collector is away. */
const waitingMax = 2_048;
/** Few enough to be serialized in a moment. */
const sentTogetherMax = 256;
const faultEveryMs = 60_000;
/** The wall clock is off by this much only if it was set. */
const clockToleranceMs = 10;

/** Collects spans and sends them, one batch at a time. A collector that is down affects nothing else. */
export class SpanSender {
  readonly #otlp: OtlpJson;
  readonly #collector: CollectorThread;
  readonly #sendEveryMs: number;
  readonly #logger: Logger;
  #waiting: RecordedSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;
  /** The time, since 1970, at which the monotonic clock is 0. */
  #originMs = performance.timeOrigin;
  #nextFaultAtMs = 0;

  constructor(resource: Readonly<Record<string, string>>, config: TracesConfig, logger: Logger) {
    this.#otlp = new OtlpJson(resource);
    this.#collector = new CollectorThread(config);
    this.#sendEveryMs = config.sendEveryMs;
    this.#logger = logger;
  }

  readonly take = (span: RecordedSpan): void => {
    if (this.#isClosed || this.#waiting.length >= waitingMax) return;
    this.#waiting.push(span);
    if (this.#sending) return;
    if (this.#waiting.length === 1) this.#sendIn(this.#sendEveryMs);
    else if (this.#waiting.length === sentTogetherMax) this.#sendIn(0);
  };

  #sendIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#sending = this.#sendWaiting();
    }, ms).unref();
  }

  async #sendWaiting(): Promise<void> {
    do await this.#sendBatch();
    while (this.#waiting.length >= sentTogetherMax);
    this.#sending = undefined;
    if (this.#waiting.length > 0) this.#sendIn(this.#sendEveryMs);
  }

  async #sendBatch(): Promise<void> {
    const spans = this.#waiting.splice(0, sentTogetherMax);
    const driftMs = Date.now() - (this.#originMs + monotonicMs());
    if (Math.abs(driftMs) > clockToleranceMs) this.#originMs += driftMs;
    const fault = await this.#collector.send(this.#otlp.write(spans, this.#originMs));
    if (fault) this.#failed(fault, spans.length);
  }

  /** Logs at most once a minute that traces are lost. */
  #failed({ message, code }: SendFault, spans: number): void {
    if (monotonicMs() < this.#nextFaultAtMs) return;
    this.#nextFaultAtMs = monotonicMs() + faultEveryMs;
    this.#logger.warn({ reason: message || code, code, spans }, "traces could not be sent");
  }

  /** Sends the rest, within this time. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#collector.stopRetrying();
    const sending = [this.#sending];
    while (this.#waiting.length > 0) sending.push(this.#sendBatch());
    const waiting = new AbortController();
    await Promise.race([Promise.all(sending), sleep(timeoutMs, undefined, { signal: waiting.signal }).catch(() => {})]);
    waiting.abort();
    await this.#collector.close();
  }
}
