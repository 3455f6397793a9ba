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
  /** What a trace id ends with at least that is recorded; of callers' traces only where they do not decide. */
  readonly #recordedFrom: string;
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
    this.#recordedFrom = recordedFrom(shareOf(config));
    this.#provider = new TracerProvider({
      resource: defaultResource().merge(resourceFromAttributes({ ...resourceAttributes, "service.name": serviceName })),
      // It is asked only for what is recorded: for all else it would cost more than to decide here.
      sampler: new AlwaysOnSampler(),
      idGenerator: { generateTraceId: () => copyOf(this.#newTraceId), generateSpanId: () => copyOf(newSpanId()) },
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
    const traceId = randomHex(traceIdDigits);
    if (this.#isInShare(traceId)) return this.#record(name, traceId, ROOT_CONTEXT, undefined);
    return new UnrecordedTrace(traceId, undefined);
  }

  #serveWithin(name: string, parent: Trace): Trace {
    const { traceId, tracestate } = parent;
    if (this.#followsParent ? isSampled(parent) : this.#isInShare(traceId)) {
      return this.#record(name, traceId, trace.setSpanContext(ROOT_CONTEXT, remoteContextOf(parent)), tracestate);
    }
    // It is passed on as not recorded, so that those behind us do not decide otherwise.
    return isSampled(parent) ? new UnrecordedTrace(traceId, tracestate) : parent;
  }

  /** By the end of the trace id, which is random: whoever has the same share decides alike. */
  #isInShare(traceId: string): boolean {
    // As text, for digits of one length are in the order of their numbers.
    return traceId.slice(-shareDigits) >= this.#recordedFrom;
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
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.traceId = traceId;
    this.traceparent = `00-${traceId}-${spanId}-0${traceFlags}`;
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

/** Of the flags, the last bit of the last digit. */
function isSampled({ traceparent }: Trace): boolean {
  return "13579bdf".includes(traceparent[54] as string);
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

/** Nearly every trace is one: what only some of them need is made when it is asked for. */
class UnrecordedTrace implements Trace {
  readonly traceId: string;
  readonly tracestate: string | undefined;
  readonly span = undefined;
  #traceparent: string | undefined;

  constructor(traceId: string, tracestate: string | undefined) {
    this.traceId = traceId;
    this.tracestate = tracestate;
  }

  get traceparent(): string {
    this.#traceparent ??= `00-${this.traceId}-${newSpanId()}-00`;
    return this.#traceparent;
  }
}

const traceIdDigits = 32;
const spanIdDigits = 16;

/** Drawn and written at once: one by one they would cost many times as much. An id is a part of it, and keeps it alive. */
const randomBytes = Buffer.alloc(4_096);
let randomDigits = "";
let randomUsed = 0;

function randomHex(length: number): string {
  if (randomUsed + length > randomDigits.length) {
    randomDigits = randomFillSync(randomBytes).toString("hex");
    randomUsed = 0;
  }
  randomUsed += length;
  return randomDigits.slice(randomUsed - length, randomUsed);
}

function newSpanId(): string {
  return randomHex(spanIdDigits);
}

/** For ids that wait to be sent: by itself, without all that was drawn with it. */
function copyOf(id: string): string {
  return Buffer.from(id, "latin1").toString("latin1");
}

function shareOf({ sampler, samplerRatio }: TracesConfig): number {
  if (sampler.endsWith("always_on")) return 1;
  return sampler.endsWith("always_off") ? 0 : samplerRatio;
}

/** As many hexadecimal digits as a number holds exactly. */
const shareDigits = 13;

function recordedFrom(share: number): string {
  const digits = Math.round((1 - share) * 16 ** shareDigits).toString(16);
  // Behind every digit there is.
  return digits.length > shareDigits ? "g" : digits.padStart(shareDigits, "0");
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
