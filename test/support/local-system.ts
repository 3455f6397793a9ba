import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commandLineOf } from "../../deploy/local/background-process.ts";
import { repositoryRoot } from "../../deploy/local/home.ts";
import { anyPorts, nextPort } from "./ports.ts";

/** The credentials file that a start writes for scripts. */
export interface Credentials {
  readonly base_url: string;
  readonly api_key: string;
  readonly management_key: string;
  readonly preset_grpc: string;
  readonly preset_http: string;
  readonly organization_grpc: string;
  readonly organization_http: string;
}

export type ProcessName = "organization" | "preset" | "gateway" | "echo" | "database" | "prometheus";

/** What `npm start` starts: the three processes and their database, for real. */
export interface LocalSystem {
  readonly credentials: Credentials;
  readonly metricsUrl: string;
  /** Everything printed so far. */
  output(): string;
  /** The process that runs under this name now; undefined if it is a container. */
  pidOf(name: ProcessName): number | undefined;
  /** Does something that `npm start` itself does not notice until it is done. */
  whilePaused<T>(work: () => Promise<T>): Promise<T>;
  /** Stops it as a service manager would, and returns the exit code. May be called again. */
  stop(): Promise<number | null>;
}

interface Refusal {
  readonly exitCode: number | null;
  readonly output: string;
}

interface StartOptions {
  /** The root of another checkout. */
  readonly root?: string;
  readonly args?: readonly string[];
}

/**
 * Starts it in a home folder and returns when it reports that it is ready; rejects with a Refusal if it ends before.
 */
export async function startLocalSystem(
  home: string,
  environment: NodeJS.ProcessEnv = {},
  { root = repositoryRoot, args = [] }: StartOptions = {},
): Promise<LocalSystem> {
  const ports = await freePorts();
  const child = spawn(process.execPath, [join(root, "deploy/local/start.ts"), ...args], {
    env: {
      // None of the machine's own settings, only those that the tests themselves have made.
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: home,
      SETPOINT_HOME: home,
      // As under npm: it stops when its parent has ended.
      npm_lifecycle_event: "start",
      // The same on every machine.
      GATEWAY_PROCESSES: "1",
      PRESET_PROCESSES: "1",
      ...ports,
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", () => output.includes("Setpoint is ready") && resolve());
    child.once("close", (exitCode) => reject({ exitCode, output } satisfies Refusal));
  });
  return {
    credentials: JSON.parse(readFileSync(join(home, "credentials.json"), "utf8")),
    metricsUrl: `http://127.0.0.1:${ports.METRICS_PORT}/metrics`,
    output: () => output,
    pidOf: (name) => findPid(home, name),
    whilePaused: async (work) => {
      child.kill("SIGSTOP");
      try {
        return await work();
      } finally {
        child.kill("SIGCONT");
      }
    },
    stop: () => stop(child),
  };
}

/** For a start that must fail. */
export async function refusalOf(start: Promise<LocalSystem>): Promise<Refusal> {
  const outcome = await start.catch((refusal: Refusal) => refusal);
  if (!("stop" in outcome)) return outcome;
  await outcome.stop();
  throw new Error("it started");
}

export function isRunning(pid: number | undefined): boolean {
  return pid !== undefined && commandLineOf(pid) !== undefined;
}

/** Free ports for a local system, by the variables that set them. */
export async function freePorts(): Promise<Record<string, string>> {
  const ports: Record<string, string> = {};
  for (const name of Object.keys(anyPorts)) ports[name] = String(await nextPort());
  return ports;
}

function findPid(home: string, name: ProcessName): number | undefined {
  try {
    if (name === "database") return Number(readFileSync(join(home, "data", "server.pid"), "utf8"));
    return JSON.parse(readFileSync(join(home, "run.json"), "utf8")).children[name];
  } catch {
    return undefined;
  }
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGTERM");
    await once(child, "close");
  }
  return child.exitCode;
}
