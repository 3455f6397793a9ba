import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { openOrganizationService } from "../../services/organization/app.ts";
import { readOrganizationConfig } from "../../services/organization/config.ts";
import { newId } from "../../services/platform/domain/ids.ts";
import { openPool, type Pool } from "../../services/platform/mysql/pool.ts";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { createOrganizationDatabase } from "./organization-database.ts";
import { openRpcCalls, type RpcCalls } from "./rpc-calls.ts";
import { newSigningKeyPem } from "./stack.ts";
import { type Tenant, Tenants } from "./tenants.ts";

/** Calls any unary method with one key. */
export type Administrator = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request?: MessageInitShape<I>,
) => Promise<MessageShape<O>>;

/** The organization service alone, on a database of its own. */
export interface TestOrganizations {
  readonly pool: Pool;
  readonly tenants: Tenants;
  readonly calls: RpcCalls;
  readonly grpcPort: number;
  /** Exchanges the key first. */
  as(key: string, workspaceId?: string): Promise<Administrator>;
  /** A new organization, and a caller with its management key. */
  administer(): Promise<{ readonly tenant: Tenant; readonly admin: Administrator }>;
  /** The principal of a key; rejects with a Failure. */
  exchange(key: string): Promise<MessageShape<typeof AccessService.method.exchangeKey.output>>;
  close(): Promise<void>;
}

export async function openOrganizations(): Promise<TestOrganizations> {
  const database = await createOrganizationDatabase();
  const config = readOrganizationConfig({
    ORGANIZATION_DATABASE_URL: database.url,
    SIGNING_KEY: newSigningKeyPem(),
    ORGANIZATION_GRPC_PORT: "0",
    ORGANIZATION_HTTP_PORT: "0",
    HOST: "127.0.0.1",
    DRAIN_TIMEOUT_MS: "500",
  });
  const lifecycle = new Lifecycle(silentLogger());
  const { grpc: grpcPort, http: httpPort } = await openOrganizationService(config, silentLogger(), lifecycle);
  const calls = openRpcCalls({ grpcPort, httpPort });
  const pool = openPool(database.url, 4);
  const tenants = new Tenants(pool);
  const exchange = (key: string) => calls.gRPC(AccessService.method.exchangeKey, { key });
  const as = async (key: string, workspaceId = ""): Promise<Administrator> => {
    const { accessToken } = await calls.gRPC(AccessService.method.exchangeKey, { key, workspaceId });
    return (method, request = {} as MessageInitShape<typeof method.input>) => calls.gRPC(method, request, accessToken);
  };
  return {
    pool,
    tenants,
    calls,
    grpcPort,
    as,
    administer: async () => {
      const tenant = await tenants.createOrganization();
      return { tenant, admin: await as(tenant.managementKey) };
    },
    exchange,
    close: async () => {
      calls.close();
      await lifecycle.close();
      await pool.end();
      await database.drop();
    },
  };
}

const { createKey } = KeyService.method;
const { createWorkspace } = WorkspaceService.method;
const { addMember } = OrganizationService.method;

/** A new key, with its secret. */
export async function makeKey(admin: Administrator, request: MessageInitShape<typeof createKey.input> = {}) {
  const { key, secret } = await admin(createKey, { name: "CI", ...request });
  if (!key) throw new Error("no key");
  return { ...key, secret };
}

/** A new workspace, named after its slug unless the fields say otherwise. */
export async function makeWorkspace(
  admin: Administrator,
  slug: string,
  fields: MessageInitShape<typeof createWorkspace.input> = {},
) {
  const { workspace } = await admin(createWorkspace, { name: slug, slug, ...fields });
  if (!workspace) throw new Error("no workspace");
  return workspace;
}

/** A new member. */
export async function makeMember(admin: Administrator, fields: MessageInitShape<typeof addMember.input> = {}) {
  const { member } = await admin(addMember, { email: `${newId()}@example.com`, ...fields });
  if (!member) throw new Error("no member");
  return member;
}
