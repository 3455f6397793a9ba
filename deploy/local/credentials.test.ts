import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findKeys, type Keys, writeCredentials } from "./credentials.ts";
import { portDefaults } from "./ports.ts";
import { StartError } from "./start-error.ts";

const keys = { api_key: "sk-api", management_key: "sk-management" };
const databases = {
  PRESET_DATABASE_URL: "mysql://root@localhost/setpoint_preset",
  ORGANIZATION_DATABASE_URL: "mysql://root@localhost/setpoint_organization",
};

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-credentials-"));
  file = join(folder, "credentials.json");
});

afterEach(() => rmSync(folder, { recursive: true }));

describe("credentials", () => {
  it("contain the keys and every address, readable only by the owner", () => {
    writeCredentials(file, keys, portDefaults, databases);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      base_url: "http://127.0.0.1:8080",
      ...keys,
      preset_grpc: "127.0.0.1:50051",
      preset_http: "127.0.0.1:8081",
      organization_grpc: "127.0.0.1:50052",
      organization_http: "127.0.0.1:8082",
      preset_database_url: databases.PRESET_DATABASE_URL,
      organization_database_url: databases.ORGANIZATION_DATABASE_URL,
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("keep the keys when the addresses change", () => {
    writeCredentials(file, keys, portDefaults, databases);
    const kept = findKeys(file) as Keys;
    writeCredentials(file, kept, { ...portDefaults, PORT: 8090 }, databases);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ base_url: "http://127.0.0.1:8090", ...keys });
  });

  it("have no keys before the first start", () => {
    expect(findKeys(file)).toBeUndefined();
  });

  it.each(["", "{", "null", "{}", '{"api_key": "sk-api"}', '{"api_key": 1, "management_key": 2}'])(
    "are rejected if they contain %j, and not overwritten",
    (content) => {
      writeFileSync(file, content);
      expect(() => findKeys(file)).toThrow(StartError);
      expect(readFileSync(file, "utf8")).toBe(content);
    },
  );

  it("are not taken for empty if they cannot be read", () => {
    // A folder is unreadable as a file even for root.
    mkdirSync(file);
    expect(() => findKeys(file)).toThrow(`${file} cannot be read`);
  });
});
