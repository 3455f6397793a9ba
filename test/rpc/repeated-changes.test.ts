import { randomBytes } from "node:crypto";
import { create, type DescMessage, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KeyKind } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import type { RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { type Administrator, openOrganizations, type TestOrganizations } from "../support/administration.ts";
import { failureOf } from "../support/failures.ts";
import { shiftClock } from "../support/shifted-clock.ts";

const members = OrganizationService.method;
const keys = KeyService.method;
const workspaces = WorkspaceService.method;

let organizations: TestOrganizations;
let admin: Administrator;

beforeAll(async () => {
  organizations = await openOrganizations();
  ({ admin } = await organizations.administer());
});

afterAll(() => organizations.close());

const changeCount = async () => (await admin(members.listChanges, {})).totalCount;

/** Makes a change twice with one request id, checks that answers are equal and one change was stored, and returns it. */
async function changeTwice<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  as = admin,
) {
  const named = create(method.input, { ...request, requestId: newId() } as MessageInitShape<I>);
  const first = await as(method, named as MessageInitShape<I>);
  const countBefore = await changeCount();
  expect(await as(method, named as MessageInitShape<I>)).toEqual(first);
  expect(await changeCount()).toBe(countBefore);
  return first;
}

const newWorkspace = () => ({ name: "Staging", slug: `staging-${newId()}` });

describe("a retried change with the same request id", () => {
  it("gets the first answer for a created, updated and deleted workspace", async () => {
    const made = newWorkspace();
    const { workspace } = await changeTwice(workspaces.createWorkspace, made);
    const slug = `other-${newId()}`;
    // Its old slug no longer names it.
    await changeTwice(workspaces.updateWorkspace, { workspace: made.slug, updateMask: { paths: ["slug"] }, slug });
    const deleted = await changeTwice(workspaces.deleteWorkspace, { workspace: slug });
    expect(deleted.workspace?.id).toBe(workspace?.id);
  });

  it("gets the first answer for an added, updated and removed member", async () => {
    const { member } = await changeTwice(members.addMember, { email: `${newId()}@example.com` });
    const userId = member?.id ?? "";
    await changeTwice(members.updateMember, { userId, updateMask: { paths: ["first_name"] }, firstName: "Ada" });
    await admin(keys.createKey, { name: "CI", creatorUserId: userId });
    const removed = await changeTwice(members.removeMember, { userId, disableKeys: true });
    expect(removed).toMatchObject({ member: { id: userId }, disabledKeyCount: 1 });
  });

  it("gets the first counts for members added to and removed from a workspace", async () => {
    const { workspace } = await admin(workspaces.createWorkspace, newWorkspace());
    const { member } = await admin(members.addMember, { email: `${newId()}@example.com` });
    const request = { workspace: workspace?.id ?? "", userIds: [member?.id ?? ""] };
    expect((await changeTwice(workspaces.addWorkspaceMembers, request)).addedCount).toBe(1);
    expect((await changeTwice(workspaces.removeWorkspaceMembers, request)).removedCount).toBe(1);
  });

  it("gets the first answer for a deleted key, even if that key made the call", async () => {
    const { key, secret } = await admin(keys.createKey, { name: "Second", kind: KeyKind.MANAGEMENT });
    const second = await organizations.as(secret);
    const id = key?.id ?? "";
    await changeTwice(keys.updateKey, { key: id, updateMask: { paths: ["name"] }, name: "Third" });
    const deleted = await changeTwice(keys.deleteKey, { key: id }, second);
    expect(deleted.key?.id).toBe(id);
  });

  it("gets the first answer for a key whose expiry is over by then, while a new request is refused", async () => {
    const expireTime = timestampFromDate(new Date(Date.now() + 20_000));
    const secretSeed = randomBytes(32);
    const creation = { name: "CI", expireTime, secretSeed, requestId: newId() };
    const made = await admin(keys.createKey, creation);
    const update = { key: made.key?.id ?? "", updateMask: { paths: ["expire_time"] }, expireTime, requestId: newId() };
    const updated = await admin(keys.updateKey, update);
    const countBefore = await changeCount();
    try {
      shiftClock(21_000);
      expect(await admin(keys.createKey, creation)).toEqual(made);
      expect(await admin(keys.updateKey, update)).toEqual(updated);
      const refused = {
        code: "INVALID_ARGUMENT",
        violations: [{ field: "expire_time", description: "must be in the future" }],
      };
      const requestId = newId();
      expect(await failureOf(admin(keys.createKey, { ...creation, requestId }))).toMatchObject(refused);
      expect(await failureOf(admin(keys.updateKey, { ...update, requestId }))).toMatchObject(refused);
      expect(await changeCount()).toBe(countBefore);
    } finally {
      shiftClock(0);
    }
  });

  it("gets the first answer for an empty mask, which changes nothing", async () => {
    const { key } = await admin(keys.createKey, { name: "CI" });
    const { workspace } = await admin(workspaces.createWorkspace, newWorkspace());
    const countBefore = await changeCount();
    const updateMask = { paths: [] };
    const updatedKey = await changeTwice(keys.updateKey, { key: key?.id ?? "", updateMask, name: "Other" });
    expect(updatedKey.key).toEqual(key);
    const { id = "" } = workspace ?? {};
    const updated = await changeTwice(workspaces.updateWorkspace, { workspace: id, updateMask, name: "Other" });
    expect(updated.workspace).toEqual(workspace);
    expect(await changeCount()).toBe(countBefore);
  });

  it("is applied once if retried while in progress", async () => {
    const request = { ...newWorkspace(), requestId: newId() };
    const answers = await Promise.all([1, 2, 3].map(() => admin(workspaces.createWorkspace, request)));
    expect(new Set(answers.map(({ workspace }) => workspace?.id)).size).toBe(1);
  });
});

describe("the request id of a change", () => {
  it("cannot be reused for another request", async () => {
    const requestId = newId();
    await admin(workspaces.createWorkspace, { ...newWorkspace(), requestId });
    const isReused = { code: "ALREADY_EXISTS", reason: "REQUEST_ID_REUSED" };
    const another = admin(workspaces.createWorkspace, { ...newWorkspace(), requestId });
    expect(await failureOf(another)).toMatchObject(isReused);
    const ofAnotherKind = admin(workspaces.deleteWorkspace, { workspace: "staging", requestId });
    expect(await failureOf(ofAnotherKind)).toMatchObject(isReused);
  });

  it("is scoped to the organization", async () => {
    const request = { ...newWorkspace(), requestId: newId() };
    const { admin: other } = await organizations.administer();
    const first = await admin(workspaces.createWorkspace, request);
    const second = await other(workspaces.createWorkspace, request);
    expect(second.workspace?.id).not.toBe(first.workspace?.id);
  });

  it("is not used up by a rejected change", async () => {
    const request = { ...newWorkspace(), requestId: newId() };
    const { workspace: inTheWay } = await admin(workspaces.createWorkspace, { name: "First", slug: request.slug });
    expect(await failureOf(admin(workspaces.createWorkspace, request))).toMatchObject({ reason: "SLUG_TAKEN" });
    await admin(workspaces.deleteWorkspace, { workspace: inTheWay?.id ?? "" });
    expect((await admin(workspaces.createWorkspace, request)).workspace?.slug).toBe(request.slug);
  });

  it("is kept for a day, and its row is deleted afterwards", async () => {
    const { tenant, admin } = await organizations.administer();
    const organizationId = idToBytes(tenant.organizationId);
    const changeHoursAgo = async (hours: number) => {
      const request = { ...newWorkspace(), requestId: newId() };
      await admin(workspaces.createWorkspace, request);
      await organizations.pool.execute(
        `UPDATE change_requests SET created_at = created_at - INTERVAL ${hours} HOUR WHERE organization_id = ? AND request_id = ?`,
        [organizationId, request.requestId],
      );
      return request;
    };
    const [kept, _deleted, last] = [await changeHoursAgo(23), await changeHoursAgo(24), await changeHoursAgo(0)];
    const [rows] = await organizations.pool.query<RowDataPacket[]>(
      "SELECT request_id FROM change_requests WHERE organization_id = ?",
      [organizationId],
    );
    expect(rows.map((row) => String(row.request_id)).sort()).toEqual([kept.requestId, last.requestId].sort());
    expect((await admin(workspaces.createWorkspace, kept)).workspace?.slug).toBe(kept.slug);
  });

  it("must be printable and at most 255 characters", async () => {
    for (const requestId of ["\n", "\x7f", "é", "a".repeat(256)]) {
      const refused = admin(workspaces.createWorkspace, { ...newWorkspace(), requestId });
      expect(await failureOf(refused)).toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    await admin(workspaces.createWorkspace, { ...newWorkspace(), requestId: ` ${"~".repeat(254)}` });
  });
});
