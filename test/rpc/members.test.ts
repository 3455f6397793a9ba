import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { KeyKind } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { OrganizationChangeAction } from "../../proto/gen/setpoint/organization/v1/change_pb.ts";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { MemberRole } from "../../proto/gen/setpoint/organization/v1/member_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import type { RowDataPacket } from "../../services/platform/mysql/pool.ts";
import {
  type Administrator,
  makeMember,
  openOrganizations,
  type TestOrganizations,
} from "../support/administration.ts";
import { failureOf } from "../support/failures.ts";
import type { Tenant } from "../support/tenants.ts";

const { listMembers, addMember, updateMember, removeMember, listChanges } = OrganizationService.method;
const { createKey, getKey } = KeyService.method;
const { createWorkspace, addWorkspaceMembers, listWorkspaceMembers } = WorkspaceService.method;
const lastAdmin = { code: "FAILED_PRECONDITION", reason: "LAST_ADMIN" };
const invalid = { code: "UNAUTHENTICATED", reason: "KEY_INVALID" };

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

function add(role: MemberRole = MemberRole.MEMBER, email = `${newId()}@example.com`) {
  return makeMember(admin, { email, role });
}

/** More keys like this one. */
async function copyKey(id: string, count: number): Promise<void> {
  for (let copied = 0; copied < count; copied += 1) {
    await organizations.pool.execute(
      `INSERT INTO api_keys (id, key_hash, name, kind, permissions, organization_id, workspace_id, creator_user_id, disabled,
        created_at) SELECT ?, ?, name, kind, permissions, organization_id, workspace_id, creator_user_id, disabled, created_at
        FROM api_keys WHERE id = ?`,
      [idToBytes(newId()), randomBytes(32), idToBytes(id)],
    );
  }
}

const setRole = (userId: string, role: MemberRole) =>
  admin(updateMember, { userId, updateMask: { paths: ["role"] }, role });

describe("AddMember", () => {
  it("adds a member with the role member by default", async () => {
    const email = `${newId()}@Example.com`;
    const { member } = await admin(addMember, { email, firstName: "Zoë" });
    expect(member).toMatchObject({ email, firstName: "Zoë", role: MemberRole.MEMBER });
    expect(member?.id).toMatch(/^user_[A-Za-z0-9]{27}$/);
    expect(member?.lastName).toBeUndefined();
    expect((await admin(listMembers)).members.at(-1)).toEqual(member);
    expect((await add(MemberRole.ADMIN)).role).toBe(MemberRole.ADMIN);
  });

  it("rejects an existing member, whatever the casing of the address", async () => {
    const email = `${newId()}@example.com`;
    await add(MemberRole.MEMBER, email);
    expect(await failureOf(add(MemberRole.ADMIN, email.toUpperCase()))).toMatchObject({
      code: "ALREADY_EXISTS",
      reason: "MEMBER_EXISTS",
    });
    expect((await admin(listMembers)).totalCount).toBe(2);
  });

  it("adds one member for simultaneous calls", async () => {
    const email = `${newId()}@example.com`;
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => add(MemberRole.MEMBER, email)));
    const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
    expect(refused).toEqual(Array(5).fill(expect.objectContaining({ reason: "MEMBER_EXISTS" })));
    expect((await admin(listMembers)).totalCount).toBe(2);
  });

  it("reports all violations at once", async () => {
    const request = { email: "ada", firstName: "", lastName: "x".repeat(256) };
    expect(await failureOf(admin(addMember, request))).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: ["email", "first_name", "last_name"].map((field) => ({ field })),
    });
    expect(await failureOf(add(9 as MemberRole))).toMatchObject({ violations: [{ field: "role" }] });
  });

  it("rejects an address that is too long once lowercased or normalized", async () => {
    for (const letter of ["İ", "\ufb2c"]) {
      expect(await failureOf(add(MemberRole.MEMBER, `${letter.repeat(160)}@example.com`))).toMatchObject({
        code: "INVALID_ARGUMENT",
        violations: [{ field: "email" }],
      });
    }
  });

  it("reveals nothing that another organization stores about the user", async () => {
    const email = `${newId()}@example.com`;
    const other = await organizations.administer();
    await other.admin(addMember, { email, firstName: "Ada", lastName: "Lovelace", role: MemberRole.ADMIN });
    const { member } = await admin(addMember, { email });
    expect([member?.firstName, member?.lastName, member?.role]).toEqual([undefined, undefined, MemberRole.MEMBER]);
  });

  it("returns the address as given, so that it does not reveal other memberships", async () => {
    const email = `Ada.${newId()}@example.com`;
    const other = await organizations.administer();
    await other.admin(addMember, { email });
    const { member } = await admin(addMember, { email: email.toUpperCase() });
    expect(member?.email).toBe(email.toUpperCase());
    expect((await admin(listMembers)).members.at(-1)).toEqual(member);
    expect((await other.admin(listMembers)).members.at(-1)?.email).toBe(email);
  });
});

describe("UpdateMember", () => {
  it("changes only the fields in the mask, in this organization only", async () => {
    const email = `${newId()}@example.com`;
    const other = await organizations.administer();
    const { member: elsewhere } = await other.admin(addMember, { email, firstName: "Ada", lastName: "L" });
    const { id: userId } = await add(MemberRole.MEMBER, email);
    const change = async (paths: string[], fields: object) =>
      (await admin(updateMember, { userId, updateMask: { paths }, ...fields })).member;
    const named = await change(["first_name", "last_name"], { firstName: "Augusta", lastName: "King", role: 1 });
    expect(named).toMatchObject({ firstName: "Augusta", lastName: "King", role: MemberRole.MEMBER });
    const last = await change(["role", "first_name"], { role: MemberRole.ADMIN });
    expect(last).toMatchObject({ lastName: "King", role: MemberRole.ADMIN });
    expect(last?.firstName).toBeUndefined();
    expect((await admin(listMembers)).members.at(-1)).toEqual(last);
    expect((await other.admin(listMembers)).members.at(-1)).toEqual(elsewhere);
  });

  it.each([
    ["no mask", {}, "update_mask"],
    ["an unknown field", { updateMask: { paths: ["email"] } }, "update_mask.paths[0]"],
    ["no role", { updateMask: { paths: ["role"] } }, "role"],
    ["an empty name", { updateMask: { paths: ["first_name"] }, firstName: "" }, "first_name"],
    ["a name with a line break", { updateMask: { paths: ["last_name"] }, lastName: "a\nb" }, "last_name"],
  ])("rejects %s", async (_name, request, field) => {
    expect(await failureOf(admin(updateMember, { userId: tenant.userId, ...request }))).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: [{ field }],
    });
  });
});

describe("the last admin", () => {
  it("cannot be demoted or removed until there is another", async () => {
    const member = await add();
    expect(await failureOf(setRole(tenant.userId, MemberRole.MEMBER))).toMatchObject(lastAdmin);
    expect(await failureOf(admin(removeMember, { userId: tenant.userId, disableKeys: true }))).toMatchObject(lastAdmin);
    await setRole(member.id, MemberRole.ADMIN);
    await setRole(tenant.userId, MemberRole.MEMBER);
    expect(await failureOf(admin(removeMember, { userId: member.id }))).toMatchObject(lastAdmin);
  });

  it.each(["demoted", "removed"])("remains if two admins are %s at once", async (way) => {
    const member = await add(MemberRole.ADMIN);
    const second = await add(MemberRole.ADMIN);
    await setRole(tenant.userId, MemberRole.MEMBER);
    const results = await Promise.allSettled(
      [member, second].map(({ id: userId }) =>
        way === "demoted" ? setRole(userId, MemberRole.MEMBER) : admin(removeMember, { userId }),
      ),
    );
    const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
    expect(refused).toEqual([expect.objectContaining(lastAdmin)]);
  });
});

describe("RemoveMember", () => {
  it("ends the membership and all workspace memberships", async () => {
    const { id: userId } = await add();
    await admin(createWorkspace, { name: "Team", slug: "team" });
    await admin(addWorkspaceMembers, { workspace: "team", userIds: [userId] });
    expect((await admin(removeMember, { userId })).member?.id).toBe(userId);
    expect((await admin(listMembers)).totalCount).toBe(1);
    expect((await admin(listWorkspaceMembers, { workspace: "team" })).totalCount).toBe(1);
    expect(await failureOf(admin(removeMember, { userId }))).toMatchObject({ reason: "MEMBER_NOT_FOUND" });
  });

  it("fails while the member has working keys, unless these are disabled too", async () => {
    const { id: userId } = await add();
    const { key, secret } = await admin(createKey, { name: "Theirs", creatorUserId: userId });
    const management = { name: "Ops", creatorUserId: userId, kind: KeyKind.MANAGEMENT };
    const { secret: managementSecret } = await admin(createKey, management);
    await organizations.tenants.createKey({ ...tenant, userId }, { expiresAt: new Date(Date.now() - 1) });
    const failure = await failureOf(admin(removeMember, { userId }));
    expect(failure).toMatchObject({ code: "FAILED_PRECONDITION", reason: "MEMBER_HAS_KEYS" });
    expect(failure.message).toContain(`"Theirs" (${key?.id})`);
    await organizations.exchange(secret);

    expect((await admin(removeMember, { userId, disableKeys: true })).disabledKeyCount).toBe(2);
    for (const each of [secret, managementSecret]) {
      expect(await failureOf(organizations.exchange(each))).toMatchObject(invalid);
    }
    expect((await admin(getKey, { key: key?.id ?? "" })).key).toMatchObject({
      disabled: true,
      creatorUserId: userId,
      updateTime: expect.anything(),
    });
    await organizations.exchange(tenant.managementKey);
  });

  it("disables thousands of keys and logs each", async () => {
    const { id: userId } = await add();
    const { key } = await admin(createKey, { name: "Theirs", creatorUserId: userId });
    const keyCount = 6_000;
    await copyKey(key?.id ?? "", keyCount - 1);
    expect((await admin(removeMember, { userId, disableKeys: true })).disabledKeyCount).toBe(keyCount);
    const [rows] = await organizations.pool.query<RowDataPacket[]>(
      "SELECT disabled, COUNT(*) AS total FROM api_keys WHERE creator_user_id = ? GROUP BY disabled",
      [userId],
    );
    expect(rows).toEqual([{ disabled: 1, total: keyCount }]);
    const { totalCount } = await admin(listChanges, { action: OrganizationChangeAction.KEY_UPDATED });
    expect(totalCount).toBe(keyCount);
  });

  it("fails without any change if it would disable the last management key", async () => {
    const { id: userId } = await add(MemberRole.ADMIN);
    await admin(createKey, { name: "Theirs", creatorUserId: userId });
    const removal = { userId: tenant.userId, disableKeys: true };
    // Another one of the same member would not help.
    expect(await failureOf(admin(removeMember, removal))).toMatchObject({
      reason: "LAST_MANAGEMENT_KEY",
      message: expect.stringContaining("for another member (creator_user_id)"),
    });
    await organizations.exchange(tenant.apiKey);
    expect((await admin(listMembers)).totalCount).toBe(2);
    await admin(createKey, { name: "For another", kind: KeyKind.MANAGEMENT, creatorUserId: userId });
    await admin(removeMember, removal);
  });

  it("leaves no working key that is created at the same time", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id: userId } = await add();
      const [made, removed] = await Promise.allSettled([
        admin(createKey, { name: "Late", creatorUserId: userId }),
        admin(removeMember, { userId }),
      ]);
      expect([made.status, removed.status].sort()).toEqual(["fulfilled", "rejected"]);
    }
  });

  it("keeps the member count right under simultaneous additions and removals", async () => {
    const email = `${newId()}@example.com`;
    const { id: userId } = await add(MemberRole.MEMBER, email);
    const results = await Promise.allSettled(
      Array.from({ length: 12 }, (_, n) =>
        n % 2 === 0 ? admin(removeMember, { userId }) : add(MemberRole.MEMBER, email),
      ),
    );
    for (const result of results) {
      if (result.status === "rejected") expect(["MEMBER_EXISTS", "MEMBER_NOT_FOUND"]).toContain(result.reason.reason);
    }
    const { members, totalCount } = await admin(listMembers);
    expect(totalCount).toBe(members.length);
  });

  it("leaves what the user has in another organization", async () => {
    const email = `${newId()}@example.com`;
    const { id: userId } = await add(MemberRole.MEMBER, email);
    const other = await organizations.administer();
    await makeMember(other.admin, { email, role: MemberRole.ADMIN });
    await other.admin(createWorkspace, { name: "Team", slug: "team" });
    await other.admin(addWorkspaceMembers, { workspace: "team", userIds: [userId] });
    const { secret } = await other.admin(createKey, { name: "Theirs", creatorUserId: userId });
    const members = await other.admin(listMembers);
    expect(members).toMatchObject({ members: [{}, { id: userId, role: MemberRole.ADMIN }], totalCount: 2 });
    const team = await other.admin(listWorkspaceMembers, { workspace: "team" });
    expect(team).toMatchObject({ members: [{}, { userId, role: MemberRole.ADMIN }], totalCount: 2 });

    await admin(removeMember, { userId, disableKeys: true });
    expect(await other.admin(listMembers)).toEqual(members);
    expect(await other.admin(listWorkspaceMembers, { workspace: "team" })).toEqual(team);
    await organizations.exchange(secret);
  });

  it("treats another organization's member as missing", async () => {
    const other = await organizations.tenants.createOrganization();
    for (const userId of [other.userId, "user_000000000000000000000000000", "", "ü", "\0", "x".repeat(100_000)]) {
      const failures = await Promise.all([
        failureOf(admin(removeMember, { userId })),
        failureOf(admin(updateMember, { userId, updateMask: { paths: ["first_name"] }, firstName: "Mine" })),
      ]);
      for (const failure of failures) {
        expect(failure).toMatchObject({
          code: "NOT_FOUND",
          reason: "MEMBER_NOT_FOUND",
          message: "There is no such member in this organization. List the members to see who they are.",
        });
      }
    }
  });
});
