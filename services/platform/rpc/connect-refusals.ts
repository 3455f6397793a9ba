import type { DescMessage } from "@bufbuild/protobuf";
import { isFieldError } from "@bufbuild/protobuf/reflect";
import { Code, ConnectError, createContextKey, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { DomainError, type FieldViolation, invalidRequest } from "../domain/domain-error.ts";
import { type Chunks, messageBytesMax, type PendingCall, pendingKey, wholeBody } from "./connect-bodies.ts";
import { invalidTimeout, requestTooLarge, unreadableRequest, unsupportedRequest } from "./refusals.ts";

/** Why Connect cannot pass a call on. */
export const refusalKey = createContextKey<DomainError | undefined>(undefined);

/**
 * If Connect cannot turn a request into a call, it answers by itself, and quotes what it was sent. Such a request
 * is handled a second time instead, with a refusal of ours, which is then written in the request's own protocol.
 */
export function answerRefusals(handler: UniversalHandler): UniversalHandler {
  const answer = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const contextValues = request.contextValues ?? createContextValues();
    const chunks = (request.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    const response = await handler({ ...request, body: wholeBody(chunks, contextValues), contextValues });
    const pending = contextValues.get(pendingKey);
    if (pending && !request.signal.aborted) {
      // A half-read body would block the next request on the connection.
      void discard(chunks);
      return refuse(handler, request, refusalOf(pending));
    }
    const isUnsupported = response.status === 415 && handler.method.methodKind === "unary";
    return isUnsupported ? refuseMediaType(handler, request) : response;
  };
  return Object.assign(answer, handler);
}

function refuse(
  handler: UniversalHandler,
  request: UniversalServerRequest,
  refusal: DomainError,
): Promise<UniversalServerResponse> {
  return handler({ ...request, contextValues: createContextValues().set(refusalKey, refusal) });
}

/** A content type of no known protocol leaves none to answer in, so the answer is plain JSON. */
async function refuseMediaType(
  handler: UniversalHandler,
  request: UniversalServerRequest,
): Promise<UniversalServerResponse> {
  const violation =
    request.method === "GET"
      ? { path: "encoding", message: "must be json or proto" }
      : { path: "content-type", message: "must be of Connect or gRPC-Web, such as application/json" };
  const header = new Headers(request.header);
  header.set("content-type", "application/json");
  const response = await refuse(handler, { ...request, method: "POST", header }, invalidRequest([violation]));
  return response.status === 400 ? { ...response, status: 415 } : response;
}

async function discard(chunks: Chunks): Promise<void> {
  try {
    while (!(await chunks.next()).done);
  } catch {
    // The caller has gone.
  }
}

/** Why Connect did not pass on a call, without quoting anything that was sent. */
function refusalOf(pending: PendingCall): DomainError {
  const { context: call } = pending;
  const { reason } = call.signal;
  if (reason instanceof DomainError) return reason;
  const timeout = call.protocolName === "connect" ? "connect-timeout-ms" : "grpc-timeout";
  if (call.requestHeader.has(timeout) && call.timeoutMs() === undefined) return invalidTimeout(timeout);
  const { code, cause } = ConnectError.from(reason);
  // It has seen the length that the request announces.
  if (code === Code.ResourceExhausted) return requestTooLarge(messageBytesMax(pending));
  if (code === Code.Unimplemented) return unsupportedRequest();
  const violation = violationIn(cause, call.method.input);
  if (violation) return invalidRequest([violation]);
  return unreadableRequest(call.method.input, call.requestMethod === "GET" ? "message" : "");
}

/**
 * What is wrong in a JSON body. A known field is named from our contract, not from the body. The library has no error
 * class for unknown names, so they are read from its message.
 */
function violationIn(error: unknown, input: DescMessage): FieldViolation | undefined {
  if (isFieldError(error)) {
    const { name, parent } = error.field();
    return { path: name, message: `must have the type that ${parent.typeName} declares, and be given only once` };
  }
  if (!(error instanceof Error)) return undefined;
  // Anything that cannot be the name of a field is not repeated.
  const unknownField = /^cannot decode message \S+ from JSON: key "(\w{1,64})" is unknown$/.exec(error.message)?.[1];
  if (unknownField) return { path: unknownField, message: "is not a field of the request" };
  const enumName = /^cannot decode enum (\S+) from JSON/.exec(error.message)?.[1];
  if (enumName) return { path: fieldOfEnum(input, enumName) ?? "", message: `must be a value of ${enumName}` };
  return violationIn(error.cause, input);
}

/**
 * The field of a message that has this enum type. `outer` holds the enclosing messages, because a message may contain
 * its own type.
 */
function fieldOfEnum(input: DescMessage, enumName: string, outer: readonly DescMessage[] = []): string | undefined {
  if (outer.includes(input)) return undefined;
  for (const { name, enum: taken, message } of input.fields) {
    if (taken?.typeName === enumName) return name;
    const found = message && fieldOfEnum(message, enumName, [...outer, input]);
    if (found) return found;
  }
  return undefined;
}
