import { type Message, toBinary } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import {
  Metadata,
  Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type StatusObject,
  type sendUnaryData,
  type UntypedHandleCall,
} from "@grpc/grpc-js";
import { StatusSchema } from "../../../proto/gen/google/rpc/status_pb.ts";
import { monotonicMs } from "../process/clock.ts";
import { toStatusMessage } from "./errors.ts";
import { type GrpcDefinition, grpcDefinitionOf, requestBytesMax, responseBytesMax } from "./grpc-definition.ts";
import type { IncomingCall, RequestOrRefusal, ServedMethod, ServedService } from "./service.ts";
import { serverCredentials, type TlsFiles } from "./tls.ts";

/** Mounts services on grpc-js. The caller binds and closes the server. */
export function createGrpcServer(services: readonly ServedService[]): Server {
  const server = new Server({
    "grpc.max_receive_message_length": requestBytesMax,
    "grpc.max_send_message_length": responseBytesMax,
    // A client looks its servers up again when a connection ends, and so finds those that were added.
    "grpc.max_connection_age_ms": 60_000,
    "grpc.max_connection_age_grace_ms": 15_000,
    // A peer that vanished without a word is noticed.
    "grpc.keepalive_time_ms": 30_000,
    "grpc.keepalive_timeout_ms": 10_000,
  });
  for (const { methods } of services) {
    const definition: Record<string, GrpcDefinition> = {};
    const handlers: Record<string, UntypedHandleCall> = {};
    for (const method of methods) {
      definition[method.descriptor.name] = grpcDefinitionOf(method.descriptor);
      handlers[method.descriptor.name] = handlerOf(method);
    }
    server.addService(definition, handlers);
  }
  return server;
}

/** Listens, and returns the port; 0 chooses a free one. */
export function bindGrpcServer(server: Server, host: string, port: number, tls: TlsFiles | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
    server.bindAsync(address, serverCredentials(tls), (error, bound) =>
      error ? reject(new Error(`Cannot listen for gRPC on ${address}: ${error.message}`)) : resolve(bound),
    );
  });
}

/** Takes no more calls, lets those in flight finish, and cuts what is left after the timeout. */
export function closeGrpcServer(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, timeoutMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function handlerOf(method: ServedMethod): UntypedHandleCall {
  if (method.kind === "unary") {
    return (call: ServerUnaryCall<RequestOrRefusal, Message>, callback: sendUnaryData<Message>) => {
      method.handle(call.request, incomingCall(call)).then(
        (response) => callback(null, response),
        (error: ConnectError) => callback(statusFrom(error)),
      );
    };
  }
  return async (call: ServerWritableStream<RequestOrRefusal, Message>) => {
    const canceled = new AbortController();
    call.on("cancelled", () => canceled.abort());
    try {
      for await (const message of method.handle(call.request, { ...incomingCall(call), signal: canceled.signal })) {
        call.write(message);
      }
      call.end();
    } catch (error) {
      call.emit("error", statusFrom(error as ConnectError));
    }
  };
}

function incomingCall(
  call: ServerUnaryCall<RequestOrRefusal, Message> | ServerWritableStream<RequestOrRefusal, Message>,
): IncomingCall {
  const deadline = Number(call.getDeadline());
  return {
    header: (name) => call.metadata.get(name)[0]?.toString(),
    deadlineMs: Number.isFinite(deadline) ? monotonicMs() + deadline - Date.now() : undefined,
    isCanceled: () => call.cancelled,
    signal: undefined,
  };
}

function statusFrom(error: ConnectError): StatusObject {
  const metadata = new Metadata();
  if (error.details.length > 0) {
    metadata.set("grpc-status-details-bin", Buffer.from(toBinary(StatusSchema, toStatusMessage(error))));
  }
  return { code: error.code as number, details: error.rawMessage, metadata };
}
