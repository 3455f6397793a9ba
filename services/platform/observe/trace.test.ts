import { describe, expect, it } from "vitest";
import { traceFrom, traceOf } from "./trace.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";
const sampled = `00-${traceId}-${spanId}-01`;

describe("a traceparent", () => {
  it.each([
    ["sampled", sampled, sampled],
    ["not sampled", `00-${traceId}-${spanId}-00`, `00-${traceId}-${spanId}-00`],
    ["with unknown flags", `00-${traceId}-${spanId}-ff`, `00-${traceId}-${spanId}-ff`],
    ["of a later version", `cc-${traceId}-${spanId}-01`, sampled],
    ["of a later version with more fields", `cc-${traceId}-${spanId}-01-what-the-future`, sampled],
  ])("is accepted: %s", (_, given, passedOn) => {
    expect(traceFrom(given)).toEqual({ traceId, traceparent: passedOn, tracestate: undefined, span: undefined });
  });

  it.each([
    ["nothing", ""],
    ["too short", sampled.slice(0, -1)],
    ["too long for its version", `${sampled}0`],
    ["more than its version has", `${sampled}-00`],
    ["a later version with trailing text", `cc-${traceId}-${spanId}-01.what`],
    ["the forbidden version", `ff-${traceId}-${spanId}-01`],
    ["a version that is not a number", `zz-${traceId}-${spanId}-01`],
    ["a zero trace id", `00-${"0".repeat(32)}-${spanId}-01`],
    ["a zero span id", `00-${traceId}-${"0".repeat(16)}-01`],
    ["upper case", sampled.toUpperCase()],
    ["two of them", `${sampled}, ${sampled}`],
    ["a line break", `${sampled}\n`],
    ["not hexadecimal", sampled.replaceAll("-", "_")],
    ["a megabyte", `cc${"a".repeat(1024 * 1024)}`],
  ])("is ignored if it is %s", (_, given) => {
    expect(traceFrom(given, "vendor=1")).toBeUndefined();
  });

  it("is ignored if there are two headers or none", () => {
    expect([traceOf(undefined, [sampled, sampled], undefined), traceOf(undefined, undefined, "a=1")]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe("a tracestate", () => {
  it.each(["vendor=1", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "a".repeat(512)])("is accepted: %s", (state) => {
    expect(traceFrom(sampled, state)?.tracestate).toBe(state);
  });

  it.each([
    ["too long", "a".repeat(513)],
    ["empty", ""],
    ["two headers", ["a=1", "b=2"]],
    ["a line break", "a=1\nb=2"],
    ["not ASCII", "a=ä"],
  ])("is dropped if it is %s, without dropping the trace", (_, state) => {
    expect(traceFrom(sampled, state)).toMatchObject({ traceId, tracestate: undefined });
  });
});
