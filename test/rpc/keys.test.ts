import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { KeyKind } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { hashKey } from "../../services/organization/domain/keys.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import {
  type Administrator,
  makeKey,
  makeMember,
  openOrganizations,
  type TestOrganizations,
} from "../support/administration.ts";
import { failureOf } from "../support/failures.ts";
import { uuidV7 } from "../support/patterns.ts";
import type { Tenant } from "../support/tenants.ts";

const { listKeys, createKey, getKey, updateKey, deleteKey } = KeyService.method;
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

const hour = 3_600_000;
const inAnHour = () => timestampFromDate(new Date(Date.now() + hour));

describe("CreateKey", () => {
  it("creates an API key with all permissions in the default workspace, owned by the caller", async () => {
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

  it("creates a key with all requested fields", async () => {
    const { workspace } = await admin(createWorkspace, { name: "Staging", slug: "staging" });
    const { id: creatorUserId } = await makeMember(admin);
    const expireTime = inAnHour();
    const parts = { creatorUserId, expireTime, permissions: ["inference", "presets:read", "inference"] };
    const { key } = await admin(createKey, { name: "Ω🔑", workspaceId: "staging", ...parts });
    expect(key).toMatchObject({
      name: "Ω🔑",
      workspaceId: workspace?.id,
      creatorUserId,
      permissions: ["presets:read", "inference"],
    });
    expect(key?.expireTime).toEqual(expireTime);
  });

  it("creates a management key, listed in the default workspace", async () => {
    const { key, secret } = await admin(createKey, { name: "Ops", kind: KeyKind.MANAGEMENT });
    const permissions = ["presets:read", "presets:write"];
    expect(key).toMatchObject({ kind: KeyKind.MANAGEMENT, permissions, workspaceId: tenant.workspaceId });
    expect((await organizations.exchange(secret)).principal).toMatchObject({
      keyKind: KeyKind.MANAGEMENT,
      permissions,
    });
    await admin(createKey, { name: "Whole", kind: KeyKind.MANAGEMENT, permissions });
  });

  it("reports all violations at once", async () => {
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
    ["an unknown kind", { kind: 9 as KeyKind }, "kind"],
    ["inference for a management key", { kind: KeyKind.MANAGEMENT, permissions: ["inference"] }, "permissions"],
    [
      "partial permissions for a management key",
      { kind: KeyKind.MANAGEMENT, permissions: ["presets:read"] },
      "permissions",
    ],
    ["a request id of 256 characters", { requestId: "x".repeat(256) }, "request_id"],
    ["a time beyond the range of the database", { expireTime: { seconds: 253_402_300_800n, nanos: 0 } }, "expire_time"],
  ])("rejects %s", async (_name, request, field) => {
    const failure = await failureOf(admin(createKey, { name: "CI", ...request }));
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", violations: [{ field }] });
  });

  it("accepts a name of 255 characters", async () => {
    expect((await makeKey(admin, { name: "x".repeat(255) })).name).toHaveLength(255);
  });

  it("treats another organization's workspace or member as missing", async () => {
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

describe("ListKeys", () => {
  it("pages through a workspace's keys, newest first, then by id", async () => {
    for (let n = 0; n < 12; n += 1) await makeKey(admin, { name: `Key ${n}` });
    // All in the same millisecond, so that they are ordered by id.
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
    const first = await makeKey(admin, { name: "First" });
    await organizations.pool.execute("UPDATE api_keys SET created_at = created_at - INTERVAL 1 DAY WHERE id = ?", [
      idToBytes(first.id),
    ]);
    const { keys } = await admin(listKeys);
    expect(keys.at(-1)?.id).toBe(first.id);
  });

  it("lists management keys in the default workspace, and disabled keys on request", async () => {
    await admin(createWorkspace, { name: "Staging", slug: "staging" });
    const staged = await makeKey(admin, { name: "Staged", workspaceId: "staging" });
    const disabled = await makeKey(admin, { name: "Disabled" });
    await admin(updateKey, { key: disabled.id, updateMask: { paths: ["disabled"] }, disabled: true });
    const deleted = await makeKey(admin, { name: "Deleted" });
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

  it("treats another organization's workspace as missing", async () => {
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
  ])("rejects %j", async (request, field) => {
    expect(await failureOf(admin(listKeys, request))).toMatchObject({ violations: [{ field }] });
  });
});

describe("a key named in a request", () => {
  it("is found by id and hash in any case", async () => {
    const key = await makeKey(admin);
    for (const name of [key.id, key.id.toUpperCase(), key.hash, key.hash.toUpperCase()]) {
      expect((await admin(getKey, { key: name })).key?.id).toBe(key.id);
    }
  });

  it("is reported missing if it is another organization's or was deleted", async () => {
    const other = await organizations.administer();
    const { key: foreign } = await other.admin(createKey, { name: "Foreign" });
    const deleted = await makeKey(admin);
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
