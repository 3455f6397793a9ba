import type { RecordedSpan } from "./recorded-span.ts";

// OTLP in JSON, according to https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: ids in hexadecimal,
// enums as numbers, times as text. Written piece by piece, which costs a fraction of building objects for
// JSON.stringify.

/** For attributes of a span; longer texts are truncated. */
const textLengthMax = 256;

/** Serializes spans for a collector, after the attributes of the process, which are serialized once. */
export class OtlpJson {
  readonly #head: string;

  constructor(resource: Readonly<Record<string, string>>) {
    const attributes = Object.entries(resource).map(([name, value]) => attributeOf(name, value));
    const resourceText = `{"attributes":[${attributes.join()}]}`;
    this.#head = `{"resourceSpans":[{"resource":${resourceText},"scopeSpans":[{"scope":{"name":"setpoint"},"spans":[`;
  }

  /** `originMs` is the time, since 1970, that the monotonic clock is counted from. */
  write(spans: readonly RecordedSpan[], originMs: number): string {
    return `${this.#head}${spans.map((span) => spanText(span, originMs)).join()}]}]}]}`;
  }
}

function spanText(span: RecordedSpan, originMs: number): string {
  const { traceId, spanId, parentSpanId, name, kind, startedAtMs, endedAtMs = startedAtMs, links, error } = span;
  const parent = parentSpanId === undefined ? "" : `"parentSpanId":"${parentSpanId}",`;
  const times = `"startTimeUnixNano":"${unixNano(originMs + startedAtMs)}","endTimeUnixNano":"${unixNano(originMs + endedAtMs)}"`;
  const linked = links.length === 0 ? "" : `,"links":[${links.map(linkText).join()}]`;
  const status = error === undefined ? "" : ',"status":{"code":2}';
  return `{"traceId":"${traceId}","spanId":"${spanId}",${parent}"name":${text(name)},"kind":${kind},${times},"attributes":[${attributesText(span)}]${linked}${status}}`;
}

function linkText({ traceId, spanId }: RecordedSpan): string {
  return `{"traceId":"${traceId}","spanId":"${spanId}"}`;
}

function attributesText({ attributes, requestId, error }: RecordedSpan): string {
  let written = "";
  const add = (name: string, value: string | number | undefined) => {
    if (value !== undefined) written += (written && ",") + attributeOf(name, value);
  };
  for (const name in attributes) add(name, attributes[name]);
  add("setpoint.request_id", requestId);
  add("error.type", error);
  return written;
}

function attributeOf(name: string, value: string | number): string {
  return `{"key":${JSON.stringify(name)},"value":{${typedValue(value)}}}`;
}

function typedValue(value: string | number): string {
  if (typeof value === "string") return `"stringValue":${text(value)}`;
  if (Number.isSafeInteger(value)) return `"intValue":${value}`;
  return `"doubleValue":${Number.isFinite(value) ? value : `"${value}"`}`;
}

function text(value: string): string {
  return JSON.stringify(value.length > textLengthMax ? value.slice(0, textLengthMax) : value);
}

/** As text, because it has more digits than a number can represent. */
function unixNano(ms: number): string {
  const whole = Math.floor(ms);
  return whole + String(Math.floor((ms - whole) * 1e6)).padStart(6, "0");
}
