import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { BadRequestSchema, ErrorInfoSchema } from "../../proto/gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../proto/gen/google/rpc/status_pb.ts";
import { responseBytesMax } from "../../services/platform/rpc/message-sizes.ts";
import { grpcDefinitionOf } from "./grpc-definition.ts";
import type { Failure } from "./preset-clients.ts";

/** Calls any unary method; rejects with a Failure. */
export type Call = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  token?: string,
) => Promise<MessageShape<O>>;

/** The same calls over each protocol, with no client of ours. */
export interface RpcCalls {
  readonly gRPC: Call;
  readonly Connect: Call;
  /** Connect with HTTP GET for the methods that have no side effects. */
  readonly "Connect GET": Call;
  close(): void;
}

export function openRpcCalls({
  grpcPort,
  httpPort,
}: {
  readonly grpcPort: number;
  readonly httpPort: number;
}): RpcCalls {
  const options = { "grpc.max_receive_message_length": responseBytesMax };
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
  return (method, request, token) => {
    const { path, requestSerialize, responseDeserialize } = grpcDefinitionOf(method);
    const metadata = new Metadata();
    if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
    const message = create(method.input, request);
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, metadata, (error, response) =>
        error ? reject(failureFromGrpc(error)) : resolve(response as MessageShape<typeof method.output>),
      );
    });
  };
}

function overConnect(baseUrl: string, useHttpGet: boolean): Call {
  const transport = createConnectTransport({ baseUrl, httpVersion: "1.1", useHttpGet });
  return async (method, request, token) => {
    const header = token === undefined ? {} : { authorization: `Bearer ${token}` };
    try {
      return (await transport.unary(method, undefined, undefined, header, request)).message;
    } catch (error) {
      throw failureFromConnect(ConnectError.from(error));
    }
  };
}

function failureFromGrpc(error: ServiceError): Failure {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  const details = bytes instanceof Buffer ? fromBinary(StatusSchema, bytes).details : [];
  const info = details.map((detail) => anyUnpack(detail, ErrorInfoSchema)).find(Boolean);
  const badRequest = details.map((detail) => anyUnpack(detail, BadRequestSchema)).find(Boolean);
  return failure(error.code as number, error.details, info, badRequest);
}

function failureFromConnect(error: ConnectError): Failure {
  const [info] = error.findDetails(ErrorInfoSchema);
  const [badRequest] = error.findDetails(BadRequestSchema);
  return failure(error.code, error.rawMessage, info, badRequest);
}

function failure(
  code: Code,
  message: string,
  info: MessageShape<typeof ErrorInfoSchema> | undefined,
  badRequest: MessageShape<typeof BadRequestSchema> | undefined,
): Failure {
  const violations = badRequest?.fieldViolations.map(({ field, description }) => ({ field, description })) ?? [];
  const name = Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  const metadata = info && Object.keys(info.metadata).length > 0 ? { metadata: info.metadata } : {};
  return { code: name, message, reason: info?.reason, domain: info?.domain, violations, ...metadata };
}

export function failureOf(call: Promise<unknown>): Promise<Failure> {
  return call.then(
    () => Promise.reject(new Error("the call succeeded")),
    (failure: Failure) => failure,
  );
}
