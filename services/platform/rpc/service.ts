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
import type { AccessTokenVerifier } from "../auth/access-token.ts";
import { DomainError } from "../domain/domain-error.ts";
import { type CallContext, callContext, type IncomingCall, type OpenContext, openContext } from "./call-context.ts";
import { type CallLogParts, CallRecord } from "./call-log.ts";

/** The methods of a service as plain functions: `(request, context) => response`. */
export type Implementation<S extends DescService, Context = CallContext> = {
  [Name in keyof S["method"]]: S["method"][Name] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, context: Context) => Promise<MessageInitShape<O>>
    : S["method"][Name] extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, context: Context) => AsyncIterable<MessageInitShape<O>>
      : never;
};

/** A service that any transport can mount. */
export interface ServedService {
  readonly descriptor: DescService;
  readonly methods: readonly ServedMethod[];
}

/** A method with everything around it; it throws nothing but ConnectError. */
export type ServedMethod = MethodParts &
  (
    | { readonly kind: "unary"; readonly handle: (received: RequestOrRefusal, call: IncomingCall) => Promise<Answer> }
    | {
        readonly kind: "stream";
        readonly handle: (received: RequestOrRefusal, call: IncomingCall) => AsyncIterable<Message>;
      }
  );

interface MethodParts {
  readonly descriptor: DescMethod;
  /** Whether it is answered however much there is to do. */
  readonly isProbe: boolean;
  /** Logs and counts a call that the transport has answered by itself. */
  readonly refused: (code: Code, call: IncomingCall) => void;
}

/** What a transport made of a request: its message, or why there is none. That is logged and counted as a call, too. */
export type RequestOrRefusal = Message | DomainError;

/** The transport says what became of it, because a message that cannot be encoded is no success. */
export interface Answer {
  readonly message: Message;
  readonly encoded: () => void;
  readonly notEncoded: (thrown: unknown) => ConnectError;
}

/** Wraps every method with authentication, error mapping, access log and metrics. */
export function serveService<S extends DescService>(
  descriptor: S,
  implementation: Implementation<S>,
  parts: CallLogParts & { readonly verifier: AccessTokenVerifier },
): ServedService {
  return wrap(descriptor, implementation, parts, async (call, record) => {
    const context = await callContext(call, parts.verifier, record.partFailed);
    record.callerIsKnown();
    return context;
  });
}

/** The same for a service that anyone may call without an access token. */
export function serveOpenService<S extends DescService>(
  descriptor: S,
  implementation: Implementation<S, OpenContext>,
  parts: CallLogParts,
): ServedService {
  return wrap(descriptor, implementation, parts, async (call, record) => openContext(call, record.partFailed));
}

function wrap<Context>(
  descriptor: DescService,
  implementation: object,
  parts: CallLogParts,
  contextOf: (call: IncomingCall, record: CallRecord) => Promise<Context>,
): ServedService {
  const methods = descriptor.methods.map((method): ServedMethod => {
    const rpc = `${descriptor.typeName}/${method.name}`;
    const { output } = method;
    // The generated types are checked where a service is handed in; in here all methods look alike.
    const run = (implementation as Record<string, unknown>)[method.localName];
    const common: MethodParts = {
      descriptor: method,
      isProbe: parts.isProbe ?? false,
      refused: (code, call) => new CallRecord(rpc, call, parts).refused(code),
    };

    const unary = async (received: RequestOrRefusal, call: IncomingCall): Promise<Answer> => {
      const record = new CallRecord(rpc, call, parts);
      try {
        const context = await contextOf(call, record);
        const message = create(output, await (run as AnyUnary<Context>)(messageIn(received), context));
        return { message, encoded: () => record.succeeded(), notEncoded: (thrown) => record.failed(thrown) };
      } catch (thrown) {
        throw record.failed(thrown);
      }
    };

    const stream = async function* (received: RequestOrRefusal, call: IncomingCall): AsyncIterable<Message> {
      const record = new CallRecord(rpc, call, parts);
      let isOver = false;
      try {
        const context = await contextOf(call, record);
        for await (const message of (run as AnyStream<Context>)(messageIn(received), context)) {
          yield create(output, message);
        }
        isOver = true;
        record.succeeded();
      } catch (thrown) {
        isOver = true;
        throw record.failed(thrown);
      } finally {
        // Whoever reads it has stopped.
        if (!isOver) record.refused(Code.Canceled);
      }
    };

    switch (method.methodKind) {
      case "unary":
        return { ...common, kind: "unary", handle: unary };
      case "server_streaming":
        return { ...common, kind: "stream", handle: stream };
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
