import { expect, it } from "vitest";
import { OtlpJson } from "./otlp-json.ts";
import { RecordedSpan } from "./recorded-span.ts";
import type { Attributes } from "./trace.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const otlp = new OtlpJson({ "service.name": 'a "service"' });
const ended: RecordedSpan[] = [];
const serve = (parentSpanId?: string) => RecordedSpan.serve((span) => ended.push(span), traceId, parentSpanId);

function written(originMs = 0) {
  const { resourceSpans } = JSON.parse(otlp.write(ended.splice(0), originMs));
  expect(resourceSpans).toHaveLength(1);
  const [{ resource, scopeSpans }] = resourceSpans;
  expect(resource).toEqual({ attributes: [{ key: "service.name", value: { stringValue: 'a "service"' } }] });
  expect(scopeSpans).toEqual([{ scope: { name: "setpoint" }, spans: expect.anything() }]);
  return scopeSpans[0].spans;
}

function writtenValue(value: string | number | undefined): unknown {
  const span = serve();
  span.set({ value } as Attributes);
  span.end();
  return written()[0].attributes[0]?.value;
}

it("encodes spans with their parents and links", () => {
  const request = serve("00f067aa0ba902b7");
  request.nameAs("GET /api/v1/presets/:slug");
  request.nameRequest("id-1");
  const other = serve();
  const call = request.beginCall('a "call"', { one: "1", none: undefined }, [other]);
  call.set({ two: 2 });
  call.end("NOT_FOUND");
  request.end();
  const times = { startTimeUnixNano: expect.stringMatching(/^\d+$/), endTimeUnixNano: expect.stringMatching(/^\d+$/) };
  expect(written(1_700_000_000_000)).toEqual([
    {
      traceId,
      spanId: expect.stringMatching(/^[\da-f]{16}$/),
      parentSpanId: request.spanId,
      name: 'a "call"',
      kind: 3,
      ...times,
      attributes: [
        { key: "one", value: { stringValue: "1" } },
        { key: "two", value: { intValue: 2 } },
        { key: "setpoint.request_id", value: { stringValue: "id-1" } },
        { key: "error.type", value: { stringValue: "NOT_FOUND" } },
      ],
      links: [{ traceId, spanId: other.spanId }],
      status: { code: 2 },
    },
    {
      traceId,
      spanId: request.spanId,
      parentSpanId: "00f067aa0ba902b7",
      name: "GET /api/v1/presets/:slug",
      kind: 2,
      ...times,
      attributes: [{ key: "setpoint.request_id", value: { stringValue: "id-1" } }],
    },
  ]);
});

it("encodes times as nanoseconds since 1970 without losing precision", () => {
  const span = serve();
  span.end();
  const [{ startTimeUnixNano, endTimeUnixNano }] = written(1_700_000_000_000);
  expect(BigInt(startTimeUnixNano) / 1_000_000n).toBe(BigInt(Math.floor(1_700_000_000_000 + span.startedAtMs)));
  expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
  expect(endTimeUnixNano).toHaveLength(19);
});

it.each([
  ["a string", "a", { stringValue: "a" }],
  ["signs", '"\\\n\u2028😀', { stringValue: '"\\\n\u2028😀' }],
  ["a long string, which is truncated", "a".repeat(300), { stringValue: "a".repeat(256) }],
  ["an integer", -1, { intValue: -1 }],
  ["a fraction", 0.5, { doubleValue: 0.5 }],
  ["a number beyond 64-bit integers", 1e300, { doubleValue: 1e300 }],
  ["NaN", Number.NaN, { doubleValue: "NaN" }],
  ["infinity", Number.POSITIVE_INFINITY, { doubleValue: "Infinity" }],
  ["nothing", undefined, undefined],
])("encodes %s", (_, value, expected) => {
  expect(writtenValue(value)).toEqual(expected);
});

it("encodes a span once, however often it ends", () => {
  const span = serve();
  span.end();
  span.end("late");
  expect(written()).toMatchObject([{ spanId: span.spanId, attributes: [] }]);
});
