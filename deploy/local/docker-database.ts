import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { startInBackground } from "./background-process.ts";
import { lookForConnectionFault } from "./database-connection.ts";
import { findFreePort, loopbackHost } from "./ports.ts";
import type { PrivateDatabase } from "./private-database.ts";
import { writePrivateFile } from "./private-file.ts";
import { ProgramFailure, runProgram } from "./program.ts";
import { waitUntilUp } from "./readiness.ts";
import { StartError } from "./start-error.ts";

interface DockerOptions {
  /** Holds only what is needed to find the data again: the data itself is in a volume. */
  readonly dataDir: string;
  readonly logFile: string;
  readonly signal: AbortSignal;
}

const mysqlImage = "mysql:8.4";

/** A server in its own container, on a random loopback port, with a random password. */
export async function prepareDockerDatabase({ dataDir, logFile, signal }: DockerOptions): Promise<PrivateDatabase> {
  const { name, password } = await readOrMakeIdentity(join(dataDir, "docker.json"), dataDir);
  await pullImage(signal);
  const port = await findFreePort();
  const serverUrl = `mysql://root:${password}@${loopbackHost}:${port}/`;
  const run = ["run", "--rm", "--name", name, "--env", "MYSQL_ROOT_PASSWORD", "--volume", `${name}:/var/lib/mysql`];
  const listen = ["--publish", `${loopbackHost}:${port}:3306`];
  return {
    serverUrl,
    start: async (startSignal) => {
      // A killed run leaves its container behind, which would keep the name and the data in use.
      await runProgram("docker", ["rm", "--force", name]);
      const env = { ...process.env, MYSQL_ROOT_PASSWORD: password };
      const args = [...run, ...listen, mysqlImage, "--mysqlx=OFF", "--skip-log-bin", "--max-connections=300"];
      const container = startInBackground({ command: "docker", args, env, logFile });
      const lookForFault = () => lookForConnectionFault(serverUrl);
      return waitUntilUp(container, { title: "The database", logFile, lookForFault, signal: startSignal });
    },
    close: async () => {},
  };
}

async function readOrMakeIdentity(file: string, dataDir: string): Promise<{ name: string; password: string }> {
  if (existsSync(file)) return JSON.parse(await readFile(file, "utf8"));
  const identity = { name: `setpoint-${randomBytes(4).toString("hex")}`, password: randomBytes(24).toString("hex") };
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  writePrivateFile(file, JSON.stringify(identity));
  return identity;
}

async function pullImage(signal: AbortSignal): Promise<void> {
  try {
    await runProgram("docker", ["image", "inspect", mysqlImage], { signal }).catch((error: unknown) => {
      if (!(error instanceof ProgramFailure)) throw error;
      return runProgram("docker", ["pull", "--quiet", mysqlImage], { signal });
    });
  } catch (error) {
    if (!(error instanceof ProgramFailure)) throw error;
    throw new StartError(`Docker could not fetch ${mysqlImage}: ${error.message}\n${error.output}`);
  }
}
