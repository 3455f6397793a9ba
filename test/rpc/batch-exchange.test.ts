import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ErrorInfoSchema } from "../../proto/gen/google/rpc/error_details_pb.ts";
import { AccessService, type ExchangeOutcome } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { keyFromBytes } from "../../services/platform/auth/key-format.ts";
import { newId } from "../../services/platform/domain/ids.ts";
import { openOrganizations, type TestOrganizations } from "../support/administration.ts";
import { failureOf } from "../support/failures.ts";
import type { Tenant } from "../support/tenants.ts";

const { batchExchangeKeys, exchangeKey } = AccessService.method;

let organizations: TestOrganizations;
let tenant: Tenant;
let secondWorkspaceId: string;

beforeAll(async () => {
  organizations = await openOrganizations();
  tenant = await organizations.tenants.createOrganization();
  secondWorkspaceId = await organizations.tenants.createWorkspace(tenant);
});

afterAll(() => organizations.close());

/** The workspace of each token, or the code and reason of the error. */
function told({ outcome }: ExchangeOutcome): string | undefined {
  if (outcome.case === "response") return outcome.value.principal?.workspaceId;
  const [detail] = outcome.value?.details ?? [];
  return `${Code[outcome.value?.code ?? 0]} ${detail && anyUnpack(detail, ErrorInfoSchema)?.reason}`;
}

describe.each(["gRPC", "Connect"] as const)("BatchExchangeKeys over %s", (protocol) => {
  const batch = (requests: { key: string; workspaceId?: string }[]) =>
    organizations.calls[protocol](batchExchangeKeys, { requests });

  it("exchanges each key as if it were sent alone, in order", async () => {
    const other = await organizations.tenants.createOrganization();
    const disabled = await organizations.tenants.createKey(tenant, { disabled: true });
    const homeless = await organizations.tenants.createOrganization();
    await organizations.tenants.deleteWorkspace(homeless.workspaceId);
    const { outcomes } = await batch([
      { key: tenant.managementKey, workspaceId: secondWorkspaceId },
      { key: "malformed" },
      { key: tenant.apiKey },
      { key: tenant.managementKey },
      { key: tenant.apiKey, workspaceId: secondWorkspaceId },
      { key: keyFromBytes(Buffer.alloc(32, 7)) },
      { key: other.apiKey },
      { key: tenant.managementKey, workspaceId: other.workspaceId },
      { key: disabled.secret },
      { key: tenant.apiKey, workspaceId: "default" },
      { key: homeless.apiKey },
      { key: tenant.managementKey, workspaceId: newId() },
      { key: tenant.apiKey },
    ]);
    expect(outcomes.map(told)).toEqual([
      secondWorkspaceId,
      "Unauthenticated KEY_INVALID",
      tenant.workspaceId,
      tenant.workspaceId,
      "NotFound WORKSPACE_NOT_FOUND",
      "Unauthenticated KEY_INVALID",
      other.workspaceId,
      "NotFound WORKSPACE_NOT_FOUND",
      "Unauthenticated KEY_INVALID",
      "InvalidArgument INVALID_REQUEST",
      "",
      "NotFound WORKSPACE_NOT_FOUND",
      tenant.workspaceId,
    ]);
  });

  it("answers the same as ExchangeKey", async () => {
    const rateLimit = { perSecond: 5, burst: 9 };
    const { secret: key } = await organizations.tenants.createKey(tenant, { rateLimit });
    const { principal, expiresInSeconds, ...alone } = await organizations.calls[protocol](exchangeKey, { key });
    expect(alone.rateLimit).toMatchObject({ requestsPerSecond: 5, burst: 9 });
    const [outcome] = (await batch([{ key }])).outcomes;
    expect(outcome?.outcome.value).toMatchObject({ principal, expiresInSeconds, rateLimit: alone.rateLimit });
    expect(outcome?.outcome.value).toHaveProperty("accessToken");
  });

  it("accepts 100 keys, and answers malformed ones without a lookup", async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => organizations.tenants.createKey(tenant)));
    const requests = Array.from({ length: 100 }, (_, n) => ({ key: keys[n % 5]?.secret ?? "" }));
    const { outcomes } = await batch(requests);
    expect(outcomes.map(({ outcome }) => outcome.case)).toEqual(Array(100).fill("response"));
    expect((await batch([{ key: "" }])).outcomes.map(told)).toEqual(["Unauthenticated KEY_INVALID"]);
  });

  it.each([0, 101])("rejects %d keys", async (length) => {
    expect(await failureOf(batch(Array(length).fill({ key: tenant.apiKey })))).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: [{ field: "requests", description: "must have 1 to 100 elements" }],
    });
  });
});
