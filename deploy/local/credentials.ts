import { existsSync, readFileSync } from "node:fs";
import { loopbackHost, type Ports } from "./ports.ts";
import { writePrivateFile } from "./private-file.ts";
import type { DatabaseUrls } from "./services.ts";
import { StartError } from "./start-error.ts";

/** The two keys of the demo organization. They are shown only once, when they are created. */
export interface Keys {
  readonly api_key: string;
  readonly management_key: string;
}

/** The keys of an earlier start; undefined before the first one. */
export function findKeys(file: string): Keys | undefined {
  if (!existsSync(file)) return undefined;
  const { api_key, management_key } = parseKeys(file);
  if (typeof api_key === "string" && typeof management_key === "string") return { api_key, management_key };
  throw new StartError(
    `${file} holds no "api_key" and "management_key". Restore it, or remove it: then new ones are made.`,
  );
}

function parseKeys(file: string): Partial<Record<keyof Keys, unknown>> {
  const text = readText(file);
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** After a start as root, the file is root's, and it would be wrong to say that it holds no keys. */
function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new StartError(
      `${file} cannot be read: ${(error as Error).message}. Make it yours (chown), or remove it: then new keys are made.`,
    );
  }
}

/** Writes what a script needs to call and administer this system: the keys, and the addresses of this run. */
export function writeCredentials(file: string, keys: Keys, ports: Ports, databases: DatabaseUrls): void {
  const credentials = {
    base_url: baseUrl(ports),
    ...keys,
    preset_grpc: `${loopbackHost}:${ports.PRESET_GRPC_PORT}`,
    preset_http: `${loopbackHost}:${ports.PRESET_HTTP_PORT}`,
    organization_grpc: `${loopbackHost}:${ports.ORGANIZATION_GRPC_PORT}`,
    organization_http: `${loopbackHost}:${ports.ORGANIZATION_HTTP_PORT}`,
    preset_database_url: databases.PRESET_DATABASE_URL,
    organization_database_url: databases.ORGANIZATION_DATABASE_URL,
  };
  writePrivateFile(file, `${JSON.stringify(credentials, null, 2)}\n`);
}

export function baseUrl(ports: Ports): string {
  return `http://${loopbackHost}:${ports.PORT}`;
}
