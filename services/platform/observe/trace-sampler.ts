import { traceEndOf, traceEnds } from "./trace-ids.ts";
import type { TracesConfig } from "./traces-config.ts";

/** Decides which traces are recorded. */
export class TraceSampler {
  /** Whether a caller decides for us. */
  readonly #followsParent: boolean;
  /** The smallest end of a trace id that is sampled. */
  readonly #recordedFrom: number;

  constructor(config: TracesConfig) {
    this.#followsParent = config.sampler.startsWith("parentbased_");
    this.#recordedFrom = Math.round((1 - shareOf(config)) * traceEnds);
  }

  /** By the end of the trace id, which is random: everyone with the same ratio decides alike. */
  recordsNew(traceEnd: number): boolean {
    return traceEnd >= this.#recordedFrom;
  }

  recordsCallers(traceId: string, isSampled: boolean): boolean {
    return this.#followsParent ? isSampled : this.recordsNew(traceEndOf(traceId));
  }
}

function shareOf({ sampler, samplerRatio }: TracesConfig): number {
  if (sampler.endsWith("always_on")) return 1;
  return sampler.endsWith("always_off") ? 0 : samplerRatio;
}
