import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { hashKey } from "../../services/organization/domain/keys.ts";
import { isKey } from "../../services/platform/auth/key-format.ts";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import { type Administrator, openOrganizations, type TestOrganizations } from "../support/administration.ts";
import { failureOf } from "../support/failures.ts";
import type { Tenant } from "../support/tenants.ts";

const { listKeys, createKey, deleteKey, rotateKey } = KeyService.method;

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

const make = (requestId: string, secretSeed: Uint8Array) => admin(createKey, { name: "CI", requestId, secretSeed });
const madeBefore = (hash: string | undefined) => ({ reason: "KEY_ALREADY_MADE", metadata: { hash } });

describe("a secret derived from a seed", () => {
  it("works, and is returned again to a retry with the seed", async () => {
    const seed = randomBytes(32);
    const made = await make("once", seed);
    expect(isKey(made.secret)).toBe(true);
    expect(made.key?.hash).toBe(hashKey(made.secret).toString("hex"));
    expect((await organizations.exchange(made.secret)).principal?.keyId).toBe(made.key?.id);
    expect(await make("once", seed)).toMatchObject({ secret: made.secret, key: { id: made.key?.id } });
    expect((await admin(listKeys)).keys.filter(({ name }) => name === "CI")).toHaveLength(1);
  });

  it("is the same for simultaneous requests", async () => {
    const seed = randomBytes(32);
    const made = await Promise.all(Array.from({ length: 8 }, () => make("raced", seed)));
    expect(new Set(made.map(({ secret }) => secret)).size).toBe(1);
  });

  it("is not returned for another seed or none", async () => {
    const { key } = await make("once", randomBytes(32));
    for (const seed of [randomBytes(32), new Uint8Array()]) {
      expect(await failureOf(make("once", seed))).toMatchObject(madeBefore(key?.hash));
    }
  });

  it("differs between request ids and between organizations", async () => {
    const seed = randomBytes(32);
    const secrets = [await make("a", seed), await make("b", seed)];
    ({ admin } = await organizations.administer());
    secrets.push(await make("a", seed));
    expect(new Set(secrets.map(({ secret }) => secret)).size).toBe(3);
  });

  it("is returned again for a rotation, by the old or new name of the key", async () => {
    const { key } = await make("make", randomBytes(32));
    const rotation = { key: key?.hash ?? "", graceSeconds: 60, requestId: "rotate", secretSeed: randomBytes(32) };
    const rotated = await admin(rotateKey, rotation);
    expect(await admin(rotateKey, rotation)).toMatchObject({
      secret: rotated.secret,
      key: { hash: rotated.key?.hash },
    });
    const other = { ...rotation, secretSeed: randomBytes(32) };
    expect(await failureOf(admin(rotateKey, other))).toMatchObject(madeBefore(rotated.key?.hash));
  });

  it("is not returned for a deleted key, nor given to a second key", async () => {
    const seed = randomBytes(32);
    const { key } = await make("gone", seed);
    await admin(deleteKey, { key: key?.hash ?? "" });
    expect(await failureOf(make("gone", seed))).toMatchObject(madeBefore(key?.hash));
    await organizations.pool.execute("DELETE FROM key_requests WHERE organization_id = ?", [
      idToBytes(tenant.organizationId),
    ]);
    expect(await failureOf(make("gone", seed))).toMatchObject(madeBefore(key?.hash));
    const { key: other } = await make("other", randomBytes(32));
    const rotation = { key: other?.hash ?? "", requestId: "gone", secretSeed: seed };
    expect(await failureOf(admin(rotateKey, rotation))).toMatchObject(madeBefore(key?.hash));
  });

  it.each([
    ["is too short", randomBytes(31), "id"],
    ["is too long", randomBytes(33), "id"],
    ["is not random", new Uint8Array(32).fill(7), "id"],
    ["repeats itself", Buffer.concat([Buffer.from("setpoint"), Buffer.from("setpoint"), Buffer.alloc(16)]), "id"],
    ["comes without a request id", randomBytes(32), ""],
  ])("is rejected if the seed %s", async (_name, secretSeed, requestId) => {
    const refused = { code: "INVALID_ARGUMENT", violations: [{ field: "secret_seed" }] };
    expect(await failureOf(make(requestId, secretSeed))).toMatchObject(refused);
    const { key } = await admin(createKey, { name: "Plain" });
    expect(await failureOf(admin(rotateKey, { key: key?.hash ?? "", requestId, secretSeed }))).toMatchObject(refused);
  });
});
