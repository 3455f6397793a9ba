import type {
  DescMessage,
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  Message,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { AccessTokenVerifier } from "../auth/access-token.ts";
import { type CallContext, callContext, type IncomingCall, type OpenContext, openContext } from "./call-context.ts";
import { type CallLogParts, CallRecord } from "./call-log.ts";
import { Code } from "./codes.ts";
import { requestBytesMax, smallRequestBytesMax } from "./message-sizes.ts";

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
    | { readonly kind: "unary"; readonly handle: (read: ReadRequest, call: IncomingCall) => Promise<Answer> }
    | { readonly kind: "stream"; readonly handle: (read: ReadRequest, call: IncomingCall) => AsyncGenerator<AnyAnswer> }
  );

interface MethodParts {
  readonly descriptor: DescMethod;
  /** Whether it is answered even under overload. */
  readonly isProbe: boolean;
  /** The largest message that it takes. */
  readonly requestBytesMax: number;
  /** Throws if a call may not be made at all, for a transport that can ask before it reads the request. */
  readonly authenticate: (call: IncomingCall) => Promise<unknown>;
  /** Logs and counts a call that the transport answered itself. */
  readonly refused: (code: Code, call: IncomingCall) => void;
}

/**
 * Reads the request's message. Throws the reason if there is none, which is then logged and counted as a call, too.
 * Called only once the caller is authenticated: nothing is decoded for a stranger, who is only asked for a token.
 */
type ReadRequest = () => Message;

type AnyAnswer = MessageInitShape<DescMessage>;

/** The transport reports the outcome, because a message that cannot be encoded is not a success. */
export interface Answer {
  readonly message: AnyAnswer;
  readonly encoded: () => void;
  readonly notEncoded: (thrown: unknown) => ConnectError;
}

/** Wraps every method with authentication, error mapping, access log and metrics. */
export function serveService<S extends DescService>(
  descriptor: S,
  implementation: Implementation<S>,
  parts: CallLogParts & {
    readonly verifier: AccessTokenVerifier;
    /** The methods that take content; the requests of all others are small. */
    readonly largeMethods?: readonly (keyof S["method"])[];
  },
): ServedService {
  return wrap(descriptor, implementation, parts, async (call, record) => {
    const context = await callContext(call, parts.verifier, record);
    record.callerIsKnown(context.principal);
    return context;
  });
}

/** The same for a service that anyone may call without an access token. */
export function serveOpenService<S extends DescService>(
  descriptor: S,
  implementation: Implementation<S, OpenContext>,
  parts: CallLogParts,
): ServedService {
  return wrap(descriptor, implementation, parts, async (call, record) => openContext(call, record));
}

function wrap(
  descriptor: DescService,
  implementation: object,
  parts: CallLogParts & { readonly verifier?: AccessTokenVerifier; readonly largeMethods?: readonly PropertyKey[] },
  contextOf: (call: IncomingCall, record: CallRecord) => Promise<OpenContext>,
): ServedService {
  const methods = descriptor.methods.map((method): ServedMethod => {
    const rpc = `${descriptor.typeName}/${method.name}`;
    // The generated types are checked where a service is passed in; inside, all methods look alike.
    const run = (implementation as Record<string, unknown>)[method.localName];
    const common: MethodParts = {
      descriptor: method,
      isProbe: parts.isProbe ?? false,
      requestBytesMax: parts.largeMethods?.includes(method.localName) ? requestBytesMax : smallRequestBytesMax,
      authenticate: async (call) => parts.verifier?.authenticate(call.header("authorization")),
      refused: (code, call) => new CallRecord(rpc, call, parts).refused(code),
    };

    const unary = async (read: ReadRequest, call: IncomingCall): Promise<Answer> => {
      const record = new CallRecord(rpc, call, parts);
      try {
        const context = await contextOf(call, record);
        const message = await (run as AnyUnary)(read(), context);
        // Connect would treat it as an empty message.
        if (typeof message !== "object" || message === null) throw new TypeError("The method did not answer");
        return { message, encoded: () => record.succeeded(), notEncoded: (thrown) => record.failed(thrown) };
      } catch (thrown) {
        throw record.failed(thrown);
      }
    };

    const stream = async function* (read: ReadRequest, call: IncomingCall): AsyncGenerator<AnyAnswer> {
      const record = new CallRecord(rpc, call, parts);
      let isOver = false;
      try {
        const context = await contextOf(call, record);
        yield* (run as AnyStream)(read(), context);
        isOver = true;
        record.succeeded();
      } catch (thrown) {
        isOver = true;
        throw record.failed(thrown);
      } finally {
        // The reader has stopped.
        if (!isOver) record.refused(call.earlyEnd ?? Code.Canceled);
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

type AnyUnary = (request: Message, context: OpenContext) => Promise<AnyAnswer>;
type AnyStream = (request: Message, context: OpenContext) => AsyncIterable<AnyAnswer>;
