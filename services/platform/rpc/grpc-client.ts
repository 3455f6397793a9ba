import { setTimeout as sleep } from "node:timers/promises";
import {
  create,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { type Client, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { StatusSchema } from "../../../proto/gen/google/rpc/status_pb.ts";
import { canceled, type DomainError, isOfKind, unavailable } from "../domain/domain-error.ts";
import type { Attributes, Span, Trace } from "../observe/trace.ts";
import { monotonicMs } from "../process/clock.ts";
import type { Channel } from "./channel.ts";
import type { Endpoint } from "./endpoint.ts";
import { fromStatusMessage } from "./errors.ts";
import { type GrpcDefinition, grpcDefinitionOf } from "./grpc-definition.ts";

/** What goes with one call. */
export interface CallOptions {
  readonly accessToken?: string | undefined;
  /** Written to the log of the service that is called. */
  readonly requestId: string;
  /** By the monotonic clock. */
  readonly deadlineMs: number;
  /** Aborted when nobody waits for the answer any more: the service is told, and what it has not begun it does not do. */
  readonly signal?: AbortSignal;
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
      const definition = grpcDefinitionOf(method);
      const call = (request: MessageInitShape<typeof method.input>, options: CallOptions) =>
        callUntilDeadline(channel, definition, create(method.input, request), options);
      return [method.localName, call];
    });
  return Object.fromEntries(methods);
}

const backoffFirstMs = 25;
const backoffMaxMs = 1_000;

async function callUntilDeadline(
  channel: Channel,
  definition: GrpcDefinition,
  request: Message,
  options: CallOptions,
): Promise<Message> {
  let failed: Set<Endpoint> | undefined;
  let timeouts = 0;
  for (let attempt = 0; ; attempt += 1) {
    // Also before the first: whoever asks may have gone while something else was waited for.
    if (options.signal?.aborted) throw canceled();
    const endpoint = channel.pick(failed);
    const hasOthers = endpoint !== undefined && channel.hasOthers(endpoint, failed);
    const deadlineMs = hasOthers && timeouts < timeoutsMax ? attemptDeadlineMs(options) : options.deadlineMs;
    try {
      if (!endpoint) throw unavailable("No address of the service is known. Try again.");
      return await callOnce(endpoint.client, definition, request, options, deadlineMs);
    } catch (error) {
      const isTimeout = isOfKind(error, "deadline_exceeded") && deadlineMs < options.deadlineMs;
      if (!isTimeout && !isOfKind(error, "unavailable")) throw error;
      if (isTimeout) {
        timeouts += 1;
        endpoint?.doubt();
      }
      if (endpoint) failed = new Set(failed).add(endpoint);
      // Another one may be fine; the same one needs time.
      const pauseMs = hasOthers ? 0 : Math.min(backoffMaxMs, backoffFirstMs * 2 ** attempt) * (0.5 + Math.random());
      if (monotonicMs() + pauseMs >= options.deadlineMs) throw error;
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
  client: Client,
  { path, requestSerialize, responseDeserialize }: GrpcDefinition,
  request: Message,
  options: CallOptions,
  deadlineMs: number,
): Promise<Message> {
  const metadata = new Metadata();
  metadata.set("x-request-id", options.requestId);
  if (options.accessToken !== undefined) metadata.set("authorization", `Bearer ${options.accessToken}`);
  const span = options.trace?.span?.beginCall(path.slice(1), rpcAttributes(path), options.sharedBy);
  const trace = span ?? options.trace;
  if (trace) {
    metadata.set("traceparent", trace.traceparent);
    if (trace.tracestate !== undefined) metadata.set("tracestate", trace.tracestate);
  }
  return new Promise((resolve, reject) => {
    const call = withoutStacks(() =>
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        { deadline: Date.now() + deadlineMs - monotonicMs() },
        (error, response) => {
          if (span) endSpan(span, error?.code ?? status.OK);
          if (error) rejectWith(error, reject);
          else resolve(response as Message);
        },
      ),
    );
    options.signal?.addEventListener("abort", () => call.cancel(), { once: true });
  });
}

function rpcAttributes(path: string): Attributes {
  return { "rpc.system.name": "grpc", "rpc.method": path.slice(1) };
}

function endSpan(span: Span, code: status): void {
  const name = status[code];
  span.set({ "rpc.response.status_code": name });
  span.end(code === status.OK ? undefined : name);
}

/** grpc-js makes an Error for every call, for the stack of one that may fail. Our errors have a request id instead. */
function withoutStacks<T>(start: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return start();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** grpc-js calls back from a stack of its own, so that what is thrown there would end the process. */
function rejectWith(error: ServiceError, reject: (reason: unknown) => void): void {
  try {
    reject(domainErrorFrom(error));
  } catch (cause) {
    reject(new Error("A service answered with an error that cannot be read", { cause }));
  }
}

/** What the service said, or what grpc-js says of a service that did not answer. */
function domainErrorFrom(error: ServiceError): DomainError {
  const [bytes] = error.metadata?.get("grpc-status-details-bin") ?? [];
  const { details: message } = error;
  // A connection that ends before its calls do is a service out of reach for them; grpc-js calls it INTERNAL.
  const code = /RST_STREAM/.test(message) ? status.UNAVAILABLE : error.code;
  const answer = bytes instanceof Buffer ? fromBinary(StatusSchema, bytes) : create(StatusSchema, { code, message });
  return fromStatusMessage(answer, error);
}
