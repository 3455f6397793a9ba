import { setTimeout as sleep } from "node:timers/promises";
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { StatusSchema } from "../../../proto/gen/google/rpc/status_pb.ts";
import { canceled, DomainError, isOfKind, unavailable } from "../domain/domain-error.ts";
import type { Attributes, Span, Trace } from "../observe/trace.ts";
import { monotonicMs } from "../process/clock.ts";
import { readMessage } from "../protobuf/messages.ts";
import type { Channel } from "./channel.ts";
import { Code, codeName } from "./codes.ts";
import type { Endpoint } from "./endpoint.ts";
import type { CallEnd } from "./grpc-call.ts";
import type { GrpcConnection } from "./grpc-connection.ts";
import { frameOf, grpcPathOf, prefixBytes } from "./grpc-messages.ts";
import { requestBytesMax } from "./message-sizes.ts";
import { requestTooLarge } from "./refusals.ts";
import { fromStatusMessage } from "./status.ts";

/** What goes with one call. */
export interface CallOptions {
  readonly accessToken?: string | undefined;
  /** Written to the log of the service that is called. */
  readonly requestId: string;
  /** By the monotonic clock. */
  readonly deadlineMs: number;
  /** Aborted when nobody waits for the answer any more: the service is told, and what it has not begun it does not do. */
  readonly signal?: AbortSignal;
  /** Told when the call is made again although the service may have begun with it, and may yet do what it is for. */
  readonly onLeftOpen?: () => void;
  /** What the call is part of: passed on to the service. */
  readonly trace?: Trace | undefined;
  /** Those that it is made for as well. */
  readonly sharedBy?: readonly Span[];
}

/** The unary methods of a service as functions. They throw DomainError. */
export type Methods<S extends DescService> = {
  [Name in keyof S["method"] as S["method"][Name] extends DescMethodUnary
    ? Name
    : never]: S["method"][Name] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, options: CallOptions) => Promise<MessageShape<O>>
    : never;
};

/**
 * The typed client of a service. A call that fails with UNAVAILABLE, or that one of several processes does not answer
 * soon, is made again until its deadline, so every request that is sent through here must be safe to repeat: one that
 * changes something has a `request_id`.
 */
export function grpcClient<S extends DescService>(service: S, channel: Channel): Methods<S> {
  const methods = service.methods
    .filter((method) => method.methodKind === "unary")
    .map((method) => {
      const called = { path: grpcPathOf(method), input: method.input, output: method.output };
      const call = (request: MessageInitShape<typeof method.input>, options: CallOptions) =>
        callUntilDeadline(channel, called, request, options);
      return [method.localName, call];
    });
  return Object.fromEntries(methods);
}

interface CalledMethod {
  readonly path: string;
  readonly input: DescMessage;
  readonly output: DescMessage;
}

const backoffFirstMs = 25;
const backoffMaxMs = 1_000;

async function callUntilDeadline(
  channel: Channel,
  method: CalledMethod,
  request: MessageInitShape<DescMessage>,
  options: CallOptions,
): Promise<Message> {
  const frame = frameOf(method.input, request);
  if (frame.length - prefixBytes > requestBytesMax) throw requestTooLarge(requestBytesMax);
  let failed: Set<Endpoint> | undefined;
  let timeouts = 0;
  for (let attempt = 0; ; attempt += 1) {
    // Also before the first: whoever asks may have gone while something else was waited for.
    if (options.signal?.aborted) throw canceled();
    const endpoint = channel.pick(failed);
    const hasOthers = endpoint !== undefined && channel.hasOthers(endpoint, failed);
    const isBounded = timeouts < timeoutsMax && (hasOthers || (endpoint && channel.isLastResort(endpoint)));
    const deadlineMs = isBounded ? attemptDeadlineMs(options) : options.deadlineMs;
    try {
      if (!endpoint) throw unavailable("No address of the service is known. Try again.");
      return await callOnce(endpoint.connection, method, frame, options, deadlineMs);
    } catch (error) {
      const isTimeout = isOfKind(error, "deadline_exceeded") && deadlineMs < options.deadlineMs;
      if (!isTimeout && !isOfKind(error, "unavailable")) throw error;
      if (isTimeout) {
        timeouts += 1;
        endpoint?.doubt();
      }
      if (endpoint) failed = new Set(failed).add(endpoint);
      // Another one may be fine; the same one needs time, unless it only asks for another connection.
      const isFirstRefusal = error instanceof RefusedCall && attempt === 0;
      const pauseMs =
        hasOthers || isFirstRefusal ? 0 : Math.min(backoffMaxMs, backoffFirstMs * 2 ** attempt) * (0.5 + Math.random());
      if (monotonicMs() + pauseMs >= options.deadlineMs) throw error;
      if (!(error instanceof RefusedCall)) options.onLeftOpen?.();
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }
}

const attemptTimeoutMinMs = 500;
const attemptTimeoutMaxMs = 3_000;
/** So often a call turns to another process that might be faster. After that it waits: they may all be slow, and calls that are made again make that worse. */
const timeoutsMax = 2;

/** How long to wait for one process where there are others: a third of the time that is left, within bounds. */
function attemptDeadlineMs({ deadlineMs }: CallOptions): number {
  const nowMs = monotonicMs();
  const third = Math.max(attemptTimeoutMinMs, Math.min(attemptTimeoutMaxMs, (deadlineMs - nowMs) / 3));
  return Math.min(deadlineMs, nowMs + third);
}

function callOnce(
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
      // Not waited for: its status, which comes in a packet of its own. Our services send a message only with OK. Until it
      // comes the time is counted, or a call whose status never does would stay for as long as its connection.
      onMessage: (bytes) => {
        const message = readMessage(output, bytes);
        if (settle(undefined)) resolve(message);
      },
      onEnd: (end) => {
        clearTimeout(timer);
        if (settle(end.code)) reject(errorFrom(end));
      },
    });
    const timer = setTimeout(() => giveUp(Code.DeadlineExceeded, notAnswered()), timeoutMs);
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

/** The service has not begun with it. */
class RefusedCall extends DomainError {}

function notAnswered(): DomainError {
  return new DomainError("deadline_exceeded", { reason: "", message: "The service did not answer in time." });
}

/** What the service said, or what there is to say of one that did not answer. */
function errorFrom({ code = Code.Internal, message, details, isRefused }: CallEnd): Error {
  if (isRefused) return new RefusedCall("unavailable", { reason: "", message });
  try {
    return fromStatusMessage(details ? readMessage(StatusSchema, details) : create(StatusSchema, { code, message }));
  } catch (cause) {
    return new Error("A service answered with an error that cannot be read", { cause });
  }
}
