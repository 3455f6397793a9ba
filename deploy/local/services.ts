import { appendFileSync, mkdirSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { type BackgroundProcess, startInBackground } from "./background-process.ts";
import { type Home, repositoryRoot } from "./home.ts";
import { lastLineOf } from "./last-lines.ts";
import { loopbackHost, type Ports } from "./ports.ts";
import { ProgramFailure, runProgram } from "./program.ts";
import { lookForHttpFault, waitUntilUp } from "./readiness.ts";
import { StartError } from "./start-error.ts";

export type ServiceName = "preset" | "organization" | "gateway" | "echo";

const entryFiles: Readonly<Record<ServiceName, string>> = {
  preset: "services/preset/main.ts",
  organization: "services/organization/main.ts",
  gateway: "gateway/main.ts",
  echo: "deploy/local/echo-upstream/main.ts",
};

const probePorts: Readonly<Record<ServiceName, keyof Ports>> = {
  preset: "PRESET_HTTP_PORT",
  organization: "ORGANIZATION_HTTP_PORT",
  // The gateway may share its other port.
  gateway: "METRICS_PORT",
  echo: "ECHO_PORT",
};

/**
 * Nothing that a request allocates lives long, so a larger nursery takes memory and saves nothing. Same as in the
 * image.
 */
const nodeFlags = ["--max-semi-space-size=8"];

export interface DatabaseUrls {
  readonly PRESET_DATABASE_URL: string;
  readonly ORGANIZATION_DATABASE_URL: string;
}

/** The environment of all processes. Each reads its own part. */
export function serviceEnvironment(home: Home, ports: Ports, databases: DatabaseUrls): NodeJS.ProcessEnv {
  const portTexts = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)]));
  return {
    // glibc hardly ever returns memory of per-thread arenas or large blocks. Same as in the image.
    MALLOC_ARENA_MAX: "2",
    MALLOC_MMAP_THRESHOLD_: "131072",
    // Caches compiled code, with the types already stripped, for the next start. Node notices if a file has changed.
    NODE_COMPILE_CACHE: home.compileCache,
    ...process.env,
    ...databases,
    ...portTexts,
    HOST: loopbackHost,
    // Only one of the two may be set.
    SIGNING_KEY: undefined,
    SIGNING_KEY_FILE: home.signingKeyFile,
    PRESET_GRPC_TARGET: `${loopbackHost}:${ports.PRESET_GRPC_PORT}`,
    ORGANIZATION_GRPC_TARGET: `${loopbackHost}:${ports.ORGANIZATION_GRPC_PORT}`,
  };
}

/** Puts the home folder on the command line, so that leftovers of a killed run can be recognized. */
function homeMark(home: Home): string {
  return `--diagnostic-dir=${home.logs}`;
}

interface ServiceOptions {
  /** Tells several processes of a service apart, and names the log file. Default: the name of the service. */
  readonly processName?: string;
  readonly home: Home;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Called with each line that a command prints, as it is printed. */
  readonly onLine?: (line: string) => void;
}

/** Starts a process and returns it once it responds at all; whether it is ready is another question. */
export function startService(
  name: ServiceName,
  { home, environment, signal, processName = name }: ServiceOptions,
  onSpawn: (pid: number) => void,
): Promise<BackgroundProcess> {
  const logFile = home.logFile(processName);
  const args = [...nodeFlags, homeMark(home), join(repositoryRoot, entryFiles[name])];
  const service = startInBackground({ command: process.execPath, args, env: environment, logFile });
  onSpawn(service.pid);
  const lookForFault = (): Promise<string | undefined> => lookForHttpFault(probeUrl(name, "healthz", environment));
  return waitUntilUp(service, { title: `The ${processName} process`, logFile, lookForFault, signal });
}

/**
 * Makes Node compile the processes, unless it has done so for this home since their sources last changed. A process
 * that strips types itself starts more slowly, and keeps the type stripper in memory for good, some 20 MiB.
 */
export async function compileAhead(home: Home, signal: AbortSignal): Promise<void> {
  const startedAt = new Date();
  if (isCompiled(home)) return;
  const environment = { NODE_COMPILE_CACHE: home.compileCache, ...process.env };
  await Promise.all(
    (["organization", "preset", "gateway"] as const).map((name) =>
      runServiceCommand(name, ["help"], { home, environment, signal }),
    ),
  );
  // Does not exist if the environment sets another cache folder.
  mkdirSync(home.compileCache, { recursive: true });
  utimesSync(home.compileCache, startedAt, startedAt);
}

/** The folder's modification time is that of the last compilation. */
function isCompiled({ compileCache }: Home): boolean {
  const compiledAtMs = statSync(compileCache, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return ["gateway", "services", "proto/gen"].every((name) => {
    const folder = join(repositoryRoot, name);
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    return sources.every((file) => statSync(join(folder, file)).mtimeMs < compiledAtMs);
  });
}

/** Why a process is not ready; undefined if it is. */
export function lookForServiceFault(name: ServiceName, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  return lookForHttpFault(probeUrl(name, "readyz", environment));
}

function probeUrl(name: ServiceName, probe: string, environment: NodeJS.ProcessEnv): string {
  return `http://${loopbackHost}:${probePort(name, environment)}/${probe}`;
}

/** The port on which a process answers probes and, except for the echo upstream, serves its metrics. */
export function probePort(name: ServiceName, environment: NodeJS.ProcessEnv): string | undefined {
  return environment[probePorts[name]];
}

/** Runs a command of a service, such as `migrate`, and returns the last line of its output. */
export async function runServiceCommand(
  name: ServiceName,
  args: readonly string[],
  { home, environment, signal, onLine }: ServiceOptions,
): Promise<string> {
  try {
    const command = [join(repositoryRoot, entryFiles[name]), ...args];
    return lastLineOf(await runProgram(process.execPath, command, { env: environment, signal, onLine }));
  } catch (error) {
    if (!(error instanceof ProgramFailure)) throw error;
    try {
      appendFileSync(home.logFile(name), `${error.output}\n`, { mode: 0o600 });
    } catch {
      // The disk may be full, which may be why the command failed: what it said matters more.
    }
    throw new StartError(`The command "${args[0]}" of the ${name} service failed:\n${error.output || error.message}`);
  }
}
