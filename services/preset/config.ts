import { readDatabaseUrl, readOptionalDatabaseUrl } from "../platform/mysql/database-url.ts";
import { type MigrationConfig, readMigration } from "../platform/mysql/migrate-command.ts";
import { type ProcessConfig, readProcessConfig } from "../platform/process/config.ts";
import { type Environment, type EnvironmentReader, readConfig } from "../platform/process/environment.ts";
import { readOptionalTarget, readRequiredTarget } from "../platform/rpc/target.ts";
import { readTlsFiles, type TlsFiles } from "../platform/rpc/tls.ts";

export interface PresetConfig extends ProcessConfig {
  readonly grpcPort: number;
  readonly httpPort: number;
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  /** A replica for lists, which may lag behind. Undefined: lists are read from the primary. */
  readonly readDatabaseUrl: string | undefined;
  /** Needed where the database is sharded by workspace: a transaction then stays on one shard. */
  readonly batchByWorkspace: boolean;
  /** The gRPC target of the organization service, which is asked for the public keys of access tokens. */
  readonly organizationTarget: string | undefined;
  /** Where they are published over HTTP. Used only where there is no target. */
  readonly jwksUrl: string | undefined;
}

/** Where the organization service is. */
export interface OrganizationAddress {
  readonly target: string;
  readonly tls: TlsFiles | undefined;
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
    ...readKeySource(reader),
  }));
}

function readKeySource(reader: EnvironmentReader): Pick<PresetConfig, "organizationTarget" | "jwksUrl"> {
  const organizationTarget = readOptionalTarget(reader, "ORGANIZATION_GRPC_TARGET");
  const jwksUrl = reader.optionalUrl("JWKS_URL", ["http:", "https:"]);
  if (organizationTarget === undefined && jwksUrl === undefined) {
    reader.faults.push(
      "ORGANIZATION_GRPC_TARGET is required: the organization service, which has the public keys of access tokens, such as dns:///organization:50052 (or JWKS_URL, its /.well-known/jwks.json)",
    );
  }
  // Whoever can tamper with an answer in clear text could introduce their own keys, and mutual TLS would be pointless.
  const isClearText = organizationTarget === undefined && jwksUrl?.startsWith("http:");
  if (isClearText && reader.optional("GRPC_TLS_CA_FILE") !== undefined) {
    reader.faults.push(
      "ORGANIZATION_GRPC_TARGET is required with GRPC_TLS_CA_FILE: the public keys of access tokens must not come in clear text, as from JWKS_URL",
    );
  }
  return { organizationTarget, jwksUrl };
}

/** The purge-workspace command asks the organization service before it deletes anything. */
export function readOrganizationAddress(environment: Environment): OrganizationAddress {
  const meaning = "the organization service, which knows whether a workspace was deleted";
  return readConfig(environment, (reader) => ({
    target: readRequiredTarget(reader, "ORGANIZATION_GRPC_TARGET", meaning),
    tls: readTlsFiles(reader),
  }));
}

/** For the purge-workspace command, which neither serves nor migrates. */
export function readPresetDatabaseUrl(environment: Environment): string {
  return readConfig(environment, (reader) => readDatabaseUrl(reader, "PRESET_DATABASE_URL", databaseMeaning));
}

/** The migrate command needs only the database. */
export function readPresetMigration(environment: Environment): MigrationConfig {
  return readConfig(environment, (reader) => readMigration(reader, "PRESET_DATABASE_URL", databaseMeaning));
}
