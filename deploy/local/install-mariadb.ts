import { ProgramFailure, runProgram } from "./program.ts";

/** What apt says where it fails, and what to do then. The first that is found counts. */
const advices: readonly (readonly [said: RegExp, advice: string])[] = [
  [/could not get lock|unable to acquire/i, "another program is using apt; wait until it has ended"],
  [/no space left|enough free space/i, "the disk is full; make some room"],
  [
    /resolv|failed to fetch|could not connect|unable to connect|network is unreachable|timed out/i,
    "the package sources are out of reach; check the network, and behind a proxy set http_proxy",
  ],
  [/unable to locate package|no installation candidate/i, "the package sources have no MariaDB; add one that has"],
];

/** Installs only the programs: no system service is set up, so nothing else on the machine changes. */
export async function installMariadb(report: (text: string) => void): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const waitForOthers = ["-o", "DPkg::Lock::Timeout=120"];
  let output = "";
  const run = (program: string, args: readonly string[], onLine?: (line: string) => void): Promise<string> =>
    runProgram(program, args, { env, onLine }).catch((error: unknown) => {
      if (error instanceof ProgramFailure) output += `${error.output}\n`;
      throw error;
    });
  try {
    report("no MariaDB or MySQL here: installing MariaDB with apt (once, about a minute)");
    // One source that is out of reach does not matter where another one, or an older list, has the package.
    await run("apt-get", [...waitForOthers, "--quiet", "update"]).catch(() => {});
    // Older releases put the version into the name of the package.
    const found = await run("apt-cache", ["search", "--names-only", "^mariadb-server-core(-[0-9.]+)?$"]);
    const server = found.split(/\s/)[0] || "mariadb-server-core";
    const packages = [server, server.replace("server", "client")];
    report(`apt-get install ${packages.join(" ")}`);
    const install = ["--quiet", "--yes", "--no-install-recommends", "install", ...packages];
    await run("apt-get", [...waitForOthers, ...install], (line) => {
      if (/^(Unpacking|Setting up) /.test(line)) report(`  ${line}`);
    });
  } catch (error) {
    if (!(error instanceof ProgramFailure)) throw error;
    const advice = advices.find(([said]) => said.test(output))?.[1] ?? error.message;
    report(`MariaDB could not be installed: ${advice}. The end of what apt said:\n${lastOf(output)}`);
  }
}

function lastOf(output: string): string {
  return output.trim().split("\n").slice(-5).join("\n");
}
