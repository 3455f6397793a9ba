import { createServer, type RequestListener, type Server } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { requestBytesMax } from "./grpc-definition.ts";
import type { IncomingCall, ServedMethod, ServedService } from "./service.ts";

/** Mounts the same services for Connect and gRPC-Web over HTTP/1.1; every other path goes to `others`. */
export function createConnectServer(services: readonly ServedService[], others: RequestListener): Server {
  const adapter = connectNodeAdapter({
    routes: (router) => {
      for (const service of services) mount(router, service);
    },
    readMaxBytes: requestBytesMax,
    // Compressing small answers costs more than the bytes it saves between machines that stand side by side.
    acceptCompression: [],
  });
  const names = new Set(services.map(({ descriptor }) => descriptor.typeName));
  return createServer((request, response) => {
    const isRpc = names.has(request.url?.split("/", 2)[1] ?? "");
    return isRpc ? adapter(request, response) : others(request, response);
  });
}

function mount(router: ConnectRouter, service: ServedService): void {
  const methods = service.methods.map((method) => [method.descriptor.localName, connectMethod(method)]);
  router.service(service.descriptor, Object.fromEntries(methods));
}

function connectMethod({ handle }: ServedMethod) {
  return (request: Message, context: HandlerContext) => handle(request, incomingCall(context));
}

function incomingCall(context: HandlerContext): IncomingCall {
  const timeoutMs = context.timeoutMs();
  return {
    header: (name) => context.requestHeader.get(name) ?? undefined,
    deadlineMs: timeoutMs === undefined ? undefined : Date.now() + timeoutMs,
    isCanceled: () => context.signal.aborted,
    signal: context.signal,
  };
}
