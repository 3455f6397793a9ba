import type { Lifecycle } from "../process/lifecycle.ts";
import type { Logger } from "./logger.ts";
import type { Tracer } from "./trace.ts";
import type { TracesConfig } from "./traces-config.ts";

interface Parts {
  /** Undefined: no traces are recorded. */
  readonly traces: TracesConfig | undefined;
  readonly drainTimeoutMs: number;
  readonly logger: Logger;
}

/** How long a process that shuts down waits for the rest to be sent. */
const flushMaxMs = 2_000;

/**
 * To be opened before everything that is traced, so that it is closed after it. The recording code is loaded only if
 * traces are recorded.
 */
export async function openTracer(processName: string, parts: Parts, lifecycle: Lifecycle): Promise<Tracer | undefined> {
  const { traces, drainTimeoutMs, logger } = parts;
  if (!traces) return undefined;
  const { OtlpTracer } = await import("./otlp-tracer.ts");
  const tracer = new OtlpTracer(processName, traces, logger);
  lifecycle.opened("traces", () => tracer.close(Math.min(drainTimeoutMs, flushMaxMs)));
  return tracer;
}
