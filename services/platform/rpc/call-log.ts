import type { ConnectError } from "@connectrpc/connect";
import type { Status } from "../../../proto/gen/google/rpc/status_pb.ts";
import { loggedCaller } from "../auth/logged-caller.ts";
import type { Principal } from "../auth/principal.ts";
import { DomainError } from "../domain/domain-error.ts";
import type { Logger } from "../observe/logger.ts";
import type { Metrics } from "../observe/metrics.ts";
import { requestIdsOfPart, saneRequestIds } from "../observe/request-id.ts";
import { type Span, type Trace, type Tracer, traceOf } from "../observe/trace.ts";
import { monotonicMs } from "../time/clock.ts";
import type { IncomingCall } from "./call-context.ts";
import { Code, codeName } from "./codes.ts";
import { toRpcError, toStatusMessage } from "./errors.ts";

/** Where calls are logged and counted. */
export interface CallLogParts {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Calls made at regular intervals need not fill the log, and are answered even under overload. */
  readonly isProbe?: boolean;
  /** Undefined: no traces are recorded. */
  readonly tracer?: Tracer | undefined;
}

/** The log line and the metrics of one call. The only caller-supplied text in it is a well-formed request id. */
export class CallRecord {
  readonly #rpc: string;
  readonly #call: IncomingCall;
  readonly #parts: CallLogParts;
  readonly #startedAtMs = monotonicMs();
  readonly trace: Trace | undefined;
  #isCallerKnown = false;
  /** Undefined if there are several. */
  #caller: Principal | undefined;

  constructor(rpc: string, call: IncomingCall, parts: CallLogParts) {
    this.#rpc = rpc;
    this.#call = call;
    this.#parts = parts;
    if (parts.isProbe) return;
    const traceparent = call.header("traceparent");
    this.trace = traceOf(parts.tracer, traceparent, traceparent && call.header("tracestate"));
    this.trace?.span?.nameAs(rpc);
  }

  /** From here on, what is logged was sent by someone with an access token. */
  callerIsKnown(caller: Principal): void {
    this.#isCallerKnown = true;
    this.#caller = caller;
    this.#nameRequest();
  }

  /** Its parts have access tokens of their own: it is not only its caller's. */
  readonly actsForOthers = (): void => {
    this.#caller = undefined;
  };

  /** The method succeeded; its caller may have been told something else before. */
  succeeded(): void {
    this.#ended(codeName(this.#call.earlyEnd));
  }

  /** What the caller may see of anything that was thrown. The log gets the rest. */
  failed(thrown: unknown): ConnectError {
    const error = toRpcError(thrown);
    // A fault of ours is logged as one, even if the caller has gone.
    if (isOurFault(error) && !hasRetryDelay(thrown)) this.#ended(codeName(error.code), error.cause ?? thrown);
    else this.#ended(codeName(this.#call.earlyEnd ?? error.code));
    return error;
  }

  /** For a call that the transport answered itself. */
  refused(code: Code): void {
    this.#ended(codeName(code));
  }

  /** What the caller may see of a part that failed on its own. */
  readonly partFailed = (thrown: unknown, part: number): Status => {
    const { logger, metrics } = this.#parts;
    const error = toRpcError(thrown);
    const line = {
      code: codeName(error.code),
      part,
      request_id: requestIdsOfPart(this.#requestIds(), part),
      trace_id: this.trace?.traceId,
    };
    metrics.partFailed(line.code);
    if (isOurFault(error) && !hasRetryDelay(thrown))
      logger.error({ ...line, err: error.cause ?? thrown }, "part of an rpc failed");
    return toStatusMessage(error);
  };

  #ended(code: string, fault?: unknown): void {
    const { logger, metrics, isProbe } = this.#parts;
    const seconds = (monotonicMs() - this.#startedAtMs) / 1000;
    metrics.requestHandled(this.#rpc, code, seconds);
    const line = {
      rpc: this.#rpc,
      code,
      ms: Math.round(seconds * 1e5) / 100,
      request_id: this.#requestIds(),
      trace_id: this.trace?.traceId,
      ...(this.#caller && loggedCaller(this.#caller)),
    };
    if (this.trace?.span) this.#endSpan(this.trace.span, code);
    if (fault) logger.error({ ...line, err: fault }, "rpc failed");
    else logger[isProbe ? "debug" : "info"](line, "rpc");
  }

  #endSpan(span: Span, code: string): void {
    this.#nameRequest();
    span.set({
      "rpc.system.name": this.#call.rpcSystem,
      "rpc.method": this.#rpc,
      "rpc.response.status_code": code,
    });
    span.end(faultCodes.has(code) ? code : undefined);
  }

  #nameRequest(): void {
    const span = this.trace?.span;
    const requestIds = span && this.#requestIds();
    if (requestIds !== undefined) span?.nameRequest(requestIds);
  }

  #requestIds(): string | undefined {
    return saneRequestIds(this.#call.header("x-request-id"), this.#isCallerKnown);
  }
}

/** What a trace shows as an error of the service, as OpenTelemetry has it. */
const faultCodes = new Set(["UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"]);

/** Codes that someone should look at; the others result from what the caller sent. */
function isOurFault(error: ConnectError): boolean {
  return error.code === Code.Internal || error.code === Code.Unavailable || error.code === Code.Unknown;
}

/** A refusal that many callers get at once: the metrics count them, and their stacks would fill the log. */
function hasRetryDelay(thrown: unknown): boolean {
  return thrown instanceof DomainError && thrown.retryAfterMs !== undefined;
}
