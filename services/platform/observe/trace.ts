/** The attributes of a span. Never anything that contains a prompt, an answer, a key or a value of SQL. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** The position of a call in its trace: what is logged, and what is passed on to the services that it calls. */
export interface Trace {
  readonly traceId: string;
  /** In the format of W3C Trace Context. */
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  /** Undefined if nothing is recorded: this process records no traces, or not this one. */
  readonly span: Span | undefined;
}

/** What a caller says about its trace. */
export interface CallersTrace extends Trace {
  readonly span: undefined;
}

/** A part of a trace that is recorded. A span that never ends is not sent. */
export interface Span extends Trace {
  /** Begins a child span: a call to another process. `others` are further spans that it is made for. */
  beginCall(name: string, attributes: Attributes, others?: readonly Span[]): Span;
  /** The span of a request has no name before its route is known. */
  nameAs(name: string): void;
  set(attributes: Attributes): void;
  /** Sets the request that it belongs to. Child spans that begin later inherit it. */
  nameRequest(requestId: string): void;
  /** With an error: a short word of ours for it, never its message. */
  end(error?: string): void;
}

/** Records traces. A process that is not told where to send them has none. */
export interface Tracer {
  /** Begins the span of a request, within the caller's trace if there is one. */
  serve(parent: CallersTrace | undefined): Trace;
}

/** The trace of a call that has come in; undefined if its caller is in none, and none is recorded. */
export function traceOf(
  tracer: Tracer | undefined,
  traceparent: string | string[] | undefined,
  tracestate: string | string[] | undefined,
): Trace | undefined {
  const parent = typeof traceparent === "string" ? traceFrom(traceparent, tracestate) : undefined;
  return tracer ? tracer.serve(parent) : parent;
}

const ids = "(?!0{32})[\\da-f]{32}-(?!0{16})[\\da-f]{16}";
/** A later version may append to the flags; what comes before stays the same. */
const pattern = new RegExp(`^(?:00-${ids}-[\\da-f]{2}$|(?!00|ff)[\\da-f]{2}-${ids}-[\\da-f]{2}(?:-|$))`);

/** The maximum length that is passed on; W3C requires no more. */
const tracestateLengthMax = 512;
const tracestatePattern = /^[\x20-\x7e\t]+$/;

/** What a caller says about its trace. If any of it is malformed, all of it is ignored. */
export function traceFrom(traceparent: string, tracestate?: string | string[]): CallersTrace | undefined {
  if (!pattern.test(traceparent)) return undefined;
  const isKept =
    typeof tracestate === "string" && tracestate.length <= tracestateLengthMax && tracestatePattern.test(tracestate);
  return {
    traceId: traceparent.slice(3, 35),
    traceparent: `00${traceparent.slice(2, 55)}`,
    tracestate: isKept ? tracestate : undefined,
    span: undefined,
  };
}

interface Traced {
  readonly trace?: Trace | undefined;
  /** If it is already made for several: the spans in addition to its own. */
  readonly sharedBy?: readonly Span[];
}

/** The trace of a call that is made for several: one that is recorded, or else the first. */
export function sharedTrace(callers: readonly Traced[]): Trace | undefined {
  let first: Trace | undefined;
  for (const { trace } of callers) {
    if (trace?.span) return trace;
    first ??= trace;
  }
  return first;
}

/** The spans that share a call with the trace it is made in. */
export function otherSpans(chosen: Trace | undefined, callers: readonly Traced[]): readonly Span[] {
  if (!chosen?.span) return [];
  const spans: Span[] = [];
  for (const { trace, sharedBy } of callers) {
    if (trace?.span && trace.span !== chosen.span) spans.push(trace.span);
    if (sharedBy) spans.push(...sharedBy);
  }
  return spans;
}
