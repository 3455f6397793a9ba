import { monotonicMs } from "../time/clock.ts";
import type { Attributes, Span } from "./trace.ts";
import { newSpanId } from "./trace-ids.ts";

/** As OTLP numbers them. */
type Kind = 2 | 3;
const server: Kind = 2;
const client: Kind = 3;

/** Takes spans that have ended. */
type TakeSpan = (span: RecordedSpan) => void;

const noAttributes: Attributes = {};
const noLinks: readonly RecordedSpan[] = [];

/** A span until it is sent: it is serialized only then. */
export class RecordedSpan implements Span {
  readonly traceId: string;
  readonly spanId = newSpanId();
  readonly parentSpanId: string | undefined;
  readonly tracestate: string | undefined;
  readonly kind: Kind;
  readonly startedAtMs = monotonicMs();
  readonly #take: TakeSpan;
  name = "";
  attributes = noAttributes;
  requestId: string | undefined;
  links = noLinks;
  /** Undefined while it goes on. */
  endedAtMs: number | undefined;
  error: string | undefined;

  private constructor(
    take: TakeSpan,
    kind: Kind,
    traceId: string,
    parentSpanId: string | undefined,
    tracestate: string | undefined,
  ) {
    this.#take = take;
    this.kind = kind;
    this.traceId = traceId;
    this.parentSpanId = parentSpanId;
    this.tracestate = tracestate;
  }

  /** Begins the span of a request that is served. */
  static serve(take: TakeSpan, traceId: string, parentSpanId?: string, tracestate?: string): RecordedSpan {
    return new RecordedSpan(take, server, traceId, parentSpanId, tracestate);
  }

  get span(): Span {
    return this;
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.spanId}-01`;
  }

  beginCall(name: string, attributes: Attributes, others: readonly Span[] = []): Span {
    const call = new RecordedSpan(this.#take, client, this.traceId, this.spanId, this.tracestate);
    call.name = name;
    call.attributes = attributes;
    call.requestId = this.requestId;
    if (others.length > 0) call.links = others.filter((other) => other instanceof RecordedSpan);
    return call;
  }

  nameAs(name: string): void {
    this.name = name;
  }

  nameRequest(requestId: string): void {
    this.requestId = requestId;
  }

  set(attributes: Attributes): void {
    this.attributes = { ...this.attributes, ...attributes };
  }

  end(error?: string): void {
    if (this.endedAtMs !== undefined) return;
    this.endedAtMs = monotonicMs();
    this.error = error;
    this.#take(this);
  }
}
