import { openApt } from "./apt.ts";

/** Installs only the programs. It sets up no system service, so nothing else on the machine changes. */
export async function installMariadb(report: (text: string) => void): Promise<void> {
  const apt = openApt("MariaDB");
  const waitForOthers = ["-o", "DPkg::Lock::Timeout=120"];
  try {
    report("no MariaDB or MySQL here: installing MariaDB with apt (once, about a minute)");
    // It does not matter if one source is unreachable, as long as another one, or an older list, has the package.
    await apt.run("apt-get", [...waitForOthers, "--quiet", "update"]).catch(() => {});
    // Older releases have the version in the name of the package.
    const found = await apt.run("apt-cache", ["search", "--names-only", "^mariadb-server-core(-[0-9.]+)?$"]);
    const server = found.split(/\s/)[0] || "mariadb-server-core";
    const packages = [server, server.replace("server", "client")];
    report(`apt-get install ${packages.join(" ")}`);
    const install = ["--quiet", "--yes", "--no-install-recommends", "install", ...packages];
    await apt.run("apt-get", [...waitForOthers, ...install], {
      onLine: (line) => {
        if (/^(Unpacking|Setting up) /.test(line)) report(`  ${line}`);
      },
    });
  } catch (error) {
    report(`MariaDB could not be installed: ${apt.explain(error)}`);
  }
}
