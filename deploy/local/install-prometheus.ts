import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Apt, hasApt, isRoot, openApt } from "./apt.ts";
import { findExecutable, isExecutable } from "./executables.ts";
import { repositoryRoot } from "./home.ts";
import { StartError } from "./start-error.ts";

export interface Prometheus {
  readonly daemon: string;
  /** Checks rule files. */
  readonly promtool: string | undefined;
  /** The arguments that the daemon needs to find its own files. */
  readonly args: readonly string[];
}

/** Shared by all homes of this checkout. */
const programsDefault = join(repositoryRoot, ".setpoint", "programs");

/**
 * The Prometheus of this machine, otherwise Debian's, unpacked beside the data. It is not installed, because that would
 * need root, and would set up and start a system service.
 */
export async function findPrometheus(
  report: (text: string) => void,
  programs: string = programsDefault,
): Promise<Prometheus> {
  const daemon = findExecutable("prometheus");
  if (daemon) return { daemon, promtool: findExecutable("promtool"), args: [] };
  const folder = join(programs, "prometheus");
  if (!isExecutable(daemonIn(folder))) await unpackTo(folder, programs, report);
  return {
    daemon: daemonIn(folder),
    promtool: join(folder, "usr/bin/promtool"),
    args: [`--web.local-assets=${join(folder, "usr/share/prometheus/web")}`],
  };
}

function daemonIn(folder: string): string {
  return join(folder, "usr/bin/prometheus");
}

async function unpackTo(folder: string, programs: string, report: (text: string) => void): Promise<void> {
  const advice =
    "Install it (it need not be running: a private one is started from it) and run the same command again, or start without --observe.";
  if (!hasApt()) throw new StartError(`No Prometheus was found on this machine. ${advice}`);
  const apt = openApt("Prometheus");
  mkdirSync(programs, { recursive: true });
  // In a folder of its own that is moved as a whole: an interrupted start leaves nothing that looks complete.
  const fresh = mkdtempSync(join(programs, "new-"));
  try {
    report("no Prometheus here: unpacking Debian's (once, about 20 MB)");
    if (isRoot()) await apt.run("apt-get", ["--quiet", "update"]).catch(() => {});
    await apt.run("apt-get", ["--quiet", "download", ...(await packagesOf(apt))], { cwd: fresh });
    const root = join(fresh, "root");
    for (const file of readdirSync(fresh).filter((name) => name.endsWith(".deb"))) {
      await apt.run("dpkg-deb", ["--extract", join(fresh, file), root]);
    }
    rmSync(folder, { recursive: true, force: true });
    renameSync(root, folder);
  } catch (error) {
    throw new StartError(`Prometheus could not be installed: ${apt.explain(error)}\n${advice}`);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Includes the scripts and fonts of its web pages. All that it needs besides is the C library, which is everywhere. */
async function packagesOf(apt: Apt): Promise<string[]> {
  const others = ["recommends", "suggests", "conflicts", "breaks", "replaces", "enhances"].map(
    (kind) => `--no-${kind}`,
  );
  const needed = await apt.run("apt-cache", ["depends", "--recurse", ...others, "prometheus"]);
  return ["prometheus", ...needed.split("\n").filter((name) => /^(libjs|fonts)-/.test(name))];
}
