import { readDatabaseUrl, readOptionalDatabaseUrl } from "../platform/mysql/database-url.ts";
import { type MigrationConfig, readMigration } from "../platform/mysql/migrate-command.ts";
import { type ProcessConfig, readProcessConfig } from "../platform/process/config.ts";
import { type Environment, readConfig } from "../platform/process/environment.ts";

export interface PresetConfig extends ProcessConfig {
  readonly grpcPort: number;
  readonly httpPort: number;
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  /** A replica for lists, which may lag behind. Undefined: lists are read where all else is. */
  readonly readDatabaseUrl: string | undefined;
  /** Needed where the database is sharded by workspace: a transaction then stays on one shard. */
  readonly batchByWorkspace: boolean;
  /** Where the public keys of access tokens are published. */
  readonly jwksUrl: string;
}

const databaseMeaning = "where the preset service keeps its tables, such as mysql://user:password@host/setpoint_preset";

export function readPresetConfig(environment: Environment): PresetConfig {
  return readConfig(environment, (reader) => ({
    ...readProcessConfig(reader),
    grpcPort: reader.port("PRESET_GRPC_PORT", 50051),
    httpPort: reader.port("PRESET_HTTP_PORT", 8081),
    databaseUrl: readDatabaseUrl(reader, "PRESET_DATABASE_URL", databaseMeaning),
    databasePoolSize: reader.integer("PRESET_DATABASE_POOL_SIZE", { default: 12, min: 3, max: 200 }),
    readDatabaseUrl: readOptionalDatabaseUrl(reader, "PRESET_READ_DATABASE_URL"),
    batchByWorkspace: reader.oneOf("PRESET_BATCH_BY_WORKSPACE", ["true", "false"], "false") === "true",
    jwksUrl: reader.url(
      "JWKS_URL",
      ["http:", "https:"],
      "the organization service's public keys, such as http://organization:8082/.well-known/jwks.json",
    ),
  }));
}

/** The migrate command needs the database alone. */
export function readPresetMigration(environment: Environment): MigrationConfig {
  return readConfig(environment, (reader) => readMigration(reader, "PRESET_DATABASE_URL", databaseMeaning));
}
