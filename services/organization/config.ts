import { readFileSync } from "node:fs";
import { accessTokenLifeMaxSeconds } from "../platform/auth/claims.ts";
import { readDatabaseUrl } from "../platform/mysql/database-url.ts";
import { type MigrationConfig, readMigration } from "../platform/mysql/migrate-command.ts";
import { type ProcessConfig, readProcessConfig } from "../platform/process/config.ts";
import { type Environment, type EnvironmentReader, readConfig } from "../platform/process/environment.ts";
import { parseSigningKeys, type SigningKeys } from "./domain/signing-keys.ts";

export interface OrganizationConfig extends ProcessConfig {
  readonly grpcPort: number;
  readonly httpPort: number;
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  readonly signingKeys: SigningKeys;
  readonly accessTokenTtlSeconds: number;
}

const databaseMeaning =
  "where the organization service keeps its tables, such as mysql://user:password@host/setpoint_organization";

export function readOrganizationConfig(environment: Environment): OrganizationConfig {
  return readConfig(environment, (reader) => ({
    ...readProcessConfig(reader),
    grpcPort: reader.port("ORGANIZATION_GRPC_PORT", 50052),
    httpPort: reader.port("ORGANIZATION_HTTP_PORT", 8082),
    databaseUrl: readDatabaseUrl(reader, "ORGANIZATION_DATABASE_URL", databaseMeaning),
    databasePoolSize: reader.integer("ORGANIZATION_DATABASE_POOL_SIZE", { default: 12, min: 1, max: 200 }),
    signingKeys: readSigningKeys(reader),
    accessTokenTtlSeconds: reader.integer("ACCESS_TOKEN_TTL_SECONDS", {
      default: 60,
      min: 10,
      max: accessTokenLifeMaxSeconds,
    }),
  }));
}

/** The commands other than `serve` only need the database. */
export function readOrganizationDatabaseUrl(environment: Environment): string {
  return readConfig(environment, (reader) => readDatabaseUrl(reader, "ORGANIZATION_DATABASE_URL", databaseMeaning));
}

export function readOrganizationMigration(environment: Environment): MigrationConfig {
  return readConfig(environment, (reader) => readMigration(reader, "ORGANIZATION_DATABASE_URL", databaseMeaning));
}

/** The value is a secret, so a fault reveals nothing of it. */
function readSigningKeys(reader: EnvironmentReader): SigningKeys {
  const text = reader.optional("SIGNING_KEY");
  const file = reader.optional("SIGNING_KEY_FILE");
  try {
    if (text !== undefined && file === undefined) return parseSigningKeys(text, "SIGNING_KEY");
    if (text === undefined && file !== undefined) return parseSigningKeys(readKeyFile(file), "SIGNING_KEY_FILE");
    throw new Error(
      "SIGNING_KEY (an EC P-256 private key as PEM text) or SIGNING_KEY_FILE (its file) is required, not both",
    );
  } catch (error) {
    reader.faults.push((error as Error).message);
    // Never used: a config with a fault is not returned.
    return [] as unknown as SigningKeys;
  }
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`SIGNING_KEY_FILE cannot be read: ${(error as Error).message}`);
  }
}
