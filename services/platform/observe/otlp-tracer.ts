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
 * Records traces for a collector of OpenTelemetry. Not with its SDK, which takes longer for a span and
 * for a request that is not recorded: spans are handed on by hand here, and made by nobody but us.
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
    if (!this.#sampler.takesNew(traceEnd)) return new UnrecordedTrace(traceEnd);
    return RecordedSpan.serve(this.#sender.take, newTraceId(traceEnd));
  }

  #serveWithin(parent: CallersTrace): Trace {
    const { traceId, traceparent, tracestate } = parent;
    const isSampled = isSampledBy(traceparent);
    if (this.#sampler.takesCallers(traceId, isSampled)) {
      return RecordedSpan.serve(this.#sender.take, traceId, traceparent.slice(36, 52), tracestate);
    }
    // It is passed on as not recorded, so that those behind us do not decide otherwise.
    return isSampled ? { ...parent, traceparent: unrecorded(traceId) } : parent;
  }

  /** Sends what is left, as far as that takes no longer. */
  close(timeoutMs: number): Promise<void> {
    return this.#sender.close(timeoutMs);
  }
}

/** Nearly every trace is one. Its ids are made where it is logged or passed on: of a crowd that shares a call, one is passed on. */
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

/** Of the flags, the last bit of the last digit. */
function isSampledBy(traceparent: string): boolean {
  return "13579bdf".includes(traceparent[54] as string);
}
