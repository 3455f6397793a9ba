import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";

const script = "deploy/local/install-dependencies.mjs";
let root: string;

const at = (name: string) => join(root, name);

function write(name: string, text: string): void {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), text);
}

/** A clone with one dependency, and an npm that does not finish until there is a file `go`. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "setpoint-install-"));
  mkdirSync(at("deploy/local"), { recursive: true });
  copyFileSync(join(import.meta.dirname, "install-dependencies.mjs"), at(script));
  write("package-lock.json", '{"packages":{"node_modules/a":{"version":"1"}}}');
  write(
    "bin/npm",
    `#!/bin/sh
    echo begun >> log
    while [ ! -e go ]; do sleep 0.05; done
    mkdir -p node_modules/a node_modules/.bin
    echo '{}' > node_modules/a/package.json
    : > node_modules/.bin/node
    cp package-lock.json node_modules/.package-lock.json
    echo done >> log\n`,
  );
  chmodSync(at("bin/npm"), 0o755);
});

afterEach(() => rmSync(root, { recursive: true }));

const env = () => ({ ...process.env, PATH: `${at("bin")}:${process.env.PATH}` });

/** Runs the script and returns its exit code. */
async function install(...nodeFlags: string[]): Promise<number> {
  const [code] = await once(spawn(process.execPath, [...nodeFlags, at(script)], { cwd: root, env: env() }), "exit");
  return code;
}

/** As on a system without libatomic, which apt-get may or may not be able to install. */
function lackLibrary({ aptGet }: { readonly aptGet: string }): void {
  write("package-lock.json", '{"packages":{}}');
  write("node_modules/.package-lock.json", '{"packages":{}}');
  write("node_modules/.bin/other", "");
  write(
    "node_modules/node/installArchSpecificPackage.js",
    `const fs = require("node:fs");
    fs.mkdirSync("bin", { recursive: true });
    const start = "[ -e ${at("libatomic")} ] || { echo 'error while loading libatomic.so.1' >&2; exit 127; }";
    fs.writeFileSync("bin/node", "#!/bin/sh\\n" + start + "\\n", { mode: 0o755 });`,
  );
  write("bin/apt-get", `#!/bin/sh\n${aptGet}\n`);
  chmodSync(at("bin/apt-get"), 0o755);
}

const log = () => (existsSync(at("log")) ? readFileSync(at("log"), "utf8").trimEnd().split("\n") : []);

function leaveLockBehind(pid = spawnSync("true").pid): void {
  mkdirSync(at(".setpoint"));
  symlinkSync(String(pid), at(".setpoint/install.lock"));
}

it("installs once if run twice, even after an earlier run was killed", async () => {
  leaveLockBehind();
  write("go", "");
  expect(await Promise.all([install(), install()])).toEqual([0, 0]);
  expect(log()).toEqual(["begun", "done"]);
  expect(existsSync(at(".setpoint/install.lock"))).toBe(false);
});

it("does not wait for another process that has the id of an earlier run", async () => {
  leaveLockBehind(process.pid);
  write("go", "");
  expect(await install()).toBe(0);
});

it("does not wait for itself if an earlier run had its id, as in a restarted container", async () => {
  mkdirSync(at(".setpoint"));
  write("go", "");
  const command = `ln -s $$ .setpoint/install.lock; exec '${process.execPath}' '${at(script)}'`;
  expect(await once(spawn("sh", ["-c", command], { cwd: root, env: env() }), "exit")).toEqual([0, null]);
});

it("does not wait for the shell that started it if an earlier run had the shell's id", async () => {
  mkdirSync(at(".setpoint"));
  write("go", "");
  const command = `ln -s $$ .setpoint/install.lock; '${process.execPath}' ${script} && exec true`;
  // Once the shell has ended, a process that waits for it ends as well.
  const shell = spawn("sh", ["-c", command], { cwd: root, env: env(), timeout: 20_000 });
  expect(await once(shell, "exit")).toEqual([0, null]);
});

it.runIf(process.platform === "linux")("does not wait for a thread that has the id of an earlier run", async () => {
  write("elsewhere/install-dependencies.mjs", "setInterval(() => {}, 1_000);");
  const other = spawn(process.execPath, [at("elsewhere/install-dependencies.mjs")], { timeout: 20_000 });
  const threads = () => readdirSync(`/proc/${other.pid}/task`).filter((id) => id !== String(other.pid));
  await expect.poll(threads).not.toEqual([]);
  leaveLockBehind(Number(threads()[0]));
  write("go", "");
  expect(await install()).toBe(0);
  expect(other.exitCode ?? other.signalCode).toBeNull();
  other.kill();
});

it("ends npm with all that it started on a Ctrl-C, so that it does not disturb the next start", async () => {
  const interrupted = spawn(process.execPath, [at(script)], { cwd: root, env: env() });
  await expect.poll(log).toEqual(["begun"]);
  interrupted.kill("SIGINT");
  expect(await once(interrupted, "exit")).toEqual([1, null]);
  expect(existsSync(at(".setpoint/install.lock"))).toBe(false);
  write("go", "");
  expect(await install()).toBe(0);
  expect(log()).toEqual(["begun", "begun", "done"]);
});

it("does not remove a lock that another process has taken over meanwhile", async () => {
  leaveLockBehind();
  // After it has read who holds the lock, it sleeps until there is a file `wake`.
  write(
    "hesitate.mjs",
    `import fs, { existsSync, writeFileSync } from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    const { readlinkSync } = fs;
    fs.readlinkSync = (file) => {
      const holder = readlinkSync(file);
      writeFileSync("looked", "");
      while (!existsSync("wake")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      return holder;
    };
    syncBuiltinESMExports();`,
  );
  const hesitant = install("--import", at("hesitate.mjs"));
  await expect.poll(() => existsSync(at("looked"))).toBe(true);
  const quick = install();
  await expect.poll(log).toEqual(["begun"]);
  write("wake", "");
  // Long enough to begin, if it were going to.
  await sleep(1_000);
  write("go", "");
  expect(await Promise.all([quick, hesitant])).toEqual([0, 0]);
  expect(log()).toEqual(["begun", "done"]);
});

it.runIf(process.getuid?.() === 0)("installs the library that the pinned Node needs, if it is missing", async () => {
  lackLibrary({ aptGet: `case "$*" in *"install libatomic1") touch ${at("libatomic")};; esac` });
  expect(await install()).toBe(0);
  expect(existsSync(at("node_modules/.bin/node"))).toBe(true);
});

it("says which library to install, every time, if the pinned Node does not run", () => {
  lackLibrary({ aptGet: "exit 100" });
  for (let round = 0; round < 2; round += 1) {
    const { status, stderr } = spawnSync(process.execPath, [at(script)], { cwd: root, env: env(), encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toContain("error while loading libatomic.so.1");
    expect(stderr).toContain("package libatomic1 of Debian");
  }
});
