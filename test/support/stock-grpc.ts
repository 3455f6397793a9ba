import { fileURLToPath } from "node:url";
import {
  type Client,
  credentials,
  type GrpcObject,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
  type ServiceError,
} from "@grpc/grpc-js";
import { loadSync, type MessageTypeDefinition } from "@grpc/proto-loader";

const includeDirs = [fileURLToPath(new URL("../../proto", import.meta.url))];

/** The contract, loaded as by anyone who has the proto files and none of our code. */
const definitions = loadSync(
  [
    "setpoint/preset/v1/preset_service.proto",
    "setpoint/organization/v1/access_service.proto",
    "setpoint/organization/v1/key_service.proto",
    "setpoint/organization/v1/organization_service.proto",
    "setpoint/organization/v1/workspace_service.proto",
    "grpc/health/v1/health.proto",
    "google/rpc/status.proto",
    "google/rpc/error_details.proto",
  ],
  // `json` unpacks google.protobuf.Any.
  { includeDirs, longs: String, enums: String, json: true },
);

/** A client of a service, by the full name of the service. */
export function stockClient(service: string, port: number): Client {
  let scope: GrpcObject[string] = loadPackageDefinition(definitions);
  for (const name of service.split(".")) scope = (scope as GrpcObject)[name] as GrpcObject[string];
  return new (scope as ServiceClientConstructor)(`127.0.0.1:${port}`, credentials.createInsecure());
}

interface CallParts {
  readonly token?: string | undefined;
  readonly deadlineMs?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

type UnaryMethod<Response> = (
  request: object,
  metadata: Metadata,
  options: { deadline?: number },
  callback: (error: ServiceError | null, response: Response) => void,
) => void;

/** Calls a unary method; rejects with the ServiceError. */
export function callStock<Response>(
  client: Client,
  method: string,
  request: object,
  parts: CallParts = {},
): Promise<Response> {
  const metadata = new Metadata();
  if (parts.token !== undefined) metadata.set("authorization", `Bearer ${parts.token}`);
  for (const [name, value] of Object.entries(parts.headers ?? {})) metadata.set(name, value);
  const options = parts.deadlineMs === undefined ? {} : { deadline: parts.deadlineMs };
  return new Promise((resolve, reject) => {
    const call = (client as unknown as Record<string, UnaryMethod<Response>>)[method] as UnaryMethod<Response>;
    call.call(client, request, metadata, options, (error, response) => (error ? reject(error) : resolve(response)));
  });
}

/** The details of an error, each with its `@type`. */
export function stockDetails(error: ServiceError): { readonly "@type": string; readonly [field: string]: unknown }[] {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  if (bytes === undefined) return [];
  const status = definitions["google.rpc.Status"] as MessageTypeDefinition<
    object,
    { details: ReturnType<typeof stockDetails> }
  >;
  return status.deserialize(bytes as Buffer).details;
}
