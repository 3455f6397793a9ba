import { afterEach, describe, expect, it } from "vitest";
import { silentLogger } from "./logger.ts";
import { OtlpTracer } from "./otlp-tracer.ts";
import { type Trace, traceFrom } from "./trace.ts";
import type { TracesConfig } from "./traces-config.ts";

const tracers: OtlpTracer[] = [];

afterEach(async () => {
  await Promise.all(tracers.splice(0).map((tracer) => tracer.close(0)));
});

function tracerWith(sampler: TracesConfig["sampler"], samplerRatio: number): OtlpTracer {
  const tracer = new OtlpTracer(
    "test",
    {
      // Nothing listens there, so what is sent is lost.
      url: "http://127.0.0.1:9/v1/traces",
      headers: {},
      sampler,
      samplerRatio,
      serviceName: undefined,
      resourceAttributes: {},
      sendEveryMs: 60_000,
    },
    silentLogger(),
  );
  tracers.push(tracer);
  return tracer;
}

function serve(tracer: OtlpTracer, count: number): Trace[] {
  return Array.from({ length: count }, () => tracer.serve(undefined));
}

const recordedOf = (traces: readonly Trace[]) => traces.filter(({ span }) => span).length;

describe("a sampling ratio", () => {
  it.each([
    [0, 0, 0],
    [1e-17, 0, 0],
    [0.01, 60, 160],
    [0.5, 4_700, 5_300],
    [1, 10_000, 10_000],
  ])("of %d is met", (share, min, max) => {
    for (const sampler of ["traceidratio", "parentbased_traceidratio"] as const) {
      const recorded = recordedOf(serve(tracerWith(sampler, share), 10_000));
      expect(recorded).toBeGreaterThanOrEqual(min);
      expect(recorded).toBeLessThanOrEqual(max);
    }
  });

  it("selects the same traces in every process", () => {
    const [one, other] = [tracerWith("traceidratio", 0.5), tracerWith("traceidratio", 0.5)];
    const traces = serve(one, 200);
    const again = traces.map((trace) => other.serve(traceFrom(trace.traceparent)));
    expect(again.map(({ span }) => span !== undefined)).toEqual(traces.map(({ span }) => span !== undefined));
  });
});

describe("a caller's trace", () => {
  const traceId = "f".repeat(32);
  const isRecorded = traceFrom(`00-${traceId}-00f067aa0ba902b7-01`, "vendor=1");
  const isNot = traceFrom(`00-${traceId}-00f067aa0ba902b7-00`, "vendor=1");

  it.each<[TracesConfig["sampler"], number, ofRecorded: boolean, ofUnrecorded: boolean]>([
    ["always_on", 1, true, true],
    ["always_off", 1, false, false],
    ["parentbased_always_on", 1, true, false],
    ["parentbased_always_off", 1, true, false],
    ["parentbased_traceidratio", 0, true, false],
    // For operators who do not let callers decide what is recorded.
    ["traceidratio", 0, false, false],
    ["traceidratio", 1, true, true],
  ])("is recorded by %s of %d: %s if the caller samples it, %s if not", (sampler, share, yes, no) => {
    const tracer = tracerWith(sampler, share);
    expect([isRecorded, isNot].map((trace) => tracer.serve(trace).span !== undefined)).toEqual([yes, no]);
  });

  it("is forwarded as not sampled, or unchanged if the caller decided so", () => {
    const refused = tracerWith("traceidratio", 0).serve(isRecorded);
    expect(refused).toMatchObject({ traceId, tracestate: "vendor=1" });
    expect(refused.traceparent).toMatch(/^00-f{32}-[\da-f]{16}-00$/);
    expect(tracerWith("parentbased_always_on", 1).serve(isNot)).toBe(isNot);
  });

  it.each<[TracesConfig["sampler"], boolean]>([
    ["parentbased_always_on", true],
    ["parentbased_always_off", false],
  ])("is decided by %s if there is none", (sampler, isTaken) => {
    expect(recordedOf(serve(tracerWith(sampler, 1), 1))).toBe(isTaken ? 1 : 0);
  });
});

describe("a trace that is not recorded", () => {
  it("has the same id in the log and downstream", () => {
    const [trace] = serve(tracerWith("always_off", 1), 1);
    const { traceId } = trace as Trace;
    expect(trace?.traceparent.slice(3, 35)).toBe(traceId);
  });

  it("has its own ids, is marked as not sampled and stays the same when forwarded", () => {
    const traces = serve(tracerWith("always_off", 1), 1_000);
    const passedOn = traces.map(({ traceparent }) => traceparent);
    for (const traceparent of passedOn) expect(traceparent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-00$/);
    expect(new Set(traces.map(({ traceId }) => traceId)).size).toBe(1_000);
    expect(new Set(passedOn.map((traceparent) => traceFrom(traceparent)?.traceparent)).size).toBe(1_000);
    expect(traces.map(({ traceparent }) => traceparent)).toEqual(passedOn);
  });
});
