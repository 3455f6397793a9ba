import type { Logger } from "./logger.ts";
import { RecordedSpan } from "./recorded-span.ts";
import { SpanSender } from "./span-sender.ts";
import type { CallersTrace, Trace, Tracer } from "./trace.ts";
import { newSpanId, newTraceEnd, newTraceId } from "./trace-ids.ts";
import { TraceSampler } from "./trace-sampler.ts";
import type { TracesConfig } from "./traces-config.ts";

/** What backends show as the language of a process, and by whom it is recorded. */
const recorder = { "telemetry.sdk.language": "nodejs", "telemetry.sdk.name": "setpoint" };

/**
 * Records traces for an OpenTelemetry collector. Without its SDK, which takes longer for a span and for a request that
 * is not recorded: here spans are passed on explicitly, and created only by our own code.
 */
export class OtlpTracer implements Tracer {
  readonly #sampler: TraceSampler;
  readonly #sender: SpanSender;

  constructor(processName: string, config: TracesConfig, logger: Logger) {
    const { serviceName, resourceAttributes } = config;
    const resource = {
      ...recorder,
      "service.name": `setpoint-${processName}`,
      ...resourceAttributes,
      ...(serviceName !== undefined && { "service.name": serviceName }),
    };
    this.#sampler = new TraceSampler(config);
    this.#sender = new SpanSender(resource, config, logger);
  }

  serve(parent: CallersTrace | undefined): Trace {
    if (parent) return this.#serveWithin(parent);
    const traceEnd = newTraceEnd();
    if (!this.#sampler.recordsNew(traceEnd)) return new UnrecordedTrace(traceEnd);
    return RecordedSpan.serve(this.#sender.take, newTraceId(traceEnd));
  }

  #serveWithin(parent: CallersTrace): Trace {
    const { traceId, traceparent, tracestate } = parent;
    const isSampled = isSampledBy(traceparent);
    if (this.#sampler.recordsCallers(traceId, isSampled)) {
      return RecordedSpan.serve(this.#sender.take, traceId, traceparent.slice(36, 52), tracestate);
    }
    // Passed on as not sampled, so that the services behind us do not decide otherwise.
    return isSampled ? { ...parent, traceparent: unrecorded(traceId) } : parent;
  }

  /** Sends the rest, within this time. */
  close(timeoutMs: number): Promise<void> {
    return this.#sender.close(timeoutMs);
  }
}

/**
 * Nearly every trace is like this. Its ids are generated when it is logged or passed on: of a crowd that shares a call,
 * only one is passed on.
 */
class UnrecordedTrace implements Trace {
  readonly tracestate = undefined;
  readonly span = undefined;
  readonly #traceEnd: number;
  #traceId: string | undefined;
  #traceparent: string | undefined;

  constructor(traceEnd: number) {
    this.#traceEnd = traceEnd;
  }

  get traceId(): string {
    this.#traceId ??= newTraceId(this.#traceEnd);
    return this.#traceId;
  }

  get traceparent(): string {
    this.#traceparent ??= unrecorded(this.traceId);
    return this.#traceparent;
  }
}

function unrecorded(traceId: string): string {
  return `00-${traceId}-${newSpanId()}-00`;
}

/** The lowest bit of the flags. */
function isSampledBy(traceparent: string): boolean {
  return "13579bdf".includes(traceparent[54] as string);
}
