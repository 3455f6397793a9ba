import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { hashKey } from "../../services/organization/domain/keys.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { type Administrator, makeKey, openOrganizations, type TestOrganizations } from "../support/administration.ts";
import { failureOf } from "../support/failures.ts";
import type { Tenant } from "../support/tenants.ts";

const { listKeys, createKey, getKey, updateKey, deleteKey, rotateKey } = KeyService.method;
const { listChanges } = OrganizationService.method;
const invalid = { code: "UNAUTHENTICATED", reason: "KEY_INVALID" };

let organizations: TestOrganizations;
let tenant: Tenant;
let admin: Administrator;
let key: { readonly id: string; readonly hash: string; readonly name: string; readonly secret: string };

beforeAll(async () => {
  organizations = await openOrganizations();
});

afterAll(() => organizations.close());

beforeEach(async () => {
  ({ tenant, admin } = await organizations.administer());
  key = await make();
});

function make(requestId = "") {
  return makeKey(admin, { permissions: ["inference"], requestId });
}

describe("RotateKey", () => {
  it("issues a new secret, and the old one stops working at once without grace", async () => {
    const { key: rotated, secret } = await admin(rotateKey, { key: key.hash });
    expect(rotated).toMatchObject({
      id: key.id,
      name: key.name,
      permissions: ["inference"],
      workspaceId: tenant.workspaceId,
    });
    expect(rotated?.hash).toBe(hashKey(secret).toString("hex"));
    expect(rotated?.hash).not.toBe(key.hash);
    expect(rotated?.label).toBe(`${secret.slice(0, 12)}…${secret.slice(-3)}`);
    expect(rotated?.previousExpireTime).toBeUndefined();
    expect((await organizations.exchange(secret)).principal?.keyId).toBe(key.id);
    expect(await failureOf(organizations.exchange(key.secret))).toMatchObject(invalid);
    expect(await failureOf(admin(getKey, { key: key.hash }))).toMatchObject({ reason: "KEY_NOT_FOUND" });
  });

  it("keeps the old secret and its tokens working only until the grace period ends", async () => {
    const before = Date.now();
    const { key: rotated, secret } = await admin(rotateKey, { key: key.id, graceSeconds: 20 });
    const graceEnd = timestampDate(rotated?.previousExpireTime as Timestamp);
    expect(graceEnd.getTime()).toBeGreaterThanOrEqual(before + 20_000);
    const old = await organizations.exchange(key.secret);
    expect(old.principal?.keyId).toBe(key.id);
    expect(Number(old.expireTime?.seconds)).toBe(Math.floor(graceEnd.getTime() / 1000));
    expect(Number((await organizations.exchange(secret)).expireTime?.seconds)).toBeGreaterThan(
      Number(old.expireTime?.seconds),
    );
    await organizations.pool.execute("UPDATE api_keys SET previous_expires_at = ? WHERE id = ?", [
      new Date(),
      idToBytes(key.id),
    ]);
    expect(await failureOf(organizations.exchange(key.secret))).toMatchObject(invalid);
    expect((await admin(getKey, { key: key.id })).key?.previousExpireTime).toBeUndefined();
    await organizations.exchange(secret);
  });

  it("logs the end of a grace period that it cuts short, but not of one that was over", async () => {
    const loggedFields = async () => {
      const { changes } = await admin(listChanges, { targetId: key.id, limit: 1 });
      return changes.flatMap(({ fields }) => fields.map(({ field }) => field));
    };
    await admin(rotateKey, { key: key.id, graceSeconds: 20 });
    await admin(rotateKey, { key: key.id });
    expect(await loggedFields()).toEqual(["label", "previous_expires_at"]);
    await admin(rotateKey, { key: key.id, graceSeconds: 20 });
    await organizations.pool.execute("UPDATE api_keys SET previous_expires_at = ? WHERE id = ?", [
      new Date(),
      idToBytes(key.id),
    ]);
    await admin(rotateKey, { key: key.id });
    expect(await loggedFields()).toEqual(["label"]);
  });

  it("keeps the key's rate limit for both secrets", async () => {
    const rateLimit = { perSecond: 5, burst: 9 };
    const limited = await organizations.tenants.createKey(tenant, { rateLimit });
    const { key: rotated, secret } = await admin(rotateKey, { key: limited.key.id, graceSeconds: 60 });
    const expected = { rateLimit: { requestsPerSecond: 5, burst: 9 } };
    expect(rotated).toMatchObject(expected);
    for (const each of [limited.secret, secret]) expect(await organizations.exchange(each)).toMatchObject(expected);
    expect((await admin(getKey, { key: key.id })).key?.rateLimit).toBeUndefined();
  });

  it("ends an earlier rotation's grace period", async () => {
    const second = await admin(rotateKey, { key: key.id, graceSeconds: 3600 });
    const third = await admin(rotateKey, { key: key.id, graceSeconds: 3600 });
    expect((await admin(getKey, { key: key.id })).key).toEqual(third.key);
    expect(await failureOf(organizations.exchange(key.secret))).toMatchObject(invalid);
    await organizations.exchange(second.secret);
    await organizations.exchange(third.secret);
    const last = await admin(rotateKey, { key: key.id });
    for (const { secret } of [second, third]) {
      expect(await failureOf(organizations.exchange(secret))).toMatchObject(invalid);
    }
    await organizations.exchange(last.secret);
  });

  it("succeeds once for two simultaneous rotations by hash", async () => {
    const rotation = { key: key.hash, graceSeconds: 60 };
    const results = await Promise.allSettled([admin(rotateKey, rotation), admin(rotateKey, rotation)]);
    const [rotated] = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(refused).toEqual([expect.objectContaining({ reason: "KEY_NOT_FOUND" })]);
    for (const secret of [key.secret, rotated?.secret ?? ""]) await organizations.exchange(secret);
  });

  it("succeeds twice for two simultaneous rotations by id, and both new secrets work", async () => {
    const rotation = { key: key.id, graceSeconds: 60 };
    const made = await Promise.all([admin(rotateKey, rotation), admin(rotateKey, rotation)]);
    for (const { secret } of made) expect((await organizations.exchange(secret)).principal?.keyId).toBe(key.id);
    expect(await failureOf(organizations.exchange(key.secret))).toMatchObject(invalid);
  });

  it.each(["disabled", "deleted", "expired"])("leaves neither secret working once the key is %s", async (state) => {
    const { secret } = await admin(rotateKey, { key: key.id, graceSeconds: 3600 });
    if (state === "disabled")
      await admin(updateKey, { key: key.id, updateMask: { paths: ["disabled"] }, disabled: true });
    if (state === "deleted") await admin(deleteKey, { key: key.id });
    if (state === "expired") {
      await organizations.pool.execute("UPDATE api_keys SET expires_at = ? WHERE id = ?", [
        new Date(),
        idToBytes(key.id),
      ]);
    }
    for (const each of [key.secret, secret])
      expect(await failureOf(organizations.exchange(each))).toMatchObject(invalid);
  });

  it.each([0, 604_800])("accepts a grace of %d seconds", async (graceSeconds) => {
    await admin(rotateKey, { key: key.id, graceSeconds });
  });

  it.each([-1, 604_801])("rejects a grace of %d seconds", async (graceSeconds) => {
    expect(await failureOf(admin(rotateKey, { key: key.id, graceSeconds, requestId: "ü" }))).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: [{ field: "request_id" }, { field: "grace_seconds" }],
    });
  });
});

describe("a request id for keys", () => {
  const madeBefore = (hash: string | undefined) => ({
    code: "ALREADY_EXISTS",
    reason: "KEY_ALREADY_MADE",
    message: expect.stringContaining(hash ?? "?"),
    metadata: { hash },
  });

  it("creates one key, and a retry gets its hash", async () => {
    const made = await make("once");
    expect(await failureOf(make("once"))).toMatchObject(madeBefore(made.hash));
    expect((await admin(listKeys)).keys.filter(({ name }) => name === "CI")).toHaveLength(2);
  });

  it("creates one key for simultaneous requests", async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => make("raced")));
    const [made] = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
    expect(refused).toEqual(Array(7).fill(expect.objectContaining({ metadata: { hash: made?.hash } })));
  });

  it("rotates once, and a retry by the old hash gets the new one", async () => {
    const rotation = { key: key.hash, graceSeconds: 60, requestId: "rotate" };
    const { key: rotated } = await admin(rotateKey, rotation);
    expect(await failureOf(admin(rotateKey, rotation))).toMatchObject(madeBefore(rotated?.hash));
    expect((await admin(getKey, { key: key.id })).key?.hash).toBe(rotated?.hash);
  });

  it("advises to rotate again only if that does not end a secret in its grace period", async () => {
    const advice = async (graceSeconds: number) => {
      const rotation = { key: key.id, graceSeconds, requestId: `grace of ${graceSeconds}` };
      await admin(rotateKey, rotation);
      return (await failureOf(admin(rotateKey, rotation))).message;
    };
    expect(await advice(60)).toContain("do not rotate");
    expect(await advice(0)).toContain("or rotate the key with a new idempotency key");
  });

  it("cannot be reused for another request", async () => {
    await make("reused");
    const reused = { code: "ALREADY_EXISTS", reason: "REQUEST_ID_REUSED" };
    expect(await failureOf(admin(createKey, { name: "Other", requestId: "reused" }))).toMatchObject(reused);
    expect(await failureOf(admin(rotateKey, { key: key.id, requestId: "reused" }))).toMatchObject(reused);
  });

  it("is scoped to the organization, and optional", async () => {
    await make("shared");
    ({ admin } = await organizations.administer());
    await make("shared");
    await make();
    await make();
  });

  it("is not used up by a rejected request", async () => {
    await failureOf(admin(createKey, { name: "CI", workspaceId: newId(), requestId: "spared" }));
    await make("spared");
  });

  it("expires after a day and its row is deleted", async () => {
    await make("old");
    await make("older");
    const age = (hours: number, requestId: string) =>
      organizations.pool.execute(
        `UPDATE key_requests SET created_at = created_at - INTERVAL ${hours} HOUR WHERE organization_id = ? AND request_id = ?`,
        [idToBytes(tenant.organizationId), requestId],
      );
    await age(23, "old");
    await age(24, "older");
    expect(await failureOf(make("old"))).toMatchObject({ reason: "KEY_ALREADY_MADE" });
    await make("older");
    await age(2, "old");
    await make();
    const [rows] = await organizations.pool.query("SELECT request_id FROM key_requests WHERE organization_id = ?", [
      idToBytes(tenant.organizationId),
    ]);
    expect(rows).toEqual([{ request_id: Buffer.from("older") }]);
  });

  it("can be used for another key after a day, even while its row is still there", async () => {
    const organizationId = idToBytes(tenant.organizationId);
    const insertExpired = (requestId: string, hours: number) =>
      organizations.pool.execute("INSERT INTO key_requests VALUES (?, ?, ?, ?, UTC_TIMESTAMP(3) - INTERVAL ? HOUR)", [
        organizationId,
        requestId,
        Buffer.alloc(32),
        Buffer.alloc(32),
        hours,
      ]);
    // As many as one request deletes, and then the one that is used again.
    for (let n = 0; n < 100; n += 1) await insertExpired(`older ${n}`, 49);
    await insertExpired("used again", 25);
    const made = await make("used again");
    expect(await failureOf(make("used again"))).toMatchObject(madeBefore(made.hash));
  });
});
