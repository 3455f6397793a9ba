import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ConfigError } from "../platform/process/environment.ts";
import { readOrganizationConfig, readOrganizationDatabaseUrl } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "setpoint-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

const pem = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
const keyFile = join(folder, "signing-key.pem");
writeFileSync(keyFile, pem);

const databaseUrl = "mysql://user:secret@host/setpoint_organization";
const enough = { ORGANIZATION_DATABASE_URL: databaseUrl, SIGNING_KEY: pem.toString() };

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    readOrganizationConfig(environment);
    return [];
  } catch (error) {
    return (error as ConfigError).faults;
  }
}

describe("the organization service's config", () => {
  it("has defaults for all but the database and the signing key", () => {
    expect(readOrganizationConfig(enough)).toMatchObject({
      host: "0.0.0.0",
      grpcPort: 50052,
      httpPort: 8082,
      databaseUrl,
      databasePoolSize: 12,
      accessTokenTtlSeconds: 60,
    });
  });

  it("reads the signing key from a file as well", () => {
    const fromFile = readOrganizationConfig({ ORGANIZATION_DATABASE_URL: databaseUrl, SIGNING_KEY_FILE: keyFile });
    expect(fromFile.signingKeys[0].jwk).toEqual(readOrganizationConfig(enough).signingKeys[0].jwk);
  });

  it("reports all errors at once, without secrets", () => {
    const faults = faultsOf({
      ORGANIZATION_DATABASE_URL: "postgres://user:secret@host/x",
      ORGANIZATION_GRPC_PORT: "70000",
      ACCESS_TOKEN_TTL_SECONDS: "9",
      SIGNING_KEY: "secret",
    });
    expect(faults).toHaveLength(4);
    expect(faults.join()).not.toContain("secret");
  });

  it.each([
    ["no signing key", {}, /^SIGNING_KEY .* or SIGNING_KEY_FILE .* is required/],
    ["two signing keys", { SIGNING_KEY: pem.toString(), SIGNING_KEY_FILE: keyFile }, /not both/],
    ["a missing file", { SIGNING_KEY_FILE: "/nowhere/key.pem" }, /^SIGNING_KEY_FILE cannot be read: ENOENT/],
    ["a folder in place of a file", { SIGNING_KEY_FILE: folder }, /^SIGNING_KEY_FILE cannot be read: EISDIR/],
  ])("rejects %s", (_name, environment: Record<string, string>, fault) => {
    expect(faultsOf({ ORGANIZATION_DATABASE_URL: databaseUrl, ...environment })).toEqual([
      expect.stringMatching(fault),
    ]);
  });

  it.each([
    ["10", true],
    ["3600", true],
    ["9", false],
    ["3601", false],
  ])("accepts a token lifetime of %s seconds: %s", (seconds, taken) => {
    expect(faultsOf({ ...enough, ACCESS_TOKEN_TTL_SECONDS: seconds }).length === 0).toBe(taken);
  });

  it("requires only the database for commands", () => {
    expect(readOrganizationDatabaseUrl({ ORGANIZATION_DATABASE_URL: databaseUrl })).toBe(databaseUrl);
    expect(() => readOrganizationDatabaseUrl({})).toThrow(ConfigError);
  });
});
