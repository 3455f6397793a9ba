import type { DescService } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openGateway } from "../../gateway/app.ts";
import { readGatewayConfig } from "../../gateway/config.ts";
import { KeyKind } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { keyFromBytes } from "../../services/platform/auth/key-format.ts";
import { DomainError, invalidRequest } from "../../services/platform/domain/domain-error.ts";
import { newId } from "../../services/platform/domain/ids.ts";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { Metrics } from "../../services/platform/observe/metrics.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import type { OpenContext } from "../../services/platform/rpc/call-context.ts";
import { openServers } from "../../services/platform/rpc/servers.ts";
import { type Implementation, type ServedService, serveOpenService } from "../../services/platform/rpc/service.ts";
import { request } from "../support/rest.ts";

// A gateway in front of an organization service of the previous release, as during an upgrade.

const parts = { logger: silentLogger(), metrics: new Metrics("test") };
const lifecycle = new Lifecycle(parts.logger);
const key = keyFromBytes(Buffer.alloc(32, 1));
const message = 'Keys of this member still work: "Busy" (1). Disable or delete them first.';
const emptyMask = invalidRequest([{ path: "update_mask", message: "must name at least one field" }]);
let api: string;

/** A service of which only these methods are called. */
function partial<S extends DescService>(service: S, methods: Partial<Implementation<S, OpenContext>>): ServedService {
  return serveOpenService(service, methods as Implementation<S, OpenContext>, parts);
}

beforeAll(async () => {
  const principal = { keyId: newId(), organizationId: newId(), keyKind: KeyKind.MANAGEMENT };
  const createTime = timestampFromMs(0);
  const access = partial(AccessService, {
    exchangeKey: async () => ({
      accessToken: "token",
      expireTime: timestampFromMs(Date.now() + 60_000),
      expiresInSeconds: 60,
      principal,
    }),
  });
  const keys = partial(KeyService, {
    getKey: async () => ({
      key: {
        id: newId(),
        hash: "0".repeat(64),
        name: "As it was",
        label: "sk-sp-v1-abc…xyz",
        kind: KeyKind.API,
        permissions: ["presets:read"],
        workspaceId: newId(),
        createTime,
      },
    }),
    updateKey: async () => {
      throw emptyMask;
    },
  });
  const workspaces = partial(WorkspaceService, {
    getWorkspace: async () => ({ workspace: { id: newId(), name: "As it was", slug: "default", createTime } }),
    updateWorkspace: async () => {
      throw emptyMask;
    },
    removeWorkspaceMembers: async () => {
      throw new DomainError("failed_precondition", { reason: "MEMBER_HAS_KEYS", message });
    },
  });
  const config = readGatewayConfig({ HOST: "127.0.0.1", DRAIN_TIMEOUT_MS: "500" });
  const { grpc } = await openServers(lifecycle, {
    ...config,
    ...parts,
    grpcPort: 0,
    httpPort: 0,
    services: [access, keys, workspaces],
    readinessChecks: {},
    operations: {},
  });
  const ports = { port: 0, metricsPort: 0, organizationTarget: `127.0.0.1:${grpc}` };
  const { port } = await openGateway({ ...config, ...ports }, parts.logger, lifecycle);
  api = `http://127.0.0.1:${port}/api/v1`;
});

afterAll(() => lifecycle.close());

it("gives the status of this release for a member who may not leave a workspace", async () => {
  const url = `${api}/workspaces/default/members/remove`;
  const { status, json } = await request("POST", url, { key, body: { user_ids: ["user_1"] } });
  expect(status).toBe(400);
  expect(json.error).toMatchObject({
    message,
    metadata: { issues: [{ path: "user_ids", message: "must name nobody whose keys of the workspace still work" }] },
  });
});

it.each([
  ["/keys/1", { limit: null }],
  ["/workspaces/default", { is_observability_broadcast_enabled: false }],
])("answers PATCH %s with only compatibility fields and an Idempotency-Key", async (path, body) => {
  const parts = { key, body, headers: { "idempotency-key": "once" } };
  const { status, json } = await request<{ name: string }>("PATCH", api + path, parts);
  expect([status, json.data?.name]).toEqual([200, "As it was"]);
});
