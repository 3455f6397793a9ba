import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type Message,
  type Registry,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { type Failure, failureFromConnect, failureFromGrpc } from "./failures.ts";
import { grpcDefinitionOf } from "./grpc-definition.ts";

/** The parts of an error that do not depend on its wording. */
export interface SeenError {
  readonly code: string;
  readonly reason: string | undefined;
  readonly fields: readonly string[];
}

/** Makes one call of any kind, and returns its first message; rejects with a SeenError. */
type CallAny = (
  method: DescMethod,
  request: Readonly<Record<string, unknown>>,
  token: string | undefined,
) => Promise<Message>;

/** One way to call a service, and the methods that can be called this way. */
interface TestTransport {
  readonly takes: (method: DescMethod) => boolean;
  readonly open: (ports: { readonly grpcPort: number; readonly httpPort: number }) => CallAny;
}

const any = (_method: DescMethod) => true;
const canBeGotten = (method: DescMethod) => method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

/** Every protocol and encoding that a service speaks. */
export function everyTransport(registry: Registry): Record<string, TestTransport> {
  const overHttp = (open: (baseUrl: string) => Transport, takes = any): TestTransport => ({
    takes,
    open: ({ httpPort }) => overTransport(open(`http://127.0.0.1:${httpPort}`)),
  });
  const http1 = { httpVersion: "1.1" as const, useBinaryFormat: false, jsonOptions: { registry } };
  return {
    gRPC: { takes: any, open: ({ grpcPort }) => overGrpc(grpcPort) },
    "Connect with JSON": overHttp((baseUrl) => createConnectTransport({ ...http1, baseUrl })),
    "Connect with protobuf": overHttp((baseUrl) =>
      createConnectTransport({ ...http1, baseUrl, useBinaryFormat: true }),
    ),
    "Connect GET with JSON": overHttp(
      (baseUrl) => createConnectTransport({ ...http1, baseUrl, useHttpGet: true }),
      canBeGotten,
    ),
    "Connect GET with protobuf": overHttp(
      (baseUrl) => createConnectTransport({ ...http1, baseUrl, useHttpGet: true, useBinaryFormat: true }),
      canBeGotten,
    ),
    "gRPC-Web with protobuf": overHttp((baseUrl) =>
      createGrpcWebTransport({ ...http1, baseUrl, useBinaryFormat: true }),
    ),
    "gRPC-Web with JSON": overHttp((baseUrl) => createGrpcWebTransport({ ...http1, baseUrl })),
  };
}

function overGrpc(port: number): CallAny {
  return (method, request, token) => {
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    const { path, requestSerialize, responseDeserialize } = grpcDefinitionOf(method);
    const metadata = new Metadata();
    if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
    const message = create(method.input as DescMessage, request);
    const answered = new Promise<Message>((resolve, reject) => {
      const fail = (error: ServiceError) => reject(seen(failureFromGrpc(error)));
      if (method.methodKind === "unary") {
        client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, metadata, (error, response) =>
          error ? fail(error) : resolve(response as Message),
        );
        return;
      }
      const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, message, metadata);
      call.on("error", fail);
      call.on("data", (first: Message) => {
        resolve(first);
        call.cancel();
      });
    });
    return answered.finally(() => client.close());
  };
}

function overTransport(transport: Transport): CallAny {
  return async (method, request, token) => {
    const header = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const canceled = new AbortController();
    try {
      if (method.methodKind === "unary") {
        return (await transport.unary(method as DescMethodUnary, undefined, undefined, header, request)).message;
      }
      const only = (async function* () {
        yield request;
      })();
      const { message } = await transport.stream(method as never, canceled.signal, undefined, header, only);
      for await (const first of message) return first as Message;
      throw new Error("the stream was empty");
    } catch (error) {
      throw seen(failureFromConnect(ConnectError.from(error)));
    } finally {
      canceled.abort();
    }
  };
}

function seen({ code, reason, violations }: Failure): SeenError {
  return { code, reason, fields: violations.map(({ field }) => field) };
}
