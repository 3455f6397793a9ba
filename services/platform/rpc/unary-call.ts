import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { StatusSchema } from "../../../proto/gen/google/rpc/status_pb.ts";
import { canceled, DomainError } from "../domain/domain-error.ts";
import type { Attributes, Span, Trace } from "../observe/trace.ts";
import { readMessage } from "../protobuf/messages.ts";
import { monotonicMs } from "../time/clock.ts";
import { afterArrivals } from "../time/next-turn.ts";
import { Code, codeName } from "./codes.ts";
import type { CallEnd } from "./grpc-call.ts";
import type { GrpcConnection } from "./grpc-connection.ts";
import { fromStatusMessage } from "./status.ts";

/** The options of one call. */
export interface CallOptions {
  readonly accessToken?: string | undefined;
  /** Written to the log of the service that is called. */
  readonly requestId: string;
  /** By the monotonic clock. */
  readonly deadlineMs: number;
  /** Aborted when nobody waits for the answer any more: the service is told, and does nothing that it has not begun. */
  readonly signal?: AbortSignal;
  /** Called when the call is retried although the service may have started on it, and may yet complete it. */
  readonly onOutcomeUnknown?: () => void;
  /** The trace that the call belongs to, passed on to the service. */
  readonly trace?: Trace | undefined;
  /** Spans of other requests that it is also made for. */
  readonly sharedBy?: readonly Span[];
}

export interface CalledMethod {
  readonly path: string;
  readonly output: DescMessage;
}

/** Makes one attempt of a call, over one connection. Throws DomainError. */
export function callOnce(
  connection: GrpcConnection,
  { path, output }: CalledMethod,
  frame: Buffer,
  { requestId, accessToken, signal, trace: outer, sharedBy }: CallOptions,
  deadlineMs: number,
): Promise<Message> {
  const timeoutMs = Math.max(1, Math.ceil(deadlineMs - monotonicMs()));
  const headers = ["grpc-timeout", `${timeoutMs}m`, "x-request-id", requestId];
  if (accessToken !== undefined) headers.push("authorization", `Bearer ${accessToken}`);
  const span = outer?.span?.beginCall(path.slice(1), rpcAttributes(path), sharedBy);
  const trace = span ?? outer;
  if (trace) {
    headers.push("traceparent", trace.traceparent);
    if (trace.tracestate !== undefined) headers.push("tracestate", trace.tracestate);
  }
  return new Promise((resolve, reject) => {
    let isSettled = false;
    const settle = (code: Code | undefined): boolean => {
      if (isSettled) return false;
      isSettled = true;
      if (span) endSpan(span, codeName(code));
      return true;
    };
    const giveUp = (code: Code, error: DomainError): void => {
      if (settle(code)) reject(error);
      call.cancel();
    };
    const call = connection.call(path, headers, frame, {
      // The status comes in a packet of its own and is not waited for: our services send a message only with OK. But
      // the timer runs until it comes, or a call whose status never comes would stay as long as its connection.
      onMessage: (bytes) => {
        const message = readMessage(output, bytes);
        if (settle(undefined)) resolve(message);
      },
      onEnd: (end) => {
        clearTimeout(timer);
        if (settle(end.code)) reject(errorFrom(end, connection.fault));
      },
    });
    // If this process was stalled until now, the answer may have arrived already without having been read.
    const timer = setTimeout(() => afterArrivals(() => giveUp(Code.DeadlineExceeded, notAnswered())), timeoutMs);
    signal?.addEventListener("abort", () => giveUp(Code.Canceled, canceled()), { once: true });
  });
}

function rpcAttributes(path: string): Attributes {
  return { "rpc.system.name": "grpc", "rpc.method": path.slice(1) };
}

function endSpan(span: Span, code: string): void {
  span.set({ "rpc.response.status_code": code });
  span.end(code === "OK" ? undefined : code);
}

/** The service has not started on it, and will not, perhaps because it was never sent: it may be retried at once. */
export class RefusedCall extends DomainError {}

function notAnswered(): DomainError {
  return new DomainError("deadline_exceeded", { reason: "", message: "The service did not answer in time." });
}

/** The error that the service sent, or one for a service that did not answer. */
function errorFrom({ code = Code.Internal, message, details, isRefused }: CallEnd, fault: Error | undefined): Error {
  if (isRefused) return new RefusedCall("unavailable", { reason: "", message, cause: fault });
  try {
    if (details) return fromStatusMessage(readMessage(StatusSchema, details));
    return fromStatusMessage(create(StatusSchema, { code, message }), fault);
  } catch (cause) {
    return new Error("A service answered with an error that cannot be read", { cause });
  }
}
