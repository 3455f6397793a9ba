import type { IncomingMessage, RequestListener, Server } from "node:http";
import { createRegistry, type Message, type Registry } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createConnectRouter,
  createContextValues,
  type HandlerContext,
} from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { file_google_rpc_error_details } from "../../../proto/gen/google/rpc/error_details_pb.ts";
import { createHttpServer } from "../http/http-server.ts";
import { monotonicMs } from "../process/clock.ts";
import type { CallBytes, CallHold } from "./call-bytes.ts";
import type { IncomingCall } from "./call-context.ts";
import { answerRefusals, checkRoom, holdKey, pendingKey, refusalKey } from "./connect-refusals.ts";
import { requestBytesMax } from "./grpc-definition.ts";
import type { Answer, ServedMethod, ServedService } from "./service.ts";

/** Mounts the same services for Connect and gRPC-Web over HTTP/1.1; every other path goes to `others`. */
export function createConnectServer(
  services: readonly ServedService[],
  bytes: CallBytes,
  others: RequestListener,
): Server {
  const holds = new WeakMap<IncomingMessage, CallHold>();
  const mounted = createConnectRouter({
    readMaxBytes: requestBytesMax,
    // Compressing small answers costs more than the bytes it saves between machines that stand side by side.
    acceptCompression: [],
    // What JSON names and the contract does not know would be dropped, a filter for example.
    jsonOptions: { registry: registryOf(services), ignoreUnknownFields: false },
  });
  for (const { methods } of services) {
    for (const method of methods) mount(mounted, method);
  }
  const adapter = connectNodeAdapter({
    routes: (router) => {
      router.handlers.push(...mounted.handlers.map(answerRefusals));
    },
    contextValues: (request) => createContextValues().set(holdKey, holds.get(request as IncomingMessage)),
  });
  const names = new Set(services.map(({ descriptor }) => descriptor.typeName));
  return createHttpServer((request, response) => {
    const isRpc = names.has(request.url?.split("/", 2)[1] ?? "");
    if (!isRpc) return others(request, response);
    // Nothing here looks at the host, but connect-node throws at one that does not fit into a URL.
    request.headers.host = "localhost";
    holds.set(request, bytes.open(request.socket, response));
    return adapter(request, response);
  });
}

/** The outcomes of a batch hold error details as google.protobuf.Any, which JSON can write only of known types. */
function registryOf(services: readonly ServedService[]): Registry {
  return createRegistry(file_google_rpc_error_details, ...services.map(({ descriptor }) => descriptor.file));
}

function mount(router: ConnectRouter, method: ServedMethod): void {
  const run = (request: Message, context: HandlerContext) => {
    context.values.delete(pendingKey);
    if (method.kind === "stream") return method.handle(request, incomingCall(context));
    return method.handle(request, incomingCall(context)).then((answer) => messageOf(answer, context.signal));
  };
  const requestGate = async (context: HandlerContext) => {
    const { values } = context;
    values.set(pendingKey, context);
    if (method.isProbe) values.delete(holdKey);
    checkRoom(values.get(holdKey));
    const refusal = values.get(refusalKey);
    if (!refusal) return;
    if (method.kind === "unary") await method.handle(refusal, incomingCall(context));
    else for await (const _ of method.handle(refusal, incomingCall(context)));
  };
  // Which of the two kinds it is was checked where the service was wrapped.
  router.rpc(method.descriptor, run as never, { requestGate });
}

/** connect-node aborts every call when it is over, and says why where the answer could not be encoded. */
function messageOf({ message, encoded, notEncoded }: Answer, signal: AbortSignal): Message {
  const over = () => {
    const { reason } = signal;
    const isFault =
      reason instanceof ConnectError && reason.code !== Code.Canceled && reason.code !== Code.DeadlineExceeded;
    if (isFault) notEncoded(reason);
    else encoded();
  };
  if (signal.aborted) over();
  else signal.addEventListener("abort", over, { once: true });
  return message;
}

function incomingCall(context: HandlerContext): IncomingCall {
  const timeoutMs = context.timeoutMs();
  return {
    header: (name) => context.requestHeader.get(name) ?? undefined,
    deadlineMs: timeoutMs === undefined ? undefined : monotonicMs() + timeoutMs,
    isCanceled: () => context.signal.aborted,
    signal: context.signal,
  };
}
