import { readGatewayConfig } from "../../gateway/config.ts";
import {
  readOrganizationConfig,
  readOrganizationDatabaseUrl,
  readOrganizationMigration,
} from "../../services/organization/config.ts";
import { ConfigError, type Environment } from "../../services/platform/process/environment.ts";
import { readPresetConfig, readPresetMigration } from "../../services/preset/config.ts";
import { newSigningKeyPem } from "./stack.ts";

type Read = (environment: Environment) => object | string;

/** The function that reads the environment, by command. */
const readers: Readonly<Record<string, Read>> = {
  "node gateway/main.ts": readGatewayConfig,
  "node services/preset/main.ts": readPresetConfig,
  "node services/preset/main.ts migrate": readPresetMigration,
  "node services/organization/main.ts": readOrganizationConfig,
  "node services/organization/main.ts migrate": readOrganizationMigration,
  "node services/organization/main.ts bootstrap": readOrganizationDatabaseUrl,
};

/** The config that a command reads from an environment. The files that it names need not exist here. */
export function readConfigOf(command: readonly string[], environment: Environment): object | string {
  const { SIGNING_KEY_FILE, ...others } = environment;
  const here = Object.entries(others).map(([name, value]) => [name, isFile(name) ? import.meta.filename : value]);
  const signingKey = SIGNING_KEY_FILE === undefined ? {} : { SIGNING_KEY: newSigningKeyPem() };
  return getReader(command)({ ...Object.fromEntries(here), ...signingKey });
}

function isFile(name: string): boolean {
  return /^(GRPC_TLS_\w+|UPSTREAMS)_FILE$/.test(name);
}

/** Read by Node itself. */
const nodeVariables = ["NODE_EXTRA_CA_CERTS"];

/** What a command is missing in an environment, and variables that it never reads. */
export function lookForEnvironmentFaults(command: readonly string[], environment: Environment): string[] {
  const known = variablesRead(getReader(command));
  const unread = Object.keys(environment).filter((name) => !known.has(name) && !nodeVariables.includes(name));
  return [...unread.map((name) => `${name} is not read`), ...faultsOf(() => readConfigOf(command, environment))];
}

function getReader(command: readonly string[]): Read {
  const read = readers[command.join(" ")];
  if (!read) throw new Error(`There is no command "${command.join(" ")}"`);
  return read;
}

/** Every variable that a process reads. It reads all of them before it reports errors. */
function variablesRead(read: Read): Set<string> {
  const names = new Set<string>();
  const recorder = new Proxy({}, { get: (_, name) => void names.add(String(name)) });
  faultsOf(() => read(recorder));
  return names;
}

function faultsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}
