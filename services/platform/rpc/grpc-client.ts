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
import { Client, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { StatusSchema } from "../../../proto/gen/google/rpc/status_pb.ts";
import { type DomainError, isOfKind } from "../domain/domain-error.ts";
import { monotonicMs } from "../process/clock.ts";
import { fromStatusMessage } from "./errors.ts";
import { type GrpcDefinition, grpcDefinitionOf, requestBytesMax, responseBytesMax } from "./grpc-definition.ts";
import { channelCredentials, type TlsFiles } from "./tls.ts";

/** What goes with one call. */
export interface CallOptions {
  readonly accessToken?: string;
  /** Written to the log of the service that is called. */
  readonly requestId: string;
  /** By the monotonic clock. */
  readonly deadlineMs: number;
}

/** The unary methods of a service as functions. They throw DomainError. */
export type Methods<S extends DescService> = {
  [Name in keyof S["method"] as S["method"][Name] extends DescMethodUnary
    ? Name
    : never]: S["method"][Name] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, options: CallOptions) => Promise<MessageShape<O>>
    : never;
};

/** A connection to the processes behind one target. */
export type Channel = Client;

const flowControlWindow = 4 * 1024 * 1024;

/**
 * Opens a channel. `dns:///name:port` is resolved to every address behind the name, and calls go to each in turn.
 */
export function openChannel(target: string, tls: TlsFiles | undefined): Channel {
  return new Client(target, channelCredentials(tls), {
    "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    "grpc.max_receive_message_length": responseBytesMax,
    "grpc.max_send_message_length": requestBytesMax,
    // An answer to a batch is often larger than what HTTP/2 lets a server send before it waits for the client.
    "grpc-node.flow_control_window": flowControlWindow,
    "grpc.keepalive_time_ms": 30_000,
    "grpc.keepalive_timeout_ms": 10_000,
    // grpc-js would buffer every call to be able to repeat it; we repeat calls ourselves, see below.
    "grpc.enable_retries": 0,
    // The address of a process that was replaced is looked up at once, and not half a minute later.
    "grpc.dns_min_time_between_resolutions_ms": 1_000,
    // A process that restarts is back within a second; do not stay away longer than needed.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.min_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 2_000,
  });
}

/**
 * The typed client of a service. A call that fails with UNAVAILABLE is made again until its deadline,
 * so every method that is called through here must be safe to repeat.
 */
export function grpcClient<S extends DescService>(service: S, channel: Channel): Methods<S> {
  const methods = service.methods
    .filter((method) => method.methodKind === "unary")
    .map((method) => {
      const definition = grpcDefinitionOf(method);
      const call = (request: MessageInitShape<typeof method.input>, options: CallOptions) =>
        retryUnavailable(options.deadlineMs, () =>
          callOnce(channel, definition, create(method.input, request), options),
        );
      return [method.localName, call];
    });
  return Object.fromEntries(methods);
}

const backoffFirstMs = 25;
const backoffMaxMs = 1_000;

async function retryUnavailable<T>(deadlineMs: number, call: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const pauseMs = Math.min(backoffMaxMs, backoffFirstMs * 2 ** attempt) * (0.5 + Math.random());
      if (!isOfKind(error, "unavailable") || monotonicMs() + pauseMs >= deadlineMs) throw error;
      await sleep(pauseMs);
    }
  }
}

function callOnce(
  channel: Channel,
  { path, requestSerialize, responseDeserialize }: GrpcDefinition,
  request: Message,
  options: CallOptions,
): Promise<Message> {
  const metadata = new Metadata();
  metadata.set("x-request-id", options.requestId);
  if (options.accessToken !== undefined) metadata.set("authorization", `Bearer ${options.accessToken}`);
  return new Promise((resolve, reject) => {
    // grpc-js makes an Error for every call, for the stack of one that may fail. Our errors have a request id instead.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    channel.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      metadata,
      { deadline: Date.now() + options.deadlineMs - monotonicMs() },
      (error, response) => (error ? reject(domainErrorFrom(error)) : resolve(response as Message)),
    );
    Error.stackTraceLimit = stackTraceLimit;
  });
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
