// Makes sure that node_modules matches package-lock.json and includes the pinned Node. It runs on the machine's own
// Node before anything is installed: plain JavaScript, no dependencies.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const modules = join(root, "node_modules");
const ownName = "install-dependencies.mjs";
const lockFile = join(root, ".setpoint", "install.lock");
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
const progressMs = 90_000;
let holdsLock = false;

/**
 * Whether every package is installed in its locked version. An optional one may be missing: it may be for another
 * platform.
 */
function isInstalled() {
  const wanted = readPackages(join(root, "package-lock.json"));
  // npm writes this file last, so an interrupted install has none.
  const present = readPackages(join(modules, ".package-lock.json"));
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === "" || (optional && !present[path])) return true;
    return present[path]?.version === version && existsSync(join(root, path, "package.json"));
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return {};
  }
}

/**
 * The package `node` downloads its program in an install script. We run that script ourselves, and no other, so that it
 * works if npm refuses to run scripts.
 */
function hasPinnedNode() {
  return existsSync(join(modules, ".bin", "node"));
}

async function install() {
  if (!isInstalled()) {
    console.error("Installing the dependencies (once, about a minute) ...");
    const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
    await run("npm ci", root, "npm", ["ci", "--ignore-scripts", "--include=dev", "--include=optional", ...quiet]);
  }
  if (!hasPinnedNode()) {
    console.error("Fetching the pinned Node ...");
    await run("fetching the pinned Node", join(modules, "node"), "node", ["installArchSpecificPackage"]);
    rmSync(join(modules, ".bin", "node"), { force: true });
    requireRunning(join(modules, "node", "bin", "node"));
    symlinkSync(join("..", "node", "bin", "node"), join(modules, ".bin", "node"));
  }
}

/** The pinned Node needs a library that a small system lacks, and that the machine's own Node may not need. */
function requireRunning(program) {
  const start = () => spawnSync(program, ["--version"], { encoding: "utf8" });
  const isRoot = process.getuid?.() === 0;
  if (isRoot && start().stderr?.includes("libatomic")) {
    console.error("Installing libatomic1 with apt, which the pinned Node needs ...");
    const apt = (...args) => spawnSync("apt-get", ["-o", "DPkg::Lock::Timeout=120", "--quiet", ...args]);
    apt("update");
    apt("--yes", "--no-install-recommends", "install", "libatomic1");
  }
  const { status, error, stderr } = start();
  if (status === 0) return;
  fail(`${error?.message ?? stderr}

The pinned Node does not run on this machine; the reason is above. If a library is missing, install it, then run the
same command again: libatomic is in the package libatomic1 of Debian and Ubuntu, and in libatomic of Fedora.`);
}

async function run(step, cwd, command, args) {
  // The Node in node_modules may be the very thing that is being replaced.
  const isOurs = (directory) => directory.startsWith(modules);
  const PATH = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((directory) => !isOurs(directory))
    .join(delimiter);
  // A process group of its own, so that all of it can be ended.
  const options = { cwd, env: { ...process.env, PATH }, stdio: ["ignore", "pipe", "pipe"], detached: true };
  const child = spawn(command, args, options);
  // npm goes on for a while after a Ctrl-C, and would disturb the installation of the next start.
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended by itself meanwhile, or could not be run.
    }
  };
  for (const signal of signals) process.on(signal, interrupt);
  const startedAtMs = performance.now();
  // npm says nothing for minutes while it tries to reach its registry.
  const progress = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
    console.error(`... ${step} is still running after ${seconds} s. If the machine is offline, end it with Ctrl-C.`);
  }, progressMs);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  const reason = await new Promise((resolve) => {
    child.once("error", ({ message }) => resolve(message));
    child.once("close", (code, signal) => resolve(signal ? `ended by ${signal}` : code && `exit code ${code}`));
  });
  clearInterval(progress);
  for (const signal of signals) process.off(signal, interrupt);
  if (isInterrupted) fail("Interrupted. The next start begins the installation again.");
  if (!reason) return;
  fail(`${output.trim()}\n\nThe dependencies could not be installed: ${step} failed (${reason}); its output is above.
Check that the machine reaches the npm registry and has free disk space, then run the same command again.`);
}

function fail(message) {
  console.error(message.trim());
  if (holdsLock) rmSync(lockFile, { force: true });
  process.exit(1);
}

/** Waits while another process installs into the same folder: two at once would delete each other's files. */
async function takeLock() {
  let hasSaid = false;
  for (;;) {
    try {
      mkdirSync(join(root, ".setpoint"), { recursive: true, mode: 0o700 });
      // A symbolic link, because it is created together with its content: who holds the lock.
      symlinkSync(String(process.pid), lockFile);
      holdsLock = true;
      return;
    } catch (error) {
      const isTaken = error.code === "EEXIST";
      if (!isTaken)
        fail(`The dependencies cannot be installed here: ${error.message}\nTake a folder that you may write to.`);
    }
    const holder = lockHolder();
    if (holder !== undefined && !isInstalling(holder)) removeLockOf(holder);
    else if (holder !== undefined && !hasSaid) {
      console.error(`Waiting for process ${holder}, which is installing the dependencies ...`);
      hasSaid = true;
    }
    await delay(100);
  }
}

/** The process that holds the lock; undefined if nobody does. */
function lockHolder() {
  try {
    return readlinkSync(lockFile);
  } catch {
    return undefined;
  }
}

/** As opposed to another process that has got its id since, or this one: in a restarted container, ids repeat. */
function isInstalling(pid) {
  return Number(pid) !== process.pid && (process.platform === "linux" ? runsThis(pid) : seemsToRunThis(pid));
}

/** Whether it is a Node that runs this script. The shell of an npm script only has the name in its command. */
function runsThis(pid) {
  const argv = procFile(pid, "cmdline").split("\0");
  // Threads have ids of the same kind, and files under the same names.
  const isProcess = procFile(pid, "status").includes(`\nTgid:\t${pid}\n`);
  return isProcess && isNode(argv[0]) && argv.slice(1).some((argument) => basename(argument) === ownName);
}

/** Empty if there is no such process. */
function procFile(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

/** The same as far as `ps` can tell, which does not show where an argument ends. */
function seemsToRunThis(pid) {
  const shown = (column) =>
    (spawnSync("ps", ["-ww", "-o", `${column}=`, "-p", pid], { encoding: "utf8" }).stdout ?? "").trim();
  return isNode(shown("comm")) && shown("command").endsWith(ownName);
}

function isNode(program) {
  return /^node(js)?$/.test(basename(program));
}

/**
 * If several processes see that the holder has died, only one may remove the lock: a second one could remove a lock
 * that is held again by then.
 */
function removeLockOf(holder) {
  const claim = `${lockFile}.${holder}`;
  try {
    symlinkSync(String(process.pid), claim);
  } catch {
    return;
  }
  if (lockHolder() === holder) rmSync(lockFile);
  rmSync(claim);
}

if (Number(process.versions.node.split(".")[0]) < 20) {
  fail(`This is Node ${process.versions.node}, and Setpoint needs Node 20 or later to begin with: https://nodejs.org`);
}

if (!isInstalled() || !hasPinnedNode()) {
  await takeLock();
  await install();
  rmSync(lockFile, { force: true });
}
