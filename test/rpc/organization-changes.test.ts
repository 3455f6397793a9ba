import { timestampMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  OrganizationChangeAction as Action,
  ChangeTargetKind,
  type OrganizationChange,
} from "../../proto/gen/setpoint/organization/v1/change_pb.ts";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { MemberRole } from "../../proto/gen/setpoint/organization/v1/member_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { createKey as createKeyCommand } from "../../services/organization/commands/create-key.ts";
import { disableKey } from "../../services/organization/commands/disable-key.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import type { RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { type Administrator, openOrganizations, type TestOrganizations } from "../support/administration.ts";
import { failureOf } from "../support/failures.ts";
import { uuidV7 } from "../support/patterns.ts";
import type { Tenant } from "../support/tenants.ts";

const { listChanges, addMember, updateMember, removeMember } = OrganizationService.method;
const { createKey, updateKey, rotateKey, deleteKey } = KeyService.method;
const workspaces = WorkspaceService.method;

let organizations: TestOrganizations;
let tenant: Tenant;
let admin: Administrator;
let ownKeyId: string;
let key: { readonly id: string; readonly secret: string; readonly rotated: string };
let workspaceId: string;
let userId: string;
const email = `${newId()}@example.com`;

/** An organization in which everything was changed once, in this order. */
beforeAll(async () => {
  organizations = await openOrganizations();
  ({ tenant, admin } = await organizations.administer());
  ownKeyId = (await organizations.exchange(tenant.managementKey)).principal?.keyId ?? "";
  await organizations.administer();

  const { workspace } = await admin(workspaces.createWorkspace, { name: "Staging", slug: "staging" });
  workspaceId = workspace?.id ?? "";
  const description = { updateMask: { paths: ["description"] }, description: "For trying things" };
  await admin(workspaces.updateWorkspace, { workspace: "staging", ...description });
  const { member } = await admin(addMember, { email, firstName: "Ada" });
  userId = member?.id ?? "";
  await admin(updateMember, { userId, updateMask: { paths: ["role"] }, role: MemberRole.ADMIN });
  await admin(workspaces.addWorkspaceMembers, { workspace: "staging", userIds: [userId] });
  await admin(workspaces.removeWorkspaceMembers, { workspace: "staging", userIds: [userId] });
  const { key: made, secret } = await admin(createKey, { name: "CI", workspaceId: "staging", creatorUserId: userId });
  const { secret: rotated } = await admin(rotateKey, { key: made?.id ?? "", graceSeconds: 60 });
  key = { id: made?.id ?? "", secret, rotated };
  await admin(updateKey, { key: key.id, updateMask: { paths: ["name", "disabled"] }, name: "Old CI", disabled: true });
  await admin(deleteKey, { key: key.id });
  await admin(createKey, { name: "Kept", creatorUserId: userId });
  await admin(removeMember, { userId, disableKeys: true });
  await admin(workspaces.deleteWorkspace, { workspace: "staging" });
});

afterAll(() => organizations.close());

const fieldsOf = (change: OrganizationChange | undefined) =>
  change?.fields.map(({ field, fromJson, toJson }) => [field, JSON.parse(fromJson), JSON.parse(toJson)]);

describe("the change log of an organization", () => {
  it("lists every change, newest first, with who made it and what changed", async () => {
    const { changes, totalCount } = await admin(listChanges, { limit: 100 });
    expect(totalCount).toBe(changes.length);
    expect(changes.map(({ action }) => action)).toEqual([
      Action.WORKSPACE_DELETED,
      Action.KEY_UPDATED,
      Action.MEMBER_REMOVED,
      Action.KEY_CREATED,
      Action.KEY_DELETED,
      Action.KEY_UPDATED,
      Action.KEY_ROTATED,
      Action.KEY_CREATED,
      Action.WORKSPACE_MEMBERS_REMOVED,
      Action.WORKSPACE_MEMBERS_ADDED,
      Action.MEMBER_UPDATED,
      Action.MEMBER_ADDED,
      Action.WORKSPACE_UPDATED,
      Action.WORKSPACE_CREATED,
      // The changes of the bootstrap command, attributed to the admin.
      Action.KEY_CREATED,
      Action.KEY_CREATED,
      Action.MEMBER_ADDED,
    ]);
    for (const change of changes.slice(0, 14)) expect(change).toMatchObject({ userId: tenant.userId, keyId: ownKeyId });
    for (const change of changes.slice(14)) {
      expect(change.userId).toBe(tenant.userId);
      expect(change.keyId).toBeUndefined();
    }
    for (const { id, createTime } of changes) {
      expect(id).toMatch(uuidV7);
      expect(timestampMs(createTime as NonNullable<typeof createTime>)).toBeGreaterThan(Date.now() - 600_000);
    }
    const ofKey = { kind: ChangeTargetKind.KEY, id: key.id };
    const [workspaceDeleted, keyDisabled, memberRemoved, , keyDeleted, keyUpdated, keyRotated, keyCreated] = changes;
    expect(workspaceDeleted).toMatchObject({
      fields: [],
      target: { kind: ChangeTargetKind.WORKSPACE, id: workspaceId, name: "Staging" },
    });
    expect(memberRemoved).toMatchObject({
      fields: [],
      target: { kind: ChangeTargetKind.MEMBER, id: userId, name: email },
    });
    expect(keyDisabled).toMatchObject({ target: { name: "Kept" } });
    expect(fieldsOf(keyDisabled)).toEqual([["disabled", false, true]]);
    expect(keyDeleted).toMatchObject({ fields: [], target: { ...ofKey, name: "Old CI" } });
    expect(keyUpdated).toMatchObject({ target: { ...ofKey, name: "Old CI" } });
    expect(fieldsOf(keyUpdated)).toEqual([
      ["name", "CI", "Old CI"],
      ["disabled", false, true],
    ]);
    expect(fieldsOf(keyRotated)).toEqual([
      ["label", expect.stringContaining("…"), expect.stringContaining("…")],
      ["previous_expires_at", null, expect.stringMatching(/Z$/)],
    ]);
    expect(fieldsOf(keyCreated)).toEqual([
      ["name", null, "CI"],
      ["kind", null, "api"],
      ["permissions", null, ["presets:read", "presets:write", "inference"]],
      ["workspace_id", null, workspaceId],
      ["creator_user_id", null, userId],
      ["disabled", null, false],
      ["label", null, expect.stringContaining("…")],
    ]);
    expect(fieldsOf(changes[8])).toEqual([["member", userId, null]]);
    expect(fieldsOf(changes[9])).toEqual([["member", null, userId]]);
    expect(fieldsOf(changes[10])).toEqual([["role", "org:member", "org:admin"]]);
    expect(fieldsOf(changes[12])).toEqual([["description", null, "For trying things"]]);
  });

  it("contains no secret", async () => {
    const [rows] = await organizations.pool.query<RowDataPacket[]>("SELECT * FROM organization_changes");
    const text = JSON.stringify(rows);
    for (const secret of [key.secret, key.rotated, tenant.apiKey]) {
      for (let at = 12; at < secret.length - 9; at += 6) expect(text).not.toContain(secret.slice(at, at + 6));
    }
  });

  it.each([
    ["an action", () => ({ action: Action.KEY_CREATED }), 4],
    ["a user", () => ({ userId: tenant.userId }), 17],
    ["a target", () => ({ targetId: key.id }), 4],
    ["a target in upper case", () => ({ targetId: key.id.toUpperCase() }), 4],
    ["a member", () => ({ targetId: userId }), 3],
    ["all three", () => ({ action: Action.KEY_CREATED, userId: tenant.userId, targetId: key.id }), 1],
    ["a user who did nothing", () => ({ userId }), 0],
    ["nothing", () => ({}), 17],
  ])("can be filtered by %s, and paged", async (_name, filterOf, total) => {
    const all = await admin(listChanges, { ...filterOf(), limit: 100 });
    expect(all.changes).toHaveLength(total);
    const pages = [];
    for (let offset = 0; offset < total + 3; offset += 3) {
      pages.push(await admin(listChanges, { ...filterOf(), offset, limit: 3 }));
    }
    for (const page of [all, ...pages]) expect(page.totalCount).toBe(total);
    expect(pages.flatMap(({ changes }) => changes)).toEqual(all.changes);
    const past = await admin(listChanges, { ...filterOf(), offset: 2_147_483_647 });
    expect(past).toMatchObject({ changes: [], totalCount: total });
  });

  it.each([
    [{ offset: -1 }, "offset"],
    [{ limit: 101 }, "limit"],
    [{ action: 99 as Action }, "action"],
    [{ userId: "ü" }, "user_id"],
    [{ targetId: "x".repeat(65) }, "target_id"],
  ])("rejects %j", async (request, field) => {
    expect(await failureOf(admin(listChanges, request))).toMatchObject({ violations: [{ field }] });
  });

  it("lists changes made by commands, attributed to the oldest admin", async () => {
    const other = await organizations.administer();
    const [rows] = await organizations.pool.query<RowDataPacket[]>("SELECT name FROM organizations WHERE id = ?", [
      idToBytes(other.tenant.organizationId),
    ]);
    const flags = [
      "--organization",
      rows[0]?.name,
      "--name",
      "By command",
      "--kind",
      "api",
      "--rate-limit",
      "5",
      "--json",
    ];
    const { key_id: keyId } = JSON.parse(await createKeyCommand.read(flags)(organizations.pool));
    await disableKey.read(["--key-id", keyId])(organizations.pool);
    await disableKey.read(["--key-id", keyId])(organizations.pool);
    const { changes } = await other.admin(listChanges, { targetId: keyId });
    expect(changes.map(({ action }) => action)).toEqual([Action.KEY_UPDATED, Action.KEY_CREATED]);
    expect(changes[1]?.fields).toContainEqual(expect.objectContaining({ field: "rate_limit", toJson: "5" }));
    expect(changes[1]?.fields).toContainEqual(expect.objectContaining({ field: "rate_burst", toJson: "5" }));
    for (const change of changes) {
      expect(change.userId).toBe(other.tenant.userId);
      expect(change.keyId).toBeUndefined();
    }
  });

  it("has no entry for a request that changes nothing", async () => {
    const { tenant, admin } = await organizations.administer();
    const before = await admin(listChanges);
    await admin(updateMember, {
      userId: tenant.userId,
      updateMask: { paths: ["role", "first_name"] },
      role: MemberRole.ADMIN,
    });
    const members = { workspace: "default", userIds: [tenant.userId] };
    await admin(workspaces.addWorkspaceMembers, members);
    await admin(workspaces.updateWorkspace, { workspace: "default", updateMask: { paths: ["slug"] }, slug: "default" });
    expect(await admin(listChanges)).toEqual(before);
  });

  it("has one entry for each of many simultaneous changes, without gaps", async () => {
    const crowd = await organizations.administer();
    await Promise.all(Array.from({ length: 20 }, (_, n) => crowd.admin(createKey, { name: `Key ${n}` })));
    const { changes, totalCount } = await crowd.admin(listChanges, { limit: 100 });
    expect(totalCount).toBe(23);
    expect(new Set(changes.map(({ target }) => target?.name)).size).toBe(23);
  });
});
