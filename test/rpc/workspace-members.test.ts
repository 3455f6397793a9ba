import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { MemberRole } from "../../proto/gen/setpoint/organization/v1/member_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { isId } from "../../services/platform/domain/ids.ts";
import {
  type Administrator,
  makeMember,
  makeWorkspace,
  openOrganizations,
  type TestOrganizations,
} from "../support/administration.ts";
import { failureOf } from "../support/failures.ts";
import type { Tenant } from "../support/tenants.ts";

const { listWorkspaceMembers, addWorkspaceMembers, removeWorkspaceMembers } = WorkspaceService.method;
const { createKey, deleteKey } = KeyService.method;

let organizations: TestOrganizations;
let tenant: Tenant;
let admin: Administrator;

beforeAll(async () => {
  organizations = await openOrganizations();
});

afterAll(() => organizations.close());

beforeEach(async () => {
  ({ tenant, admin } = await organizations.administer());
});

const newMember = async (): Promise<string> => (await makeMember(admin)).id;

const userIdsOf = async (workspace: string) =>
  (await admin(listWorkspaceMembers, { workspace })).members.map(({ userId }) => userId);

describe("the members of a workspace", () => {
  it("are those added, once each, oldest membership first", async () => {
    await makeWorkspace(admin, "team");
    const [ada, ben] = [await newMember(), await newMember()];
    const added = await admin(addWorkspaceMembers, { workspace: "team", userIds: [ada, ben, ada, tenant.userId] });
    expect(added.addedCount).toBe(2);
    expect(added.members.map(({ userId }) => userId).sort()).toEqual([ada, ben, tenant.userId].sort());
    const again = await admin(addWorkspaceMembers, { workspace: "team", userIds: [ada] });
    expect(again).toMatchObject({ addedCount: 0, members: [{ userId: ada, role: MemberRole.MEMBER }] });

    const pages = await Promise.all(
      [0, 2, 4].map((offset) => admin(listWorkspaceMembers, { workspace: "team", offset, limit: 2 })),
    );
    expect(pages.map(({ members }) => members.length)).toEqual([2, 1, 0]);
    expect(pages.map(({ totalCount }) => totalCount)).toEqual([3, 3, 3]);
    const members = pages.flatMap((page) => page.members);
    expect(members[0]).toMatchObject({ userId: tenant.userId, role: MemberRole.ADMIN });
    expect(members.slice(1).map(({ userId }) => userId)).toEqual([ada, ben].sort());
    for (const { id } of members) expect(isId(id)).toBe(true);
    expect(new Set(members.map(({ id }) => id)).size).toBe(3);
    expect((await admin(listWorkspaceMembers, { workspace: "team" })).members).toEqual(members);
  });

  it("are listed in the order in which they joined the workspace, not the organization", async () => {
    await makeWorkspace(admin, "team");
    const [ada, ben] = [await newMember(), await newMember()];
    for (const userId of [ben, ada]) await admin(addWorkspaceMembers, { workspace: "team", userIds: [userId] });
    expect(await userIdsOf("team")).toEqual([tenant.userId, ben, ada]);
  });

  it("are all organization members in the default workspace, and cannot be removed there", async () => {
    const ada = await newMember();
    const page = await admin(listWorkspaceMembers, { workspace: tenant.workspaceId });
    expect(page.totalCount).toBe(2);
    expect(page.members.map(({ userId }) => userId)).toEqual([tenant.userId, ada]);
    expect(await admin(addWorkspaceMembers, { workspace: "default", userIds: [ada] })).toMatchObject({ addedCount: 0 });
    expect(await failureOf(admin(removeWorkspaceMembers, { workspace: "default", userIds: [ada] }))).toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "WORKSPACE_IS_DEFAULT",
    });
  });

  it("must belong to the organization, and others are reported as missing", async () => {
    await makeWorkspace(admin, "team");
    const other = await organizations.tenants.createOrganization();
    const userIds = [tenant.userId, other.userId, "user_000000000000000000000000000", "ü", ""];
    expect(await failureOf(admin(addWorkspaceMembers, { workspace: "team", userIds }))).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: [1, 2, 3, 4].map((n) => ({
        field: `user_ids[${n}]`,
        description: "must be a member of the organization",
      })),
    });
    expect(await userIdsOf("team")).toEqual([tenant.userId]);
    const strangers = { workspace: "team", userIds: userIds.slice(1) };
    expect(await admin(removeWorkspaceMembers, strangers)).toMatchObject({ removedCount: 0 });
  });

  it.each([0, 101])("cannot be changed %d at once", async (length) => {
    await makeWorkspace(admin, "team");
    const request = { workspace: "team", userIds: Array(length).fill(tenant.userId) };
    for (const method of [addWorkspaceMembers, removeWorkspaceMembers] as const) {
      expect(await failureOf(admin(method as typeof addWorkspaceMembers, request))).toMatchObject({
        violations: [{ field: "user_ids", description: "must have 1 to 100 elements" }],
      });
    }
  });

  it("can be removed unless they have working keys there", async () => {
    const { id: workspaceId } = await makeWorkspace(admin, "team");
    await organizations.tenants.createKey(tenant, { workspaceId, expiresAt: new Date(Date.now() - 1) });
    const [ada, ben] = [await newMember(), await newMember()];
    await admin(addWorkspaceMembers, { workspace: "team", userIds: [ada, ben] });
    const { key } = await admin(createKey, { name: "Ada's", workspaceId: "team", creatorUserId: ada });
    await admin(createKey, { name: "Elsewhere", creatorUserId: ben });
    const remove = (...userIds: string[]) => admin(removeWorkspaceMembers, { workspace: "team", userIds });
    const failure = await failureOf(remove(ben, ada));
    expect(failure).toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "WORKSPACE_MEMBER_HAS_KEYS",
      violations: [{ field: "user_ids[1]", description: "must be nobody whose keys of the workspace still work" }],
    });
    expect(failure.message).toMatch(`Keys of this member still work: "Ada's" (${key?.id})`);
    expect(await userIdsOf("team")).toHaveLength(3);
    expect(await remove(ben, tenant.userId)).toMatchObject({ removedCount: 2 });
    await admin(deleteKey, { key: key?.id ?? "" });
    expect(await remove(ada, ben)).toMatchObject({ removedCount: 1 });
    expect(await userIdsOf("team")).toEqual([]);
  });

  it("stay in the other workspaces when they are removed from one", async () => {
    const ada = await newMember();
    for (const workspace of ["team", "other"]) {
      await makeWorkspace(admin, workspace);
      await admin(addWorkspaceMembers, { workspace, userIds: [ada] });
    }
    await admin(removeWorkspaceMembers, { workspace: "team", userIds: [ada] });
    expect(await userIdsOf("team")).toEqual([tenant.userId]);
    expect(await userIdsOf("other")).toEqual([tenant.userId, ada]);
  });

  it("leave with the organization, and are not back when they are added to it again", async () => {
    await makeWorkspace(admin, "team");
    const { id, email } = await makeMember(admin);
    await admin(addWorkspaceMembers, { workspace: "team", userIds: [id] });
    await admin(OrganizationService.method.removeMember, { userId: id });
    expect(await userIdsOf("team")).toEqual([tenant.userId]);
    expect((await makeMember(admin, { email })).id).toBe(id);
    expect(await userIdsOf("team")).toEqual([tenant.userId]);
  });
});
