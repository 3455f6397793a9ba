import type { MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { type ServiceError, status } from "@grpc/grpc-js";
import {
  type CreateVersionRequestSchema,
  PresetService,
} from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { type Failure, failureFromConnect } from "./failures.ts";
import { callStock, stockClient, stockDetails } from "./stock-grpc.ts";

/** The parts of a created version that every client sees. */
interface Created {
  readonly slug: string;
  readonly workspaceId: string;
  readonly designatedVersion?: {
    readonly id: string;
    readonly version: number;
    readonly configJson: string;
    readonly systemPrompt?: string;
  };
}

type Request = Omit<MessageInitShape<typeof CreateVersionRequestSchema>, "$typeName">;

interface CallParts {
  readonly token?: string | undefined;
  readonly timeoutMs?: number;
}

/** Creates a version over one protocol; rejects with a Failure. */
export type CreateVersion = (request: Request, parts: CallParts) => Promise<Created>;

/** One client for each way to call the preset service. None of them is the gateway's. */
export function presetClients(ports: { readonly grpcPort: number; readonly httpPort: number }) {
  const baseUrl = `http://127.0.0.1:${ports.httpPort}`;
  return {
    "a stock gRPC client": overStockGrpc(ports.grpcPort),
    "a Connect client": overTransport(createConnectTransport({ baseUrl, httpVersion: "1.1" })),
    "a gRPC-Web client": overTransport(createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })),
    "fetch with JSON": overFetch(baseUrl),
  } satisfies Record<string, CreateVersion>;
}

function overStockGrpc(port: number): CreateVersion {
  const client = stockClient("setpoint.preset.v1.PresetService", port);
  return async (request, { token, timeoutMs }) => {
    const deadlineMs = timeoutMs === undefined ? undefined : Date.now() + timeoutMs;
    try {
      const answer = await callStock<{ preset: Created }>(client, "CreateVersion", request, { token, deadlineMs });
      return answer.preset;
    } catch (error) {
      throw failureFromStockGrpc(error as ServiceError);
    }
  };
}

function failureFromStockGrpc(error: ServiceError): Failure {
  const details = stockDetails(error);
  const detail = (type: string) => details.find((each) => each["@type"].endsWith(`/google.rpc.${type}`));
  return failure(status[error.code] ?? "", error.details, detail("ErrorInfo"), detail("BadRequest"));
}

function overTransport(transport: Transport): CreateVersion {
  const client = createClient(PresetService, transport);
  return async (request, { token, timeoutMs }) => {
    try {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const { preset } = await client.createVersion(request, {
        headers,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      });
      return preset as Created;
    } catch (error) {
      throw failureFromConnect(ConnectError.from(error));
    }
  };
}

interface ErrorOfConnect {
  readonly code: string;
  readonly message: string;
  /** `debug` is the detail as JSON. */
  readonly details?: readonly { readonly type: string; readonly debug?: ErrorDetail }[];
}

function overFetch(baseUrl: string): CreateVersion {
  return async ({ requestDigest, ...request }, { token, timeoutMs }) => {
    const response = await fetch(`${baseUrl}/setpoint.preset.v1.PresetService/CreateVersion`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "connect-protocol-version": "1",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(timeoutMs === undefined ? {} : { "connect-timeout-ms": String(timeoutMs) }),
      },
      body: JSON.stringify({
        ...request,
        ...(requestDigest ? { requestDigest: Buffer.from(requestDigest).toString("base64") } : {}),
      }),
    });
    const body = (await response.json()) as { preset: Created } & ErrorOfConnect;
    if (response.ok) return body.preset;
    const detail = (type: string) => body.details?.find((each) => each.type === `google.rpc.${type}`)?.debug;
    throw failure(body.code.toUpperCase(), body.message, detail("ErrorInfo"), detail("BadRequest"));
  };
}

/** The fields of google.rpc.ErrorInfo and BadRequest, as each client names them. */
interface ErrorDetail {
  readonly reason?: unknown;
  readonly domain?: unknown;
  readonly fieldViolations?: unknown;
  readonly [field: string]: unknown;
}

function failure(
  code: string,
  message: string,
  info: ErrorDetail | undefined,
  badRequest: ErrorDetail | undefined,
): Failure {
  const violations = (badRequest?.fieldViolations ?? []) as Failure["violations"];
  return {
    code,
    message,
    reason: info?.reason as string | undefined,
    domain: info?.domain as string | undefined,
    violations: violations.map(({ field, description }) => ({ field: field ?? "", description })),
  };
}
