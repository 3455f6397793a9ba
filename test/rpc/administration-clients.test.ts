import { type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { openOrganizations, type TestOrganizations } from "../support/administration.ts";
import { failureOf } from "../support/failures.ts";
import { callStock, stockClient, stockDetails } from "../support/stock-grpc.ts";

let organizations: TestOrganizations;
let token: string;

beforeAll(async () => {
  organizations = await openOrganizations();
  const { managementKey } = await organizations.tenants.createOrganization();
  token = (await organizations.exchange(managementKey)).accessToken;
});

afterAll(() => organizations.close());

describe.each(["gRPC", "Connect", "Connect GET"] as const)("administration over %s", (protocol) => {
  it("reads and changes", async () => {
    const call = organizations.calls[protocol];
    const name = `Over ${protocol}`;
    const { key } = await call(KeyService.method.createKey, { name, requestId: name }, token);
    const { keys } = await call(KeyService.method.listKeys, {}, token);
    expect(keys.map(({ id }) => id)).toContain(key?.id);
    expect(await failureOf(call(KeyService.method.createKey, { name, requestId: name }, token))).toMatchObject({
      code: "ALREADY_EXISTS",
      reason: "KEY_ALREADY_MADE",
      metadata: { hash: key?.hash },
    });
    expect((await call(WorkspaceService.method.listWorkspaces, {}, token)).totalCount).toBe(1);
    const { changes } = await call(OrganizationService.method.listChanges, { targetId: key?.id ?? "" }, token);
    expect(changes).toHaveLength(1);
  });
});

describe("administration by a stock gRPC client", () => {
  it("reads and changes", async () => {
    const client = stockClient("setpoint.organization.v1.KeyService", organizations.grpcPort);
    try {
      const request = { name: "Stock", requestId: "stock" };
      const made = await callStock<{ key: { hash: string } }>(client, "CreateKey", request, { token });
      const refused: ServiceError = await callStock(client, "CreateKey", request, { token }).then(
        () => Promise.reject(new Error("two keys were made")),
        (error) => error,
      );
      expect(refused.code).toBe(status.ALREADY_EXISTS);
      expect(stockDetails(refused)).toMatchObject([{ reason: "KEY_ALREADY_MADE", metadata: { hash: made.key.hash } }]);
    } finally {
      client.close();
    }
  });
});
