import { randomFillSync } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Context,
  type Span as OtelApiSpan,
  type Tracer as OtelApiTracer,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { AlwaysOnSampler, BatchSpanProcessor, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import { monotonicMs } from "../process/clock.ts";
import type { Logger } from "./logger.ts";
import type { Attributes, Span, Trace, Tracer } from "./trace.ts";
import type { TracesConfig } from "./traces-config.ts";

// The one file that knows OpenTelemetry, loaded only where traces are recorded. Nothing here is global: who calls hands
// their span on, so no context is followed through callbacks, and no library is patched.

/** Spans that wait to be sent; more are dropped, however long the collector is away. */
const waitingMax = 2_048;
/** So few that to write them takes a moment. */
const sentTogetherMax = 256;
const sendTimeoutMs = 10_000;
/** Sent and not answered: one at a time, but all that wait when a process ends. */
const sendingMax = waitingMax / sentTogetherMax + 1;
/** Of what is attached to a span; longer texts are cut. */
const textLengthMax = 256;

/** Records traces with the SDK of OpenTelemetry and sends them as OTLP over HTTP, in JSON. */
export class OtelTracer implements Tracer {
  readonly #provider: TracerProvider;
  readonly #tracer: OtelApiTracer;
  /** Whether a caller decides for us. */
  readonly #followsParent: boolean;
  /** Of all traces; of those of callers only where they do not decide. */
  readonly #share: number;
  /** Of the trace that is being begun. */
  #newTraceId = "";

  constructor(processName: string, config: TracesConfig, logger: Logger) {
    const exporter = new OTLPTraceExporter({
      url: config.url,
      headers: { ...config.headers },
      timeoutMillis: sendTimeoutMs,
      concurrencyLimit: sendingMax,
    });
    const { serviceName = `setpoint-${processName}`, resourceAttributes } = config;
    this.#followsParent = config.sampler.startsWith("parentbased_");
    this.#share = shareOf(config);
    this.#provider = new TracerProvider({
      resource: defaultResource().merge(resourceFromAttributes({ ...resourceAttributes, "service.name": serviceName })),
      // It is asked only for what is recorded: for all else it would cost more than to decide here.
      sampler: new AlwaysOnSampler(),
      idGenerator: { generateTraceId: () => this.#newTraceId, generateSpanId: newSpanId },
      spanLimits: { attributeValueLengthLimit: textLengthMax },
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: withFaultsLogged(exporter, logger),
          scheduledDelayMillis: config.sendEveryMs,
          maxQueueSize: waitingMax,
          maxExportBatchSize: sentTogetherMax,
          exportTimeoutMillis: sendTimeoutMs,
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer("setpoint");
  }

  serve(name: string, parent: Trace | undefined): Trace {
    if (parent) return this.#serveWithin(name, parent);
    // One draw for both ids: a draw takes longer than all the rest of a trace that is not recorded.
    const drawn = randomHex(traceIdBytes + spanIdBytes);
    const traceId = drawn.slice(0, traceIdBytes * 2);
    if (isInShare(traceId, this.#share)) return this.#record(name, traceId, ROOT_CONTEXT, undefined);
    return traceOfContext({ traceId, spanId: drawn.slice(traceIdBytes * 2), traceFlags: TraceFlags.NONE }, undefined);
  }

  #serveWithin(name: string, parent: Trace): Trace {
    const { traceId, tracestate } = parent;
    if (this.#followsParent ? isSampled(parent) : isInShare(traceId, this.#share)) {
      return this.#record(name, traceId, trace.setSpanContext(ROOT_CONTEXT, remoteContextOf(parent)), tracestate);
    }
    // It is passed on as not recorded, so that those behind us do not decide otherwise.
    if (!isSampled(parent)) return parent;
    return traceOfContext({ traceId, spanId: newSpanId(), traceFlags: TraceFlags.NONE }, tracestate);
  }

  #record(name: string, traceId: string, context: Context, tracestate: string | undefined): Trace {
    this.#newTraceId = traceId;
    const span = this.#tracer.startSpan(name, { kind: SpanKind.SERVER }, context);
    return new OtelSpan(this.#tracer, span, tracestate);
  }

  /** Sends what is left, as far as that takes no longer. */
  async close(timeoutMs: number): Promise<void> {
    const waiting = new AbortController();
    const isSent = this.#provider.shutdown().catch(() => {});
    await Promise.race([isSent, sleep(timeoutMs, undefined, { signal: waiting.signal }).catch(() => {})]);
    waiting.abort();
  }
}

class OtelSpan implements Span {
  readonly traceId: string;
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  readonly #tracer: OtelApiTracer;
  readonly #span: OtelApiSpan;
  #requestId: string | undefined;

  constructor(tracer: OtelApiTracer, span: OtelApiSpan, tracestate: string | undefined, requestId?: string) {
    const { traceId, traceparent } = traceOfContext(span.spanContext(), tracestate);
    this.traceId = traceId;
    this.traceparent = traceparent;
    this.tracestate = tracestate;
    this.#tracer = tracer;
    this.#span = span;
    if (requestId !== undefined) this.nameRequest(requestId);
  }

  get span(): Span {
    return this;
  }

  beginCall(name: string, attributes: Attributes, others: readonly Span[] = []): Span {
    const links = others.flatMap((other) => (other instanceof OtelSpan ? { context: other.#span.spanContext() } : []));
    const context = trace.setSpan(ROOT_CONTEXT, this.#span);
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, links }, context);
    const begun = new OtelSpan(this.#tracer, span, this.tracestate, this.#requestId);
    begun.set(attributes);
    return begun;
  }

  set(attributes: Attributes): void {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined) this.#span.setAttribute(name, value);
    }
  }

  nameRequest(requestId: string): void {
    this.#requestId = requestId;
    this.#span.setAttribute("setpoint.request_id", requestId);
  }

  end(error?: string): void {
    if (error !== undefined) {
      this.#span.setAttribute("error.type", error);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

function isSampled({ traceparent }: Trace): boolean {
  return (Number.parseInt(traceparent.slice(53), 16) & TraceFlags.SAMPLED) !== 0;
}

/** Without the tracestate: that is passed on, but it is the caller's own, and not sent to our collector. */
function remoteContextOf(parent: Trace): SpanContext {
  return {
    traceId: parent.traceId,
    spanId: parent.traceparent.slice(36, 52),
    traceFlags: isSampled(parent) ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
  };
}

function traceOfContext({ traceId, spanId, traceFlags }: SpanContext, tracestate: string | undefined): Trace {
  return { traceId, traceparent: `00-${traceId}-${spanId}-0${traceFlags}`, tracestate, span: undefined };
}

/** Drawn at once: one by one they would cost many times as much. */
const randomPool = Buffer.alloc(4_096);
let randomUsed = randomPool.length;

function randomHex(bytes: number): string {
  if (randomUsed + bytes > randomPool.length) {
    randomFillSync(randomPool);
    randomUsed = 0;
  }
  randomUsed += bytes;
  return randomPool.toString("hex", randomUsed - bytes, randomUsed);
}

const traceIdBytes = 16;
const spanIdBytes = 8;

function newSpanId(): string {
  return randomHex(spanIdBytes);
}

function shareOf({ sampler, samplerRatio }: TracesConfig): number {
  if (sampler.endsWith("always_on")) return 1;
  return sampler.endsWith("always_off") ? 0 : samplerRatio;
}

/** As many hexadecimal digits as a number holds exactly. */
const digits = 13;

/** By the end of the trace id, which is random: whoever has the same share decides alike. */
function isInShare(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(-digits), 16) >= (1 - share) * 16 ** digits;
}

const faultEveryMs = 60_000;

/** Says at most once a minute that traces are lost. What the collector answered is not repeated. */
function withFaultsLogged(exporter: SpanExporter, logger: Logger): SpanExporter {
  let nextFaultAtMs = 0;
  return {
    export(spans, onResult) {
      exporter.export(spans, (result) => {
        const { error } = result;
        if (error && monotonicMs() >= nextFaultAtMs) {
          nextFaultAtMs = monotonicMs() + faultEveryMs;
          const { message, code } = error as Error & { code?: string | number };
          logger.warn({ reason: message || String(code), code, spans: spans.length }, "traces could not be sent");
        }
        // It has been told, so the SDK need not.
        onResult({ code: 0 });
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
