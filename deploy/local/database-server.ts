import { existsSync } from "node:fs";
import { hasApt, isRoot } from "./apt.ts";
import { findExecutable } from "./executables.ts";
import { installMariadb } from "./install-mariadb.ts";
import { runProgram } from "./program.ts";
import { StartError } from "./start-error.ts";

/** A MySQL-compatible server that can be run privately. One flavor cannot open the data of another. */
export type DatabaseServer =
  | { readonly flavor: "mariadb"; readonly title: string; readonly daemon: string; readonly initializer: string }
  | { readonly flavor: "mysql"; readonly title: string; readonly daemon: string }
  | { readonly flavor: "docker"; readonly title: string };

export type Flavor = DatabaseServer["flavor"];

interface FindOptions {
  /** The only acceptable flavor, if there is data already. */
  readonly flavor?: Flavor | undefined;
  /** How to use one's own server instead, if that is possible. */
  readonly ownServer?: string | undefined;
  /** Called with what is going on when that takes long. */
  readonly report: (text: string) => void;
}

/** Finds a server on this machine. If there is none, installs MariaDB if that is possible without asking. */
export async function findDatabaseServer({ flavor, ownServer, report }: FindOptions): Promise<DatabaseServer> {
  const fits = (server: DatabaseServer): boolean => flavor === undefined || server.flavor === flavor;
  const installed = (await findInstalledServers()).find(fits);
  if (installed) return installed;
  if (isRoot() && hasApt() && (flavor ?? "mariadb") === "mariadb") {
    await installMariadb(report);
    const fresh = (await findInstalledServers()).find(fits);
    if (fresh) return fresh;
  }
  const docker = await findDocker();
  if (docker && fits(docker)) return docker;
  throw new StartError(
    `${flavor ? `The data here was created by ${flavor}, which was not found on this machine.` : "No MySQL-compatible server was found on this machine."} Do one of these, then run the same command again:
  - install MariaDB 10.11 or later, or MySQL 8.4 or later (it need not be running: a private one is started from it)${installHint()}
  - install Docker and start it${ownServer ? `\n  - ${ownServer}` : ""}`,
  );
}

/** How to install a server on this platform. */
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
      // The initializer is a script that needs this program, and Debian packages the two separately.
      const isComplete = initializer && findExecutable("my_print_defaults");
      if (isComplete) servers.push({ flavor: "mariadb", title: `MariaDB ${number}`, daemon, initializer });
    }
  }
  return servers;
}

async function readVersion(daemon: string): Promise<string | undefined> {
  try {
    return await runProgram(daemon, ["--no-defaults", "--version"]);
  } catch {
    return undefined;
  }
}

/** A Docker whose daemon hangs never answers. */
const dockerTimeoutMs = 10_000;

async function findDocker(): Promise<DatabaseServer | undefined> {
  try {
    const signal = AbortSignal.timeout(dockerTimeoutMs);
    await runProgram("docker", ["version", "--format", "{{.Server.Version}}"], { signal });
    return { flavor: "docker", title: "MySQL 8.4 in Docker" };
  } catch {
    return undefined;
  }
}
