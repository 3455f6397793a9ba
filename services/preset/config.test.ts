import { describe, expect, it } from "vitest";
import { readPresetConfig, readPresetMigration } from "./config.ts";

const databaseUrl = "mysql://user:secret@host/setpoint_preset";
const jwksUrl = "http://organization:8082/.well-known/jwks.json";
const enough = { PRESET_DATABASE_URL: databaseUrl, JWKS_URL: jwksUrl };

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
      jwksUrl,
    });
  });

  it("names every fault at once, and shows no password", () => {
    const faulty = {
      PRESET_DATABASE_URL: "postgres://user:secret@host/x",
      PRESET_DATABASE_POOL_SIZE: "2",
      JWKS_URL: "organization",
    };
    expect(() => readPresetConfig(faulty)).toThrow(/PRESET_DATABASE_URL.*mysql:\/\/.*POOL_SIZE.*JWKS_URL/s);
    expect(() => readPresetConfig(faulty)).not.toThrow(/secret/);
  });

  it("says what a missing variable is for", () => {
    expect(() => readPresetConfig({})).toThrow(/PRESET_DATABASE_URL is required: .*JWKS_URL is required: /s);
  });

  it("needs the database alone to migrate", () => {
    expect(readPresetMigration({ PRESET_DATABASE_URL: databaseUrl })).toEqual({ databaseUrl, waitSeconds: 60 });
  });
});
