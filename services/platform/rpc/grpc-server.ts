import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Message } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import {
  Metadata,
  Server,
  type ServerCredentials,
  type ServerOptions,
  type ServerUnaryCall,
  type ServerWritableStream,
  type StatusObject,
  type sendUnaryData,
  type UntypedHandleCall,
} from "@grpc/grpc-js";
import { StatusSchema } from "../../../proto/gen/google/rpc/status_pb.ts";
import type { DomainError } from "../domain/domain-error.ts";
import { monotonicMs } from "../process/clock.ts";
import { CallBytes, type CallHold } from "./call-bytes.ts";
import type { IncomingCall } from "./call-context.ts";
import { toRpcError, toStatusMessage } from "./errors.ts";
import { readMessage } from "./field-count.ts";
import { encode, type GrpcDefinition, grpcDefinitionOf, requestBytesMax, responseBytesMax } from "./grpc-definition.ts";
import { GrpcStreams } from "./grpc-streams.ts";
import { createMixedPort, type MixedPort } from "./mixed-port.ts";
import { answerTooLarge, requestTooLarge } from "./refusals.ts";
import { serverCredentials } from "./server-credentials.ts";
import type { ServedMethod, ServedService } from "./service.ts";
import type { TlsFiles } from "./tls.ts";

/** Mounts services on grpc-js. The caller binds and closes the server. */
export function createGrpcServer(services: readonly ServedService[], bytes = new CallBytes()): WatchedServer {
  const methods = services.flatMap((service) => service.methods);
  const streams = new GrpcStreams(methods, bytes);
  const server = new WatchedServer(streams, {
    "grpc.max_receive_message_length": requestBytesMax,
    "grpc.max_send_message_length": responseBytesMax,
    // More wait at the client.
    "grpc.max_concurrent_streams": 4_096,
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
      handlers[method.descriptor.name] = handlerOf(method, streams);
    }
    server.addService(definition, handlers);
  }
  return server;
}

/** Sees the streams of every address that it is bound to. */
class WatchedServer extends Server {
  readonly #streams: GrpcStreams;
  #mixedPort: MixedPort | undefined;

  constructor(streams: GrpcStreams, options: ServerOptions) {
    super(options);
    this.#streams = streams;
  }

  override bindAsync(...[address, credentials, callback]: Parameters<Server["bindAsync"]>): void {
    super.bindAsync(address, credentials, (error, port) => {
      if (!error) this.#streams.watch(this);
      callback(error, port);
    });
  }

  /** Takes calls in clear text and with TLS at one port, and returns it. */
  async bindMixed(host: string, port: number, credentials: ServerCredentials): Promise<number> {
    this.#mixedPort = createMixedPort(this, credentials);
    this.#streams.watch(this);
    const { listener } = this.#mixedPort;
    await once(listener.listen(port, host), "listening");
    return (listener.address() as AddressInfo).port;
  }

  override tryShutdown(...parameters: Parameters<Server["tryShutdown"]>): void {
    this.#mixedPort?.close();
    super.tryShutdown(...parameters);
  }
}

/** Listens, and returns the port; 0 chooses a free one. */
export function bindGrpcServer(
  server: Pick<WatchedServer, "bindAsync" | "bindMixed">,
  host: string,
  port: number,
  tls: TlsFiles | undefined,
): Promise<number> {
  if (tls?.mode === "accept" || tls?.mode === "call") return server.bindMixed(host, port, serverCredentials(tls));
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

function handlerOf(method: ServedMethod, streams: GrpcStreams): UntypedHandleCall {
  const { output } = method.descriptor;
  if (method.kind === "unary") {
    return (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
      const { hold, refusal } = streams.handled(call.metadata, method);
      method
        .handle(() => decode(method, call.request, refusal), incomingCall(call, hold))
        .then(
          ({ message, encoded, notEncoded }) => {
            try {
              const bytes = encode(output, message);
              if (bytes.length > responseBytesMax) throw answerTooLarge();
              encoded();
              hold?.answered(bytes.length);
              callback(null, bytes);
            } catch (thrown) {
              callback(statusFrom(notEncoded(thrown)));
            }
          },
          (error: ConnectError) => callback(statusFrom(error)),
        );
    };
  }
  return async (call: ServerWritableStream<Buffer, Buffer>) => {
    const { hold, refusal } = streams.handled(call.metadata, method);
    const canceled = new AbortController();
    call.on("cancelled", () => canceled.abort());
    try {
      const received = () => decode(method, call.request, refusal);
      for await (const message of method.handle(received, { ...incomingCall(call, hold), signal: canceled.signal })) {
        const bytes = encode(output, message);
        hold?.answered(bytes.length);
        call.write(bytes);
      }
      call.end();
    } catch (thrown) {
      call.emit("error", statusFrom(thrown instanceof ConnectError ? thrown : toRpcError(thrown)));
    }
  };
}

function decode(method: ServedMethod, bytes: Buffer, refusal: DomainError | undefined): Message {
  if (refusal) throw refusal;
  if (bytes.length > method.requestBytesMax) throw requestTooLarge(method.requestBytesMax);
  return readMessage(method.descriptor.input, bytes);
}

function incomingCall(
  call: ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>,
  hold: CallHold | undefined,
): IncomingCall {
  const deadline = Number(call.getDeadline());
  return {
    rpcSystem: "grpc",
    header: (name) => call.metadata.get(name)[0]?.toString(),
    deadlineMs: Number.isFinite(deadline) ? monotonicMs() + deadline - Date.now() : undefined,
    isCanceled: () => call.cancelled,
    signal: undefined,
    hold,
  };
}

function statusFrom(error: ConnectError): StatusObject {
  const metadata = new Metadata();
  if (error.details.length > 0) {
    metadata.set("grpc-status-details-bin", encode(StatusSchema, toStatusMessage(error)));
  }
  return { code: error.code as number, details: error.rawMessage, metadata };
}
