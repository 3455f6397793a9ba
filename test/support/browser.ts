import { type Browser, chromium } from "playwright-core";
import { findExecutable } from "../../deploy/local/executables.ts";
import { ProgramFailure, runProgram } from "../../deploy/local/program.ts";

/**
 * The one without windows comes first: in the others, each page has a window with everything that is drawn around it.
 */
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/**
 * The browser named by CHROMIUM, otherwise the machine's, otherwise one that is installed now; undefined if there is
 * none.
 */
export async function findBrowser(): Promise<string | undefined> {
  const found = process.env.CHROMIUM || findInstalled();
  if (found) return found;
  const reason = await installChromium();
  const installed = findInstalled();
  if (installed) return installed;
  const message = `The tests of the console need Chromium, which is not here and could not be installed: ${reason}. Install it, or set CHROMIUM to its path.`;
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`\n*** SKIPPED: the tests of the console in a browser. ${message}\n\n`);
  return undefined;
}

export function launchBrowser(executablePath: string): Promise<Browser> {
  // Chromium's sandbox does not work for root, and containers have hardly any shared memory.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

function findInstalled(): string | undefined {
  return names.map(findExecutable).find((path) => path !== undefined);
}

/** Returns why it failed, if it did. */
async function installChromium(): Promise<string> {
  process.stderr.write("no Chromium here: installing it with apt (once, about a minute)\n");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const apt = ["-o", "DPkg::Lock::Timeout=120", "--quiet"];
  const install = (name: string) =>
    runProgram("apt-get", [...apt, "--yes", "--no-install-recommends", "install", name, "fonts-liberation"], { env });
  try {
    await runProgram("apt-get", [...apt, "update"], { env }).catch(() => {});
    // Not every release has the first package.
    await install("chromium-headless-shell").catch(() => install("chromium"));
    return "it was installed under another name";
  } catch (error) {
    return error instanceof ProgramFailure ? (error.output.split("\n").at(-1) ?? error.message) : String(error);
  }
}
