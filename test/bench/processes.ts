import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BackgroundProcess, startInBackground } from "../../deploy/local/background-process.ts";
import { prepareDatabase } from "../../deploy/local/database.ts";
import { databaseUrl } from "../../deploy/local/database-connection.ts";
import type { DatabaseServer } from "../../deploy/local/database-server.ts";
import { type Home, openHome } from "../../deploy/local/home.ts";
import { choosePorts, findFreePort } from "../../deploy/local/ports.ts";
import { lookForHttpFault, waitFor, waitUntilUp } from "../../deploy/local/readiness.ts";
import {
  compileAhead,
  type DatabaseUrls,
  lookForServiceFault,
  serviceEnvironment,
  startService,
} from "../../deploy/local/services.ts";
import { ensureSigningKey } from "../../deploy/local/signing-key.ts";
import { organizationMigrations } from "../../services/organization/app.ts";
import { migrate } from "../../services/platform/mysql/migrate.ts";
import { presetMigrations } from "../../services/preset/app.ts";
import { anyPorts } from "../support/ports.ts";
import { momentsFile, momentsFileVariable } from "./latency/moments.ts";

/** The systems that are compared: the product with its yardstick, or with other gateways and what is behind them all. */
export type SideName = "setpoint" | "yardstick" | "nginx" | "portkey" | "upstream";

/** What requests are sent to, up and running. */
export interface Target {
  readonly name: SideName;
  readonly port: number;
  /** Those whose processor time and memory count. */
  readonly processes: readonly { readonly name: string; readonly pid: number }[];
  /** Empties the logs, as a log rotation would, so that a long run does not fill the disk. */
  rotateLogs(): void;
}

/** One of the systems that are compared. */
export interface Side extends Target {
  readonly urls: DatabaseUrls;
  /** The table of upstreams that the product sends inference to. */
  readonly upstreamsFile: string;
}

/** Where processes of a run live, and what they end with. */
export interface Room {
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Told how to close something, right after it was opened. */
  readonly opened: (close: () => Promise<void> | void) => void;
  /** Where each process leaves a CPU profile when it stops. */
  readonly profileFolder: string | undefined;
  /** Whether the processes can be told to write down when they do what, see `latency/recorder.ts`. */
  readonly records: boolean;
}

interface SideOptions extends Room {
  readonly server: DatabaseServer;
}

/** What the services have by default; the yardstick gets the same. */
const poolSize = "12";

/**
 * Each side has a database server of its own, with the same settings: what one leaves to be purged or flushed is then
 * counted as its own, and neither pushes the other's pages out of memory.
 */
async function openBase(name: SideName, options: SideOptions) {
  const { folder, server, signal, opened } = options;
  const home = openHome({ SETPOINT_HOME: join(folder, name) });
  const logFile = home.logFile("database");
  const database = await prepareDatabase({ server, dataDir: home.dataDir, logFile, durable: true, signal });
  opened(database.close);
  const running = await database.start(signal);
  opened(() => running.stop());
  const urls = {
    PRESET_DATABASE_URL: databaseUrl(database.serverUrl, "setpoint_preset"),
    ORGANIZATION_DATABASE_URL: databaseUrl(database.serverUrl, "setpoint_organization"),
  };
  const environment: NodeJS.ProcessEnv = {
    ...serviceEnvironment(home, await choosePorts({}, anyPorts), urls),
    LOG_LEVEL: "info",
    NODE_ENV: "production",
    PRESET_DATABASE_POOL_SIZE: poolSize,
    ORGANIZATION_DATABASE_POOL_SIZE: poolSize,
    UPSTREAMS_FILE: home.upstreamsFile,
  };
  writeFileSync(home.upstreamsFile, '{"upstreams": []}');
  await migrate(urls.PRESET_DATABASE_URL, presetMigrations, () => {});
  await migrate(urls.ORGANIZATION_DATABASE_URL, organizationMigrations, () => {});
  return { home, urls, environment, database: { name: "database", pid: running.pid } };
}

/** The product: its three processes as `npm start` runs them. */
export async function openSetpoint(options: SideOptions): Promise<Side> {
  const { signal, opened } = options;
  const { home, urls, environment, database } = await openBase("setpoint", options);
  ensureSigningKey(home.signingKeyFile);
  await compileAhead(home, signal);
  const start = async (name: "organization" | "preset" | "gateway") => {
    const service = { home, environment: { ...environment, ...preloads(name, options) }, signal };
    const running = await startService(name, service, () => {});
    opened(() => running.stop());
    const lookForFault = () => lookForServiceFault(name, environment);
    await waitFor({ title: `The ${name} process`, logFile: home.logFile(name), lookForFault, signal });
    return { name, pid: running.pid };
  };
  const organization = await start("organization");
  const preset = await start("preset");
  const gateway = await start("gateway");
  const processes = [gateway, preset, organization, database];
  const port = Number(environment.PORT);
  const { upstreamsFile } = home;
  return { name: "setpoint", port, urls, upstreamsFile, processes, rotateLogs: rotationOf(home, processes) };
}

export async function openYardstick(options: SideOptions): Promise<Side> {
  const { signal, opened } = options;
  const { home, urls, environment, database } = await openBase("yardstick", options);
  const port = await findFreePort();
  const logFile = home.logFile("yardstick");
  const child: BackgroundProcess = startInBackground({
    command: process.execPath,
    args: [join(import.meta.dirname, "yardstick.ts")],
    env: { ...environment, ...preloads("yardstick", options), PORT: String(port), POOL_SIZE: poolSize },
    logFile,
  });
  opened(() => child.stop());
  const lookForFault = () => lookForHttpFault(`http://127.0.0.1:${port}/healthz`);
  const running = await waitUntilUp(child, { title: "The yardstick", logFile, lookForFault, signal });
  const processes = [{ name: "yardstick", pid: running.pid }, database];
  const { upstreamsFile } = home;
  return { name: "yardstick", port, urls, upstreamsFile, processes, rotateLogs: rotationOf(home, processes) };
}

function preloads(name: string, { profileFolder, records, folder }: SideOptions): NodeJS.ProcessEnv {
  const flags: string[] = [];
  if (profileFolder !== undefined)
    flags.push("--cpu-prof", `--cpu-prof-dir=${profileFolder}`, `--cpu-prof-name=${name}.cpuprofile`);
  if (records) flags.push(`--import=${new URL("./latency/recorder.ts", import.meta.url)}`);
  return { NODE_OPTIONS: flags.join(" "), [momentsFileVariable]: momentsFile(folder, name) };
}

function rotationOf(home: Home, processes: Side["processes"]): () => void {
  return () => {
    for (const { name } of processes) truncateSync(home.logFile(name));
  };
}
