/** What is recorded of a span beside its name. Never anything that holds a prompt, an answer, a key or a value of SQL. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Where a call stands in the trace that it is part of: what is logged, and what is passed on to those that it calls. */
export interface Trace {
  readonly traceId: string;
  /** As W3C Trace Context has it. */
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  /** Undefined if nothing is recorded: this process records no traces, or not this one. */
  readonly span: Span | undefined;
}

/** What a caller says of its trace. */
export interface CallersTrace extends Trace {
  readonly span: undefined;
}

/** A part of a trace that is recorded. Of one that never ends nothing is seen. */
export interface Span extends Trace {
  /** Begins a part of this one: a call of another. `others` are those that it is made for as well. */
  beginCall(name: string, attributes: Attributes, others?: readonly Span[]): Span;
  /** What is done for a caller has no name before. */
  nameAs(name: string): void;
  set(attributes: Attributes): void;
  /** Says which request it belongs to. Parts that begin later say so, too. */
  nameRequest(requestId: string): void;
  /** With an error: a short word of ours for it, never its message. */
  end(error?: string): void;
}

/** Records traces. There is none in a process that is not told where to send them. */
export interface Tracer {
  /** Begins what is done for a caller, as a part of the caller's trace where there is one. */
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
/** A later version may have more behind the flags; what is before it is as it was. */
const pattern = new RegExp(`^(?:00-${ids}-[\\da-f]{2}$|(?!00|ff)[\\da-f]{2}-${ids}-[\\da-f]{2}(?:-|$))`);

/** What a trace is passed on with is at most this long; W3C asks for no more. */
const tracestateLengthMax = 512;
const tracestatePattern = /^[\x20-\x7e\t]+$/;

/** What a caller says of its trace. What is not as it should be is ignored, and the rest of it with it. */
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
  /** Where it is made for several already: the spans beside its own. */
  readonly sharedBy?: readonly Span[];
}

/** The trace of a call that is made for several: one that is recorded, or else the first. */
export function traceTogether(callers: readonly Traced[]): Trace | undefined {
  let first: Trace | undefined;
  for (const { trace } of callers) {
    if (trace?.span) return trace;
    first ??= trace;
  }
  return first;
}

/** The spans that share a call with the trace it is made in. */
export function spansBeside(chosen: Trace | undefined, callers: readonly Traced[]): readonly Span[] {
  if (!chosen?.span) return [];
  const spans: Span[] = [];
  for (const { trace, sharedBy } of callers) {
    if (trace?.span && trace.span !== chosen.span) spans.push(trace.span);
    if (sharedBy) spans.push(...sharedBy);
  }
  return spans;
}
