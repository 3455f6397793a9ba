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

/** What is left to send when a process ends is waited for no longer than this. */
const flushMaxMs = 2_000;

/**
 * To be opened before all that is traced, so that it is closed after it. What records them is loaded only where traces
 * are recorded.
 */
export async function openTracer(processName: string, parts: Parts, lifecycle: Lifecycle): Promise<Tracer | undefined> {
  const { traces, drainTimeoutMs, logger } = parts;
  if (!traces) return undefined;
  const { OtlpTracer } = await import("./otlp-tracer.ts");
  const tracer = new OtlpTracer(processName, traces, logger);
  lifecycle.opened("traces", () => tracer.close(Math.min(drainTimeoutMs, flushMaxMs)));
  return tracer;
}
