import type { RequestListener, Server } from "node:http";
import { createRegistry, type Message, type Registry } from "@bufbuild/protobuf";
import { type ConnectRouter, createConnectRouter, createContextValues, type HandlerContext } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "../../../proto/gen/google/rpc/error_details_pb.ts";
import { createHttpServer } from "../http/http-server.ts";
import { inTurn } from "../http/in-turn.ts";
import { WaitingRequests } from "../http/waiting-requests.ts";
import { monotonicMs } from "../time/clock.ts";
import type { CallBytes } from "./call-bytes.ts";
import type { IncomingCall } from "./call-context.ts";
import { answerKey, followAnswer, reservationKey } from "./connect-answers.ts";
import { checkRoom, pendingKey } from "./connect-bodies.ts";
import { requestFrom, sendAnswer } from "./connect-exchange.ts";
import { answerRefusals, refusalKey } from "./connect-refusals.ts";
import { shortenTimeout } from "./connect-timeouts.ts";
import { requestBytesMax } from "./message-sizes.ts";
import type { ServedMethod, ServedService } from "./service.ts";

/** Mounts the same services for Connect and gRPC-Web over HTTP/1.1; every other path goes to `others`. */
export function createConnectServer(
  services: readonly ServedService[],
  bytes: CallBytes,
  others: RequestListener,
): Server {
  const mounted = createConnectRouter({
    readMaxBytes: requestBytesMax,
    // Compressing small answers costs more than it saves between neighbouring machines.
    acceptCompression: [],
    // Unknown JSON names would otherwise be dropped; a filter, for example.
    jsonOptions: { registry: registryOf(services), ignoreUnknownFields: false },
  });
  for (const { methods } of services) {
    for (const method of methods) mount(mounted, method);
  }
  const handlers = new Map(mounted.handlers.map((handler) => [handler.requestPath, answerRefusals(handler)]));
  const names = new Set(services.map(({ descriptor }) => descriptor.typeName));
  const listener: RequestListener = (request, response) => {
    const [path = ""] = request.url?.split("?", 1) ?? [];
    const isRpc = names.has(path.split("/", 2)[1] ?? "");
    if (!isRpc) return others(request, response);
    const handler = handlers.get(path);
    if (!handler) return response.writeHead(404).end();
    shortenTimeout(request.headers);
    const reservation = bytes.open(request.socket, response);
    response.once("close", () => reservation.release());
    const values = createContextValues().set(reservationKey, reservation);
    handler(requestFrom(request, response, values))
      .then((answer) => sendAnswer(followAnswer(answer, values), response))
      // It cannot be written: the caller has gone, or does not read it.
      .catch(() => response.destroy());
  };
  const waiting = new WaitingRequests();
  return createHttpServer(inTurn(listener, waiting), { waiting });
}

/**
 * The outcomes of a batch contain error details as google.protobuf.Any, which JSON can only express for known types.
 */
function registryOf(services: readonly ServedService[]): Registry {
  return createRegistry(file_google_rpc_error_details, ...services.map(({ descriptor }) => descriptor.file));
}

function mount(router: ConnectRouter, method: ServedMethod): void {
  const run = (request: Message, context: HandlerContext) => {
    context.values.delete(pendingKey);
    context.values.get(reservationKey)?.arrived();
    const read = () => request;
    if (method.kind === "stream") return method.handle(read, incomingCall(context));
    return method.handle(read, incomingCall(context)).then((answer) => {
      context.values.set(answerKey, { ...answer, context });
      return answer.message;
    });
  };
  const requestGate = async (context: HandlerContext) => {
    const { values } = context;
    values.set(pendingKey, { context, bytesMax: method.requestBytesMax });
    if (method.isProbe) values.delete(reservationKey);
    checkRoom(values.get(reservationKey));
    const call = incomingCall(context);
    const refusal = values.get(refusalKey);
    // Nothing of an unauthenticated caller's body is read.
    if (!refusal) return void (await method.authenticate(call));
    const refuse = () => {
      throw refusal;
    };
    if (method.kind === "unary") await method.handle(refuse, call);
    else for await (const _ of method.handle(refuse, call));
  };
  // Which of the two kinds it is was checked when the service was wrapped.
  router.rpc(method.descriptor, run as never, { requestGate });
}

function incomingCall(context: HandlerContext): IncomingCall {
  const timeoutMs = context.timeoutMs();
  return {
    rpcSystem: context.protocolName === "connect" ? "connectrpc" : "grpc",
    header: (name) => context.requestHeader.get(name) ?? undefined,
    deadlineMs: timeoutMs === undefined ? undefined : monotonicMs() + timeoutMs,
    isCanceled: () => context.signal.aborted,
    // Connect answers only when the method returns.
    earlyEnd: undefined,
    signal: context.signal,
    reservation: context.values.get(reservationKey),
  };
}
