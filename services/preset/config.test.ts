import { describe, expect, it } from "vitest";
import { readOrganizationAddress, readPresetConfig, readPresetDatabaseUrl, readPresetMigration } from "./config.ts";

const databaseUrl = "mysql://user:secret@host/setpoint_preset";
const jwksUrl = "http://organization:8082/.well-known/jwks.json";
const enough = { PRESET_DATABASE_URL: databaseUrl, ORGANIZATION_GRPC_TARGET: "organization:50052" };

describe("the preset service's config", () => {
  it("has defaults for all but the database and the public keys", () => {
    expect(readPresetConfig(enough)).toMatchObject({
      host: "0.0.0.0",
      grpcPort: 50051,
      httpPort: 8081,
      databaseUrl,
      databasePoolSize: 12,
      readDatabaseUrl: undefined,
      batchByWorkspace: false,
      organizationTarget: "organization:50052",
      jwksUrl: undefined,
    });
  });

  it("uses JWKS_URL if there is no organization service target", () => {
    const config = readPresetConfig({ PRESET_DATABASE_URL: databaseUrl, JWKS_URL: jwksUrl });
    expect(config).toMatchObject({ organizationTarget: undefined, jwksUrl });
  });

  it("rejects a plaintext JWKS_URL if gRPC uses TLS", () => {
    const file = import.meta.filename;
    const tls = { GRPC_TLS_CERT_FILE: file, GRPC_TLS_KEY_FILE: file, GRPC_TLS_CA_FILE: file };
    const clear = { PRESET_DATABASE_URL: databaseUrl, JWKS_URL: jwksUrl, ...tls };
    expect(() => readPresetConfig(clear)).toThrow(/ORGANIZATION_GRPC_TARGET is required with GRPC_TLS_CA_FILE/);
    const secure = { ...clear, JWKS_URL: jwksUrl.replace("http:", "https:") };
    expect(readPresetConfig(secure).jwksUrl).toBe(secure.JWKS_URL);
    expect(readPresetConfig({ ...clear, ...enough }).organizationTarget).toBe("organization:50052");
  });

  it("reports all errors at once, without passwords", () => {
    const faulty = {
      PRESET_DATABASE_URL: "postgres://user:secret@host/x",
      PRESET_DATABASE_POOL_SIZE: "2",
      ORGANIZATION_GRPC_TARGET: "http://organization:50052",
      JWKS_URL: "organization",
    };
    expect(() => readPresetConfig(faulty)).toThrow(
      /PRESET_DATABASE_URL.*mysql:\/\/.*POOL_SIZE.*GRPC_TARGET.*JWKS_URL/s,
    );
    expect(() => readPresetConfig(faulty)).not.toThrow(/secret/);
  });

  it("says what a missing variable is for", () => {
    expect(() => readPresetConfig({})).toThrow(
      /PRESET_DATABASE_URL is required: .*ORGANIZATION_GRPC_TARGET is required: /s,
    );
  });

  it("requires the organization service to purge a workspace", () => {
    expect(readOrganizationAddress(enough)).toEqual({ target: "organization:50052", tls: undefined });
    expect(() => readOrganizationAddress({ JWKS_URL: jwksUrl })).toThrow(/ORGANIZATION_GRPC_TARGET is required: /);
  });

  it("reads nothing of migrations to purge a workspace", () => {
    const environment = { ...enough, MIGRATE_WAIT_SECONDS: "soon" };
    expect(() => readPresetMigration(environment)).toThrow(/MIGRATE_WAIT_SECONDS/);
    expect(readPresetDatabaseUrl(environment)).toBe(databaseUrl);
    expect(() => readPresetDatabaseUrl({})).toThrow(/PRESET_DATABASE_URL is required: /);
  });

  it("requires only the database to migrate", () => {
    expect(readPresetMigration({ PRESET_DATABASE_URL: databaseUrl })).toEqual({ databaseUrl, waitSeconds: 60 });
  });
});
