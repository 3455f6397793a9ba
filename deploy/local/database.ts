import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startInBackground, stopLeftover } from "./background-process.ts";
import { lookForConnectionFault } from "./database-connection.ts";
import type { DatabaseServer, Flavor } from "./database-server.ts";
import { prepareDockerDatabase } from "./docker-database.ts";
import type { DatabaseOptions, PrivateDatabase } from "./private-database.ts";
import { writePrivateFile } from "./private-file.ts";
import { ProgramFailure, runProgram } from "./program.ts";
import { waitUntilUp } from "./readiness.ts";
import { StartError } from "./start-error.ts";

/** The file in a data folder that records which flavor created it. */
const flavorFileName = "setpoint-flavor";

// The kernel limits the path of a socket to 108 bytes on Linux and 104 on macOS, including the terminating zero.
const socketPathBytesMax = 103;

/** The flavor that created the data folder, if there is one. */
export function findDataFlavor(dataDir: string): Flavor | undefined {
  const file = join(dataDir, flavorFileName);
  return existsSync(file) ? (readFileSync(file, "utf8").trim() as Flavor) : undefined;
}

/** Creates the data folder if it is missing, and stops a server that a killed run left on it. */
export async function prepareDatabase(options: DatabaseOptions): Promise<PrivateDatabase> {
  const { server, dataDir, logFile } = options;
  await mkdir(dirname(dataDir), { recursive: true, mode: 0o700 });
  if (server.flavor === "docker") {
    const database = await prepareDockerDatabase(options);
    writePrivateFile(join(dataDir, flavorFileName), server.flavor);
    return database;
  }
  const pidFile = join(dataDir, "server.pid");
  const leftPid = Number(await readFile(pidFile, "utf8").catch(() => ""));
  if (leftPid > 0) await stopLeftover(leftPid, `--datadir=${dataDir} `);
  if (!existsSync(dataDir)) await initialize(server, options);
  const socket = await chooseSocketPath(dirname(dataDir));
  const serverUrl = new URL("mysql://root@localhost/");
  serverUrl.searchParams.set("socketPath", socket.path);
  // Not shared: a server that starts deletes the temporary tables that it finds, even those of another running server.
  const tmpDir = `${dataDir}-tmp`;
  await mkdir(tmpDir, { recursive: true, mode: 0o700 });
  const own = [`--tmpdir=${tmpDir}`, `--socket=${socket.path}`, `--pid-file=${pidFile}`, "--skip-networking"];
  const args = [...serverArguments(options), ...own, ...(options.args ?? [])];
  return {
    serverUrl: serverUrl.href,
    start: (signal) => {
      const process = startInBackground({ command: server.daemon, args, logFile });
      const lookForFault = () => lookForConnectionFault(serverUrl.href);
      return waitUntilUp(process, { title: "The database", logFile, lookForFault, signal });
    },
    close: socket.remove,
  };
}

type InstalledServer = Exclude<DatabaseServer, { flavor: "docker" }>;

/** Created under another name first: a folder with the right name is always complete, even after Ctrl-C. */
async function initialize(server: InstalledServer, options: DatabaseOptions): Promise<void> {
  const unfinished = `${options.dataDir}.new`;
  // Processes of a killed run may still be writing to it for a moment.
  await rm(unfinished, { recursive: true, force: true, maxRetries: 20 });
  await mkdir(unfinished, { mode: 0o700 });
  const { path: dataDir, remove } = await linkWithoutSpaces(unfinished);
  const args = serverArguments({ ...options, dataDir });
  try {
    if (server.flavor === "mysql") {
      await runProgram(server.daemon, [...args, "--initialize-insecure"], { signal: options.signal });
    } else {
      const rootWithoutPassword = ["--auth-root-authentication-method=normal", "--skip-test-db"];
      // It would refuse a machine that cannot look up its own name. Nothing here depends on that.
      const own = [`--tmpdir=${dataDir}`, "--force", ...rootWithoutPassword];
      await runProgram(server.initializer, [...args, ...own], { signal: options.signal });
    }
  } catch (error) {
    if (!(error instanceof ProgramFailure)) throw error;
    throw new StartError(`${server.title} could not make its data folder: ${error.message}\n${error.output}`);
  } finally {
    await remove();
  }
  await writeFile(join(unfinished, flavorFileName), server.flavor);
  await rename(unfinished, options.dataDir);
}

function serverArguments({ server, dataDir, durable }: DatabaseOptions): string[] {
  const args = [
    // Must come first, otherwise the server reads the machine's settings.
    "--no-defaults",
    `--datadir=${dataDir}`,
    "--skip-name-resolve",
    "--skip-log-bin",
    "--performance-schema=OFF",
    "--character-set-server=utf8mb4",
    "--max-connections=300",
    "--max-allowed-packet=64M",
    "--innodb-buffer-pool-size=256M",
  ];
  if (process.getuid?.() === 0) args.push("--user=root");
  if (server.flavor === "mysql") args.push("--loose-mysqlx=OFF");
  if (!durable) {
    args.push("--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--loose-innodb-flush-method=nosync");
    args.push("--loose-sync-frm=0", "--loose-innodb-log-file-size=32M");
  }
  return args;
}

interface TemporaryPath {
  readonly path: string;
  readonly remove: () => Promise<void>;
}

/** The script that creates MariaDB's data folder fails if its path contains a space. */
async function linkWithoutSpaces(path: string): Promise<TemporaryPath> {
  if (!/\s/.test(path)) return { path, remove: async () => {} };
  const link = await temporaryPath("data");
  await symlink(path, link.path);
  return link;
}

async function chooseSocketPath(directory: string): Promise<TemporaryPath> {
  const path = join(directory, "database.sock");
  if (Buffer.byteLength(path) <= socketPathBytesMax) return { path, remove: async () => {} };
  return temporaryPath("database.sock");
}

/** A short path in a folder that only we use. */
async function temporaryPath(name: string): Promise<TemporaryPath> {
  const folder = await mkdtemp(join(tmpdir(), "setpoint-")).catch((error: Error) => {
    throw new StartError(`There is no folder for temporary files: ${error.message}. Set TMPDIR to one that exists.`);
  });
  return { path: join(folder, name), remove: () => rm(folder, { recursive: true, force: true }) };
}
