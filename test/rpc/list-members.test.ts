import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { MemberRole } from "../../proto/gen/setpoint/organization/v1/member_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { failureOf } from "../support/failures.ts";
import { openRpcCalls, type RpcCalls } from "../support/rpc-calls.ts";
import { type Stack, startStack } from "../support/stack.ts";

const { listMembers } = OrganizationService.method;
const memberCount = 120;

let stack: Stack;
let calls: RpcCalls;
let token: string;

beforeAll(async () => {
  stack = await startStack();
  calls = openRpcCalls(stack.organization.config);
  const start = Date.now() + 1_000;
  await stack.tenants.addMembers(
    stack,
    Array.from({ length: memberCount - 1 }, (_, index) => ({
      email: `member-${index}@example.com`,
      firstName: undefined,
      lastName: undefined,
      role: "org:member",
      // Pairs share a millisecond, and the last members are the oldest but for the admin.
      createdAt: new Date(start - Math.floor(index / 2)),
    })),
  );
  const { organizationPool: pool, userId } = stack;
  await pool.execute("UPDATE memberships SET created_at = ? WHERE user_id = ?", [new Date(0), userId]);
  await pool.execute("UPDATE memberships SET first_name = 'Ada', last_name = 'Lovelace' WHERE user_id = ?", [userId]);
  token = await tokenFor(stack.managementKey);
});

afterAll(async () => {
  calls.close();
  await stack.close();
});

async function tokenFor(key: string): Promise<string> {
  return (await calls.gRPC(AccessService.method.exchangeKey, { key })).accessToken;
}

describe.each(["gRPC", "Connect", "Connect GET"] as const)("ListMembers over %s", (protocol) => {
  const list = (request: { offset?: number; limit?: number }, accessToken = token) =>
    calls[protocol](listMembers, request, accessToken);

  it("returns every field of a member", async () => {
    const { members } = await list({ limit: 2 });
    expect(members).toMatchObject([
      {
        id: stack.userId,
        firstName: "Ada",
        lastName: "Lovelace",
        role: MemberRole.ADMIN,
        createTime: { seconds: 0n, nanos: 0 },
      },
      { email: expect.stringMatching(/@example\.com$/), role: MemberRole.MEMBER },
    ]);
    expect(members[1]?.firstName).toBeUndefined();
    expect(members[1]?.lastName).toBeUndefined();
  });

  it("pages through all members, oldest membership first, then by id", async () => {
    const pages = await Promise.all([0, 50, 100].map((offset) => list({ offset, limit: 50 })));
    const members = pages.flatMap((page) => page.members);
    const keys = members.map(({ createTime, id }) => {
      const time = timestampDate(createTime as NonNullable<typeof createTime>).toISOString();
      return `${time} ${id}`;
    });
    expect(new Set(keys).size).toBe(memberCount);
    expect(keys).toEqual([...keys].sort());
  });

  it.each([
    ["50 by default", {}, 50],
    ["one", { limit: 1 }, 1],
    ["100", { limit: 100 }, 100],
    ["the rest at the end", { offset: 100, limit: 100 }, 20],
    ["the last one", { offset: 119, limit: 100 }, 1],
    ["none at the end", { offset: 120, limit: 100 }, 0],
    ["none far past the end", { offset: 2_147_483_647, limit: 100 }, 0],
  ])("returns %s, with the total", async (_name, request, length) => {
    const page = await list(request);
    expect(page.members).toHaveLength(length);
    expect(page.totalCount).toBe(memberCount);
  });

  it.each([
    [{ offset: -1 }, [{ field: "offset", description: "must be at least 0" }]],
    [{ limit: -1 }, [{ field: "limit", description: "must be at least 1" }]],
    [{ limit: 101 }, [{ field: "limit", description: "must be at most 100" }]],
    [
      { offset: -1, limit: 101 },
      [
        { field: "offset", description: "must be at least 0" },
        { field: "limit", description: "must be at most 100" },
      ],
    ],
  ])("rejects %j and names every invalid field", async (request, violations) => {
    expect(await failureOf(list(request))).toMatchObject({
      code: "INVALID_ARGUMENT",
      reason: "INVALID_REQUEST",
      violations,
    });
  });

  it("requires a management key", async () => {
    expect(await failureOf(list({}, await tokenFor(stack.apiKey)))).toMatchObject({
      code: "PERMISSION_DENIED",
      reason: "MANAGEMENT_KEY_REQUIRED",
    });
  });

  it("requires a token", async () => {
    expect(await failureOf(calls[protocol](listMembers, {}))).toMatchObject({
      code: "UNAUTHENTICATED",
      reason: "TOKEN_MISSING",
    });
  });

  it.each([
    ["garbage", () => "garbage"],
    ["a key", () => stack.managementKey],
  ])("rejects %s in place of a token", async (_name, wrongToken) => {
    expect(await failureOf(list({}, wrongToken()))).toMatchObject({ code: "UNAUTHENTICATED", reason: "TOKEN_INVALID" });
  });

  it("returns no member of another organization", async () => {
    const other = await stack.tenants.createOrganization();
    const page = await list({}, await tokenFor(other.managementKey));
    expect(page.members.map(({ id }) => id)).toEqual([other.userId]);
    expect(page.totalCount).toBe(1);
  });

  it("returns NOT_FOUND if the organization was deleted before or after the exchange", async () => {
    const gone = await stack.tenants.createOrganization();
    const early = await tokenFor(gone.managementKey);
    await stack.tenants.deleteOrganization(gone);
    const late = await tokenFor(gone.managementKey);
    for (const each of [early, late]) {
      expect(await failureOf(list({}, each))).toMatchObject({ code: "NOT_FOUND", reason: "ORGANIZATION_NOT_FOUND" });
    }
  });
});
