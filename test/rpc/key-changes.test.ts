import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { KeyKind } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { hashKey } from "../../services/organization/domain/keys.ts";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import {
  type Administrator,
  makeKey,
  makeMember,
  openOrganizations,
  type TestOrganizations,
} from "../support/administration.ts";
import { failureOf } from "../support/failures.ts";
import type { Tenant } from "../support/tenants.ts";

const { listKeys, createKey, getKey, updateKey, deleteKey, getCurrentKey } = KeyService.method;

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

const hour = 3_600_000;
const inAnHour = () => timestampFromDate(new Date(Date.now() + hour));
const invalid = { code: "UNAUTHENTICATED", reason: "KEY_INVALID" };
const lastManagementKey = { code: "FAILED_PRECONDITION", reason: "LAST_MANAGEMENT_KEY" };

const expire = (key: string) =>
  organizations.pool.execute("UPDATE api_keys SET expires_at = ? WHERE id = ?", [new Date(), idToBytes(key)]);

/** The id of the tenant's own management key. */
async function ownKeyId(): Promise<string> {
  return (await organizations.exchange(tenant.managementKey)).principal?.keyId ?? "";
}

describe("UpdateKey", () => {
  it("changes only the fields in the mask", async () => {
    const key = await makeKey(admin, { expireTime: inAnHour() });
    const change = async (paths: string[], fields: object) =>
      (await admin(updateKey, { key: key.hash, updateMask: { paths }, ...fields })).key;
    expect(await change(["name"], { name: "New", disabled: true })).toMatchObject({ name: "New", disabled: false });
    expect(await change(["permissions"], { permissions: ["inference"] })).toMatchObject({ permissions: ["inference"] });
    expect((await change(["expire_time"], {}))?.expireTime).toBeUndefined();
    const expireTime = inAnHour();
    const last = await change(["expire_time", "disabled"], { expireTime, disabled: true });
    expect(last).toMatchObject({ name: "New", disabled: true, permissions: ["inference"] });
    expect(last?.expireTime).toEqual(expireTime);
    expect(timestampDate(last?.updateTime as NonNullable<typeof expireTime>).getTime()).toBeGreaterThan(
      Date.now() - hour,
    );
    expect((await admin(getKey, { key: key.id })).key).toEqual(last);
  });

  it("blocks a key while it is disabled", async () => {
    const key = await makeKey(admin);
    const setDisabled = (disabled: boolean) =>
      admin(updateKey, { key: key.id, updateMask: { paths: ["disabled"] }, disabled });
    await setDisabled(true);
    expect(await failureOf(organizations.exchange(key.secret))).toMatchObject(invalid);
    await setDisabled(false);
    await organizations.exchange(key.secret);
  });

  it("records no change if nothing differs", async () => {
    const key = await makeKey(admin);
    const { name, permissions } = key;
    const paths = ["name", "disabled", "permissions", "expire_time"];
    const { key: after } = await admin(updateKey, { key: key.id, updateMask: { paths }, name, permissions });
    expect(after?.updateTime).toBeUndefined();
    const { totalCount } = await admin(OrganizationService.method.listChanges, { targetId: key.id });
    expect(totalCount).toBe(1);
  });

  it.each([
    ["no mask", {}, "update_mask"],
    ["an unknown field", { updateMask: { paths: ["name", "hash"] } }, "update_mask.paths[1]"],
    ["101 paths", { updateMask: { paths: Array(101).fill("name") }, name: "New" }, "update_mask.paths"],
    ["an empty name", { updateMask: { paths: ["name"] } }, "name"],
    ["no permission", { updateMask: { paths: ["permissions"] } }, "permissions"],
    ["an unknown permission", { updateMask: { paths: ["permissions"] }, permissions: ["x"] }, "permissions[0]"],
    [
      "a time in the past",
      { updateMask: { paths: ["expire_time"] }, expireTime: timestampFromDate(new Date(0)) },
      "expire_time",
    ],
  ])("rejects %s", async (_name, request, field) => {
    const key = await makeKey(admin);
    expect(await failureOf(admin(updateKey, { key: key.id, ...request }))).toMatchObject({ violations: [{ field }] });
  });

  it("cannot make a key work again whose owner has left, but can rename it", async () => {
    const { id: userId } = await makeMember(admin);
    const [disabled, expired] = [
      await makeKey(admin, { creatorUserId: userId }),
      await makeKey(admin, { creatorUserId: userId }),
    ];
    await expire(expired.id);
    await admin(OrganizationService.method.removeMember, { userId, disableKeys: true });
    const failures = [
      await failureOf(admin(updateKey, { key: disabled.id, updateMask: { paths: ["disabled"] }, disabled: false })),
      await failureOf(admin(updateKey, { key: expired.id, updateMask: { paths: ["expire_time"] } })),
    ];
    for (const failure of failures) {
      expect(failure).toMatchObject({ code: "FAILED_PRECONDITION", reason: "KEY_OF_NO_MEMBER" });
    }
    for (const { id, secret } of [disabled, expired]) {
      await admin(updateKey, { key: id, updateMask: { paths: ["name"] }, name: "Theirs" });
      expect(await failureOf(organizations.exchange(secret))).toMatchObject(invalid);
    }
  });

  it("cannot make a key work again whose workspace was deleted, but can rename it", async () => {
    await admin(WorkspaceService.method.createWorkspace, { name: "Gone", slug: "gone" });
    const [disabled, expired] = [
      await makeKey(admin, { workspaceId: "gone" }),
      await makeKey(admin, { workspaceId: "gone" }),
    ];
    await expire(expired.id);
    await admin(updateKey, { key: disabled.id, updateMask: { paths: ["disabled"] }, disabled: true });
    await admin(WorkspaceService.method.deleteWorkspace, { workspace: "gone" });
    const failures = [
      await failureOf(admin(updateKey, { key: disabled.id, updateMask: { paths: ["disabled"] }, disabled: false })),
      await failureOf(admin(updateKey, { key: expired.id, updateMask: { paths: ["expire_time"] } })),
    ];
    for (const failure of failures) {
      expect(failure).toMatchObject({ code: "FAILED_PRECONDITION", reason: "KEY_OF_NO_WORKSPACE" });
    }
    await admin(updateKey, { key: disabled.id, updateMask: { paths: ["name"] }, name: "Of no use" });
  });

  it("cannot change the permissions of a management key", async () => {
    const update = { updateMask: { paths: ["permissions"] }, permissions: ["presets:read"] };
    expect(await failureOf(admin(updateKey, { key: await ownKeyId(), ...update }))).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: [{ field: "permissions" }],
    });
  });
});

describe("DeleteKey", () => {
  it("revokes a key permanently", async () => {
    const key = await makeKey(admin);
    expect((await admin(deleteKey, { key: key.hash })).key?.id).toBe(key.id);
    expect(await failureOf(organizations.exchange(key.secret))).toMatchObject(invalid);
    expect(await failureOf(admin(deleteKey, { key: key.id }))).toMatchObject({ reason: "KEY_NOT_FOUND" });
  });

  it("succeeds once for simultaneous calls", async () => {
    const key = await makeKey(admin);
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => admin(deleteKey, { key: key.id })));
    const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
    expect(refused).toHaveLength(7);
    for (const failure of refused) expect(failure).toMatchObject({ reason: "KEY_NOT_FOUND" });
    const { changes } = await admin(OrganizationService.method.listChanges, { targetId: key.id });
    expect(changes).toHaveLength(2);
  });
});

describe("the last working management key", () => {
  const ways: Record<string, (key: string) => Promise<unknown>> = {
    disabled: (key) => admin(updateKey, { key, updateMask: { paths: ["disabled"] }, disabled: true }),
    deleted: (key) => admin(deleteKey, { key }),
    "given an expiry": (key) =>
      admin(updateKey, { key, updateMask: { paths: ["expire_time"] }, expireTime: inAnHour() }),
  };

  describe.each(Object.entries(ways))("cannot be %s", (_name, change) => {
    it("until there is another one that lasts as long", async () => {
      const own = await ownKeyId();
      expect(await failureOf(change(own))).toMatchObject(lastManagementKey);
      await makeKey(admin, { kind: KeyKind.MANAGEMENT, expireTime: inAnHour() });
      const disabled = await makeKey(admin, { kind: KeyKind.MANAGEMENT });
      await ways.disabled?.(disabled.id);
      expect(await failureOf(change(own))).toMatchObject(lastManagementKey);
      await organizations.exchange(tenant.managementKey);
      await makeKey(admin, { kind: KeyKind.MANAGEMENT });
      await change(own);
    });

    it("by two simultaneous calls", async () => {
      const [one, other] = [await ownKeyId(), (await makeKey(admin, { kind: KeyKind.MANAGEMENT })).id];
      // Called with a third key, which keeps working but expires.
      admin = await organizations.as(
        (await makeKey(admin, { kind: KeyKind.MANAGEMENT, expireTime: inAnHour() })).secret,
      );
      const results = await Promise.allSettled([change(one), change(other)]);
      const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
      expect(refused).toEqual([expect.objectContaining(lastManagementKey)]);
      const { keys } = await admin(listKeys);
      expect(keys.filter(({ kind, expireTime }) => kind === KeyKind.MANAGEMENT && !expireTime)).toHaveLength(1);
    });
  });

  it("can be renamed and rotated", async () => {
    const key = await ownKeyId();
    await admin(updateKey, { key, updateMask: { paths: ["name"] }, name: "New" });
    const { secret } = await admin(KeyService.method.rotateKey, { key });
    await organizations.exchange(secret);
  });
});

describe("a management key's token", () => {
  it.each<[string, (key: string) => Promise<unknown>]>([
    ["was deleted", (key) => admin(deleteKey, { key })],
    ["was disabled", (key) => admin(updateKey, { key, updateMask: { paths: ["disabled"] }, disabled: true })],
    ["has expired", expire],
  ])("cannot change anything once the key %s, even before the token expires", async (_name, end) => {
    const second = await makeKey(admin, { kind: KeyKind.MANAGEMENT });
    const late = await organizations.as(second.secret);
    await end(second.id);
    expect(await failureOf(late(createKey, { name: "Backdoor" }))).toMatchObject(invalid);
    const { keys } = await admin(listKeys);
    expect(keys.map(({ name }) => name)).not.toContain("Backdoor");
  });

  it("is required by every method except GetCurrentKey", async () => {
    const api = await organizations.as(tenant.apiKey);
    const methods = [...Object.values(KeyService.method), ...Object.values(WorkspaceService.method)].concat(
      Object.values(OrganizationService.method) as never[],
    );
    for (const method of methods) {
      if (method === getCurrentKey) continue;
      expect(await failureOf(api(method as typeof getKey)), method.name).toMatchObject({
        code: "PERMISSION_DENIED",
        reason: "MANAGEMENT_KEY_REQUIRED",
      });
    }
  });

  it("gets NOT_FOUND from every method if its organization was deleted", async () => {
    await organizations.tenants.deleteOrganization(tenant);
    const gone = { code: "NOT_FOUND", reason: "ORGANIZATION_NOT_FOUND" };
    expect(await failureOf(admin(listKeys))).toMatchObject(gone);
    expect(await failureOf(admin(createKey, { name: "x" }))).toMatchObject(gone);
    expect(await failureOf(admin(WorkspaceService.method.listWorkspaces))).toMatchObject(gone);
    expect(await failureOf(admin(OrganizationService.method.listChanges))).toMatchObject(gone);
  });
});

describe("GetCurrentKey", () => {
  it("returns the caller's own key", async () => {
    const api = await organizations.as(tenant.apiKey);
    expect(await api(getCurrentKey)).toMatchObject({
      key: { kind: KeyKind.API, hash: hashKey(tenant.apiKey).toString("hex"), workspaceId: tenant.workspaceId },
      principal: { organizationId: tenant.organizationId, workspaceId: tenant.workspaceId },
    });
    expect(await admin(getCurrentKey)).toMatchObject({
      key: { kind: KeyKind.MANAGEMENT, name: "First management key" },
    });
  });

  it("rejects a key deleted in the meantime", async () => {
    const key = await makeKey(admin);
    const late = await organizations.as(key.secret);
    await admin(deleteKey, { key: key.id });
    expect(await failureOf(late(getCurrentKey))).toMatchObject(invalid);
  });
});
