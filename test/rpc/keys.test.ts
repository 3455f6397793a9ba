import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { KeyKind } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { hashKey } from "../../services/organization/domain/keys.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { type Administrator, openOrganizations, type TestOrganizations } from "../support/administration.ts";
import { uuidV7 } from "../support/patterns.ts";
import { failureOf } from "../support/rpc-calls.ts";
import type { Tenant } from "../support/tenants.ts";

const { listKeys, createKey, getKey, updateKey, deleteKey, getCurrentKey } = KeyService.method;
const { createWorkspace } = WorkspaceService.method;

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

async function made(request: Parameters<typeof admin<typeof createKey.input, typeof createKey.output>>[1] = {}) {
  const { key, secret } = await admin(createKey, { name: "CI", ...request });
  if (!key) throw new Error("no key");
  return { ...key, secret };
}

const hour = 3_600_000;
const inAnHour = () => timestampFromDate(new Date(Date.now() + hour));
const invalid = { code: "UNAUTHENTICATED", reason: "KEY_INVALID" };
const lastManagementKey = { code: "FAILED_PRECONDITION", reason: "LAST_MANAGEMENT_KEY" };

/** The id of the tenant's own management key. */
async function ownKeyId(): Promise<string> {
  return (await organizations.exchange(tenant.managementKey)).principal?.keyId ?? "";
}

describe("CreateKey", () => {
  it("makes an API key that may do everything in the default workspace, in the name of the caller", async () => {
    const { key, secret } = await admin(createKey, { name: "CI" });
    expect(key).toMatchObject({
      id: expect.stringMatching(uuidV7),
      hash: hashKey(secret).toString("hex"),
      label: `${secret.slice(0, 12)}…${secret.slice(-3)}`,
      name: "CI",
      kind: KeyKind.API,
      permissions: ["presets:read", "presets:write", "inference"],
      workspaceId: tenant.workspaceId,
      creatorUserId: tenant.userId,
      disabled: false,
    });
    expect([key?.updateTime, key?.lastUseTime, key?.expireTime, key?.previousExpireTime]).toEqual(
      Array(4).fill(undefined),
    );
    const { principal } = await organizations.exchange(secret);
    expect(principal).toMatchObject({ keyId: key?.id, workspaceId: tenant.workspaceId, permissions: key?.permissions });
    expect((await admin(getKey, { key: key?.id ?? "" })).key).toMatchObject({ hash: key?.hash ?? "" });
  });

  it("makes the key that is asked for", async () => {
    const { workspace } = await admin(createWorkspace, { name: "Staging", slug: "staging" });
    const [member] = (await addMember()).slice(-1);
    const expireTime = inAnHour();
    const parts = { creatorUserId: member ?? "", expireTime, permissions: ["inference", "presets:read", "inference"] };
    const { key } = await admin(createKey, { name: "Ω🔑", workspaceId: "staging", ...parts });
    expect(key).toMatchObject({
      name: "Ω🔑",
      workspaceId: workspace?.id,
      creatorUserId: member,
      permissions: ["presets:read", "inference"],
    });
    expect(key?.expireTime).toEqual(expireTime);
  });

  it("makes a management key, which is shown in the default workspace", async () => {
    const { key, secret } = await admin(createKey, { name: "Ops", kind: KeyKind.MANAGEMENT });
    const permissions = ["presets:read", "presets:write"];
    expect(key).toMatchObject({ kind: KeyKind.MANAGEMENT, permissions, workspaceId: tenant.workspaceId });
    expect((await organizations.exchange(secret)).principal).toMatchObject({
      keyKind: KeyKind.MANAGEMENT,
      permissions,
    });
    await admin(createKey, { name: "Whole", kind: KeyKind.MANAGEMENT, permissions });
  });

  it("names everything that is wrong at once", async () => {
    const request = {
      name: "",
      kind: KeyKind.MANAGEMENT,
      workspaceId: tenant.workspaceId,
      expireTime: timestampFromDate(new Date(Date.now() - 1)),
      permissions: ["presets:read", "all"],
      requestId: "ü",
    };
    expect(await failureOf(admin(createKey, request))).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: ["name", "request_id", "expire_time", "permissions[1]", "workspace_id"].map((field) => ({ field })),
    });
  });

  it.each([
    ["a name of 256 characters", { name: "x".repeat(256) }, "name"],
    ["a line break in the name", { name: "a\nb" }, "name"],
    ["a kind that is not there", { kind: 9 as KeyKind }, "kind"],
    ["inference for a management key", { kind: KeyKind.MANAGEMENT, permissions: ["inference"] }, "permissions"],
    ["half a management key", { kind: KeyKind.MANAGEMENT, permissions: ["presets:read"] }, "permissions"],
    ["a request id of 256 characters", { requestId: "x".repeat(256) }, "request_id"],
    ["a time that no database holds", { expireTime: { seconds: 253_402_300_800n, nanos: 0 } }, "expire_time"],
  ])("refuses %s", async (_name, request, field) => {
    const failure = await failureOf(admin(createKey, { name: "CI", ...request }));
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", violations: [{ field }] });
  });

  it("takes a name of 255 characters", async () => {
    expect((await made({ name: "x".repeat(255) })).name).toHaveLength(255);
  });

  it("does not tell another organization's workspace or member from none", async () => {
    const other = await organizations.tenants.createOrganization();
    const deleted = await organizations.tenants.createWorkspace(tenant);
    await organizations.tenants.deleteWorkspace(deleted);
    const failures = await Promise.all(
      [
        [newId(), "user_000000000000000000000000000"],
        [other.workspaceId, other.userId],
        [deleted, "ü"],
        ["none", ""],
      ].map(([workspaceId = "", creatorUserId = ""]) =>
        failureOf(admin(createKey, { name: "CI", workspaceId, creatorUserId: creatorUserId || "x".repeat(1_000) })),
      ),
    );
    for (const failure of failures) expect(failure).toEqual(failures[0]);
    expect(failures[0]).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: [
        { field: "workspace_id", description: "must name a workspace of the organization" },
        { field: "creator_user_id", description: "must be a member of the organization" },
      ],
    });
  });
});

async function addMember(): Promise<string[]> {
  const { member } = await admin(OrganizationService.method.addMember, { email: `${newId()}@example.com` });
  return [member?.id ?? ""];
}

describe("ListKeys", () => {
  it("lists keys of a workspace over pages, newest first, then by id", async () => {
    for (let n = 0; n < 12; n += 1) await made({ name: `Key ${n}` });
    // All in the same millisecond, so that their ids decide.
    await organizations.pool.execute("UPDATE api_keys SET created_at = ? WHERE organization_id = ?", [
      new Date(0),
      idToBytes(tenant.organizationId),
    ]);
    const pages = await Promise.all([0, 5, 10, 15].map((offset) => admin(listKeys, { offset, limit: 5 })));
    expect(pages.map(({ keys }) => keys.length)).toEqual([5, 5, 4, 0]);
    expect(pages.map(({ totalCount }) => totalCount)).toEqual([14, 14, 14, 14]);
    const ids = pages.flatMap(({ keys }) => keys.map(({ id }) => id));
    expect(ids).toEqual([...ids].sort().reverse());
    expect(new Set(ids).size).toBe(14);
  });

  it("lists the newest first", async () => {
    const first = await made({ name: "First" });
    await organizations.pool.execute("UPDATE api_keys SET created_at = created_at - INTERVAL 1 DAY WHERE id = ?", [
      idToBytes(first.id),
    ]);
    const { keys } = await admin(listKeys);
    expect(keys.at(-1)?.id).toBe(first.id);
  });

  it("shows management keys with those of the default workspace, and disabled keys where they are asked for", async () => {
    await admin(createWorkspace, { name: "Staging", slug: "staging" });
    const staged = await made({ name: "Staged", workspaceId: "staging" });
    const disabled = await made({ name: "Disabled" });
    await admin(updateKey, { key: disabled.id, updateMask: { paths: ["disabled"] }, disabled: true });
    const deleted = await made({ name: "Deleted" });
    await admin(deleteKey, { key: deleted.id });
    const namesOf = async (request: { workspaceId?: string; includeDisabled?: boolean }) => {
      const { keys, totalCount } = await admin(listKeys, request);
      expect(totalCount).toBe(keys.length);
      return keys.map(({ name }) => name).sort();
    };
    expect(await namesOf({})).toEqual(["First API key", "First management key"]);
    const all = ["Disabled", "First API key", "First management key"];
    expect(await namesOf({ includeDisabled: true, workspaceId: tenant.workspaceId })).toEqual(all);
    expect(await namesOf({ includeDisabled: true, workspaceId: "default" })).toEqual(all);
    expect(await namesOf({ workspaceId: "staging" })).toEqual([staged.name]);
  });

  it("does not tell another organization's workspace from none", async () => {
    const other = await organizations.tenants.createOrganization();
    for (const workspaceId of [other.workspaceId, newId(), "none", "ü", "x".repeat(100_000)]) {
      expect(await failureOf(admin(listKeys, { workspaceId }))).toMatchObject({
        code: "INVALID_ARGUMENT",
        violations: [{ field: "workspace_id", description: "must name a workspace of the organization" }],
      });
    }
  });

  it.each([
    [{ offset: -1 }, "offset"],
    [{ limit: 101 }, "limit"],
  ])("refuses %j", async (request, field) => {
    expect(await failureOf(admin(listKeys, request))).toMatchObject({ violations: [{ field }] });
  });
});

describe("a key that is named", () => {
  it("is found by its id and its hash, in upper and lower case", async () => {
    const key = await made();
    for (const name of [key.id, key.id.toUpperCase(), key.hash, key.hash.toUpperCase()]) {
      expect((await admin(getKey, { key: name })).key?.id).toBe(key.id);
    }
  });

  it("is not told from none where it is another organization's, or was deleted", async () => {
    const other = await organizations.administer();
    const { key: foreign } = await other.admin(createKey, { name: "Foreign" });
    const deleted = await made();
    await admin(deleteKey, { key: deleted.id });
    const names = [
      newId(),
      foreign?.id ?? "",
      foreign?.hash ?? "",
      deleted.id,
      deleted.hash,
      "0".repeat(64),
      "",
      "ü",
      "\0",
      "x".repeat(100_000),
    ];
    for (const key of names) {
      const failures = await Promise.all([
        failureOf(admin(getKey, { key })),
        failureOf(admin(updateKey, { key, updateMask: { paths: ["name"] }, name: "Mine" })),
        failureOf(admin(deleteKey, { key })),
        failureOf(admin(KeyService.method.rotateKey, { key })),
      ]);
      for (const failure of failures) {
        expect(failure).toMatchObject({
          code: "NOT_FOUND",
          reason: "KEY_NOT_FOUND",
          message: "There is no such key in this organization. List the keys to see which there are.",
        });
      }
    }
    expect((await other.admin(getKey, { key: foreign?.id ?? "" })).key?.name).toBe("Foreign");
  });
});

describe("UpdateKey", () => {
  it("changes what the mask names, and nothing else", async () => {
    const key = await made({ expireTime: inAnHour() });
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

  it("stops a key while it is disabled", async () => {
    const key = await made();
    const setDisabled = (disabled: boolean) =>
      admin(updateKey, { key: key.id, updateMask: { paths: ["disabled"] }, disabled });
    await setDisabled(true);
    expect(await failureOf(organizations.exchange(key.secret))).toMatchObject(invalid);
    await setDisabled(false);
    await organizations.exchange(key.secret);
  });

  it("leaves no trace where nothing differs", async () => {
    const key = await made();
    const { name, permissions } = key;
    const paths = ["name", "disabled", "permissions", "expire_time"];
    const { key: after } = await admin(updateKey, { key: key.id, updateMask: { paths }, name, permissions });
    expect(after?.updateTime).toBeUndefined();
    const { totalCount } = await admin(OrganizationService.method.listChanges, { targetId: key.id });
    expect(totalCount).toBe(1);
  });

  it.each([
    ["no mask", {}, "update_mask"],
    ["a field that is not there", { updateMask: { paths: ["name", "hash"] } }, "update_mask.paths[1]"],
    ["an empty name", { updateMask: { paths: ["name"] } }, "name"],
    ["no permission", { updateMask: { paths: ["permissions"] } }, "permissions"],
    ["an unknown permission", { updateMask: { paths: ["permissions"] }, permissions: ["x"] }, "permissions[0]"],
    [
      "a time that has passed",
      { updateMask: { paths: ["expire_time"] }, expireTime: timestampFromDate(new Date(0)) },
      "expire_time",
    ],
  ])("refuses %s", async (_name, request, field) => {
    const key = await made();
    expect(await failureOf(admin(updateKey, { key: key.id, ...request }))).toMatchObject({ violations: [{ field }] });
  });

  it("leaves a management key its permissions", async () => {
    const update = { updateMask: { paths: ["permissions"] }, permissions: ["presets:read"] };
    expect(await failureOf(admin(updateKey, { key: await ownKeyId(), ...update }))).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: [{ field: "permissions" }],
    });
  });
});

describe("DeleteKey", () => {
  it("ends a key for good", async () => {
    const key = await made();
    expect((await admin(deleteKey, { key: key.hash })).key?.id).toBe(key.id);
    expect(await failureOf(organizations.exchange(key.secret))).toMatchObject(invalid);
    expect(await failureOf(admin(deleteKey, { key: key.id }))).toMatchObject({ reason: "KEY_NOT_FOUND" });
  });

  it("is done once where many do it at once", async () => {
    const key = await made();
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => admin(deleteKey, { key: key.id })));
    const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
    expect(refused).toHaveLength(7);
    for (const failure of refused) expect(failure).toMatchObject({ reason: "KEY_NOT_FOUND" });
    const { changes } = await admin(OrganizationService.method.listChanges, { targetId: key.id });
    expect(changes).toHaveLength(2);
  });
});

describe("the last management key that works", () => {
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
      await made({ kind: KeyKind.MANAGEMENT, expireTime: inAnHour() });
      const disabled = await made({ kind: KeyKind.MANAGEMENT });
      await ways.disabled?.(disabled.id);
      expect(await failureOf(change(own))).toMatchObject(lastManagementKey);
      await organizations.exchange(tenant.managementKey);
      await made({ kind: KeyKind.MANAGEMENT });
      await change(own);
    });

    it("by two at once", async () => {
      const [one, other] = [await ownKeyId(), (await made({ kind: KeyKind.MANAGEMENT })).id];
      // Called with a third key, which goes on working but does not last.
      admin = await organizations.as((await made({ kind: KeyKind.MANAGEMENT, expireTime: inAnHour() })).secret);
      const results = await Promise.allSettled([change(one), change(other)]);
      const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
      expect(refused).toEqual([expect.objectContaining(lastManagementKey)]);
      const { keys } = await admin(listKeys);
      expect(keys.filter(({ kind, expireTime }) => kind === KeyKind.MANAGEMENT && !expireTime)).toHaveLength(1);
    });
  });

  it("may be renamed and rotated", async () => {
    const key = await ownKeyId();
    await admin(updateKey, { key, updateMask: { paths: ["name"] }, name: "New" });
    const { secret } = await admin(KeyService.method.rotateKey, { key });
    await organizations.exchange(secret);
  });
});

describe("the token of a management key", () => {
  it("changes nothing once the key was ended, though it lives on", async () => {
    const second = await made({ kind: KeyKind.MANAGEMENT });
    const late = await organizations.as(second.secret);
    await admin(deleteKey, { key: second.id });
    expect(await failureOf(late(createKey, { name: "Backdoor" }))).toMatchObject(invalid);
    const { keys } = await admin(listKeys);
    expect(keys.map(({ name }) => name)).not.toContain("Backdoor");
  });

  it("is needed for every method but that of the caller's own key", async () => {
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

  it("finds no organization that was deleted, by every method", async () => {
    await organizations.tenants.deleteOrganization(tenant);
    const gone = { code: "NOT_FOUND", reason: "ORGANIZATION_NOT_FOUND" };
    expect(await failureOf(admin(listKeys))).toMatchObject(gone);
    expect(await failureOf(admin(createKey, { name: "x" }))).toMatchObject(gone);
    expect(await failureOf(admin(WorkspaceService.method.listWorkspaces))).toMatchObject(gone);
    expect(await failureOf(admin(OrganizationService.method.listChanges))).toMatchObject(gone);
  });
});

describe("GetCurrentKey", () => {
  it("shows every key itself", async () => {
    const api = await organizations.as(tenant.apiKey);
    expect(await api(getCurrentKey)).toMatchObject({
      key: { kind: KeyKind.API, hash: hashKey(tenant.apiKey).toString("hex"), workspaceId: tenant.workspaceId },
      principal: { organizationId: tenant.organizationId, workspaceId: tenant.workspaceId },
    });
    expect(await admin(getCurrentKey)).toMatchObject({
      key: { kind: KeyKind.MANAGEMENT, name: "First management key" },
    });
  });

  it("is refused to a key that was deleted since", async () => {
    const key = await made();
    const late = await organizations.as(key.secret);
    await admin(deleteKey, { key: key.id });
    expect(await failureOf(late(getCurrentKey))).toMatchObject(invalid);
  });
});
