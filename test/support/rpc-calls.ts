import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { Client, type ClientOptions, credentials, Metadata } from "@grpc/grpc-js";
import { responseBytesMax } from "../../services/platform/rpc/message-sizes.ts";
import { failureFromConnect, failureFromGrpc } from "./failures.ts";
import { grpcDefinitionOf } from "./grpc-definition.ts";

/**
 * Calls any unary method; rejects with a Failure. Only the service is given the timeout, and the caller waits for its
 * answer however long that takes: if both watched the clock, it would be chance which of them notices first.
 */
export type Call = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  token?: string,
  timeoutMs?: number,
) => Promise<MessageShape<O>>;

/** The same calls over each protocol, without our own clients. */
export interface RpcCalls {
  readonly gRPC: Call;
  readonly Connect: Call;
  /** Connect with HTTP GET for the methods that have no side effects. */
  readonly "Connect GET": Call;
  close(): void;
}

export function openRpcCalls(
  { grpcPort, httpPort }: { readonly grpcPort: number; readonly httpPort: number },
  options: ClientOptions = { "grpc.max_receive_message_length": responseBytesMax },
): RpcCalls {
  const client = new Client(`127.0.0.1:${grpcPort}`, credentials.createInsecure(), options);
  const baseUrl = `http://127.0.0.1:${httpPort}`;
  return {
    gRPC: overGrpc(client),
    Connect: overConnect(baseUrl, false),
    "Connect GET": overConnect(baseUrl, true),
    close: () => client.close(),
  };
}

function overGrpc(client: Client): Call {
  return (method, request, token, timeoutMs) => {
    const { path, requestSerialize, responseDeserialize } = grpcDefinitionOf(method);
    const metadata = new Metadata();
    if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
    if (timeoutMs !== undefined) metadata.set("grpc-timeout", `${timeoutMs}m`);
    const message = create(method.input, request);
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, metadata, {}, (error, response) =>
        error ? reject(failureFromGrpc(error)) : resolve(response as MessageShape<typeof method.output>),
      );
    });
  };
}

function overConnect(baseUrl: string, useHttpGet: boolean): Call {
  const transport = createConnectTransport({ baseUrl, httpVersion: "1.1", useHttpGet });
  return async (method, request, token, timeoutMs) => {
    const header = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(timeoutMs !== undefined && { "connect-timeout-ms": String(timeoutMs) }),
    };
    try {
      return (await transport.unary(method, undefined, undefined, header, request)).message;
    } catch (error) {
      throw failureFromConnect(ConnectError.from(error));
    }
  };
}
