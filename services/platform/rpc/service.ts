import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { Code, type ConnectError } from "@connectrpc/connect";
import type { Status } from "../../../proto/gen/google/rpc/status_pb.ts";
import type { AccessTokenVerifier } from "../auth/access-token.ts";
import type { Principal } from "../auth/principal.ts";
import { DomainError } from "../domain/domain-error.ts";
import type { Logger } from "../observe/logger.ts";
import type { Metrics } from "../observe/metrics.ts";
import { monotonicMs } from "../process/clock.ts";
import { codeName, toRpcError, toStatusMessage } from "./errors.ts";

/** What a transport knows about one call. */
export interface IncomingCall {
  readonly header: (name: string) => string | undefined;
  /** By the monotonic clock; undefined where the caller set none. */
  readonly deadlineMs: number | undefined;
  /** Whether the caller has given up. */
  readonly isCanceled: () => boolean;
  /** Aborted when the caller is gone. Streams always have one. */
  readonly signal: AbortSignal | undefined;
}

/** What a method knows about any call. */
export interface OpenContext {
  /** By the monotonic clock: the caller's own deadline, or ours where that is earlier. */
  readonly deadlineMs: number;
  /** Whether the caller has given up, so that nothing may be stored for them any more. */
  readonly isCanceled: () => boolean;
  readonly signal: AbortSignal | undefined;
  /** For a part of a call that fails on its own: what the caller may see of the error. The log sees the rest. */
  readonly partFailed: (thrown: unknown, part: number) => Status;
}

/** What a method knows about a call that came with an access token. */
export interface CallContext extends OpenContext {
  readonly principal: Principal;
  /** For a part of a call that is made in another's name. */
  readonly inNameOf: (accessToken: string) => Promise<CallContext>;
}

/** The methods of a service as plain functions: `(request, context) => response`. */
export type Implementation<S extends DescService, Context = CallContext> = {
  [Name in keyof S["method"]]: S["method"][Name] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, context: Context) => Promise<MessageInitShape<O>>
    : S["method"][Name] extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, context: Context) => AsyncIterable<MessageInitShape<O>>
      : never;
};

/** A method with everything around it; it throws nothing but ConnectError. */
export type ServedMethod =
  | { readonly kind: "unary"; readonly descriptor: DescMethod; readonly handle: UnaryHandler }
  | { readonly kind: "stream"; readonly descriptor: DescMethod; readonly handle: StreamHandler };

type UnaryHandler = (received: RequestOrRefusal, call: IncomingCall) => Promise<Message>;
type StreamHandler = (received: RequestOrRefusal, call: IncomingCall) => AsyncIterable<Message>;

/** What a transport made of a request: its message, or why there is none. That is logged and counted as a call, too. */
export type RequestOrRefusal = Message | DomainError;

/** A service that any transport can mount. */
export interface ServedService {
  readonly descriptor: DescService;
  readonly methods: readonly ServedMethod[];
}

interface Middleware {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Calls that come by the clock need not fill the log. Default: info. */
  readonly accessLogLevel?: "info" | "debug";
}

/** Wraps every method with authentication, error mapping, access log and metrics. */
export function serveService<S extends DescService>(
  descriptor: S,
  implementation: Implementation<S>,
  middleware: Middleware & { readonly verifier: AccessTokenVerifier },
): ServedService {
  const { verifier } = middleware;
  return wrap(descriptor, implementation, middleware, async (call) => {
    const context: CallContext = {
      ...openContext(call, middleware),
      principal: await verifier.authenticate(call.header("authorization")),
      inNameOf: async (accessToken) => ({ ...context, principal: await verifier.verify(accessToken) }),
    };
    return context;
  });
}

/** The same for a service that anyone may call without an access token. */
export function serveOpenService<S extends DescService>(
  descriptor: S,
  implementation: Implementation<S, OpenContext>,
  middleware: Middleware,
): ServedService {
  return wrap(descriptor, implementation, middleware, async (call) => openContext(call, middleware));
}

/** No call waits longer than this for the database, whatever its caller would wait. */
const callTimeoutMaxMs = 15_000;

function openContext({ header, deadlineMs, ...call }: IncomingCall, { logger, metrics }: Middleware): OpenContext {
  return {
    ...call,
    deadlineMs: Math.min(deadlineMs ?? Number.POSITIVE_INFINITY, monotonicMs() + callTimeoutMaxMs),
    partFailed: (thrown, part) => {
      const error = toRpcError(thrown);
      const line = { code: codeName(error.code), part, request_id: header("x-request-id") };
      metrics.partFailed(line.code);
      if (isOurFault(error)) logger.error({ ...line, err: error.cause ?? error }, "part of an rpc failed");
      return toStatusMessage(error);
    },
  };
}

function wrap<Context>(
  descriptor: DescService,
  implementation: object,
  { logger, metrics, accessLogLevel = "info" }: Middleware,
  contextOf: (call: IncomingCall) => Promise<Context>,
): ServedService {
  /** Starts the clock of a call; the function that it returns ends it, with the error where there was one. */
  const begin = (rpc: string, call: IncomingCall) => {
    const startedAt = performance.now();
    return (error?: ConnectError) => {
      const seconds = (performance.now() - startedAt) / 1000;
      const code = codeName(error?.code);
      metrics.requestHandled(rpc, code, seconds);
      const line = { rpc, code, ms: Math.round(seconds * 1e5) / 100, request_id: call.header("x-request-id") };
      if (error && isOurFault(error)) logger.error({ ...line, err: error.cause ?? error }, "rpc failed");
      else logger[accessLogLevel](line, "rpc");
    };
  };

  const unary = (rpc: string, { output }: DescMethod, run: AnyUnary<Context>): UnaryHandler => {
    return async (received, call) => {
      const end = begin(rpc, call);
      try {
        const context = await contextOf(call);
        const response = create(output, await run(messageIn(received), context));
        end();
        return response;
      } catch (thrown) {
        const error = toRpcError(thrown);
        end(error);
        throw error;
      }
    };
  };

  const stream = (rpc: string, { output }: DescMethod, run: AnyStream<Context>): StreamHandler => {
    return async function* (received, call) {
      const end = begin(rpc, call);
      try {
        const context = await contextOf(call);
        for await (const message of run(messageIn(received), context)) yield create(output, message);
        end();
      } catch (thrown) {
        const error = toRpcError(thrown);
        end(error);
        throw error;
      }
    };
  };

  const methods = descriptor.methods.map((method): ServedMethod => {
    const rpc = `${descriptor.typeName}/${method.name}`;
    // The generated types are checked where a service is handed in; in here all methods look alike.
    const run = (implementation as Record<string, unknown>)[method.localName];
    switch (method.methodKind) {
      case "unary":
        return { kind: "unary", descriptor: method, handle: unary(rpc, method, run as AnyUnary<Context>) };
      case "server_streaming":
        return { kind: "stream", descriptor: method, handle: stream(rpc, method, run as AnyStream<Context>) };
      default:
        throw new Error(`${rpc}: client streaming is not supported`);
    }
  });
  return { descriptor, methods };
}

type AnyUnary<Context> = (request: Message, context: Context) => Promise<MessageInitShape<DescMessage>>;
type AnyStream<Context> = (request: Message, context: Context) => AsyncIterable<MessageInitShape<DescMessage>>;

/** Called once the caller is known, so that a stranger is told nothing but that. */
function messageIn(received: RequestOrRefusal): Message {
  if (received instanceof DomainError) throw received;
  return received;
}

/** Codes that a person should look at; the others are answers to what the caller sent. */
function isOurFault(error: ConnectError): boolean {
  return error.code === Code.Internal || error.code === Code.Unavailable || error.code === Code.Unknown;
}
