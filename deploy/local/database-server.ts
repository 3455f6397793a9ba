import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { installMariadb } from "./install-mariadb.ts";
import { runProgram } from "./program.ts";
import { StartError } from "./start-error.ts";

/** A MySQL-compatible server that can be run privately. Data made by one flavor cannot be opened by another. */
export type DatabaseServer =
  | { readonly flavor: "mariadb"; readonly title: string; readonly daemon: string; readonly initializer: string }
  | { readonly flavor: "mysql"; readonly title: string; readonly daemon: string }
  | { readonly flavor: "docker"; readonly title: string };

export type Flavor = DatabaseServer["flavor"];

interface FindOptions {
  /** The only flavor that will do, where there is data already. */
  readonly flavor?: Flavor | undefined;
  /** How to use a server of one's own instead, where that can be done. */
  readonly ownServer?: string | undefined;
  /** Told what is happening, where that takes long. */
  readonly report: (text: string) => void;
}

const installDirectories = [
  "/usr/sbin",
  "/usr/local/sbin",
  "/usr/local/bin",
  "/usr/local/mysql/bin",
  "/opt/homebrew/bin",
];

/** Finds a server on this machine; where there is none, installs MariaDB if that can be done without asking. */
export async function findDatabaseServer({ flavor, ownServer, report }: FindOptions): Promise<DatabaseServer> {
  const fits = (server: DatabaseServer): boolean => flavor === undefined || server.flavor === flavor;
  const installed = (await findInstalledServers()).find(fits);
  if (installed) return installed;
  if (canInstall() && (flavor ?? "mariadb") === "mariadb") {
    await installMariadb(report);
    const fresh = (await findInstalledServers()).find(fits);
    if (fresh) return fresh;
  }
  const docker = await findDocker();
  if (docker && fits(docker)) return docker;
  throw new StartError(
    `${flavor ? `The data here was made with ${flavor}, which was not found on this machine.` : "No MySQL-compatible server was found on this machine."} Do one of these, then run the same command again:
  - install MariaDB 10.11 or later, or MySQL 8.4 or later (it need not be running: a private one is started from it)${installHint()}
  - install Docker and start it${ownServer ? `\n  - ${ownServer}` : ""}`,
  );
}

/** How that is done here. */
function installHint(): string {
  if (process.platform === "darwin") return ":\n    brew install mariadb";
  if (!existsSync("/etc/debian_version")) return "";
  return ":\n    sudo apt-get install mariadb-server-core mariadb-client-core";
}

async function findInstalledServers(): Promise<DatabaseServer[]> {
  const servers: DatabaseServer[] = [];
  for (const daemon of ["mariadbd", "mysqld"].map(findExecutable)) {
    const version = daemon && (await readVersion(daemon));
    if (!version) continue;
    const number = /\d+\.\d+\.\d+/.exec(version)?.[0] ?? "";
    if (!/mariadb/i.test(version)) servers.push({ flavor: "mysql", title: `MySQL ${number}`, daemon });
    else {
      const initializer = findExecutable("mariadb-install-db");
      // The initializer is a script that cannot do without this program, and Debian packs the two apart.
      const isComplete = initializer && findExecutable("my_print_defaults");
      if (isComplete) servers.push({ flavor: "mariadb", title: `MariaDB ${number}`, daemon, initializer });
    }
  }
  return servers;
}

function findExecutable(name: string): string | undefined {
  const directories = [...(process.env.PATH ?? "").split(delimiter).filter(Boolean), ...installDirectories];
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function readVersion(daemon: string): Promise<string | undefined> {
  try {
    return await runProgram(daemon, ["--no-defaults", "--version"]);
  } catch {
    return undefined;
  }
}

function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync("/etc/debian_version") && findExecutable("apt-get") !== undefined;
}

async function findDocker(): Promise<DatabaseServer | undefined> {
  try {
    await runProgram("docker", ["version", "--format", "{{.Server.Version}}"]);
    return { flavor: "docker", title: "MySQL 8.4 in Docker" };
  } catch {
    return undefined;
  }
}
