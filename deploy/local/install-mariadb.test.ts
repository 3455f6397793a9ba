import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { installMariadb } from "./install-mariadb.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-apt-"));
  vi.stubEnv("PATH", `${folder}:${process.env.PATH}`);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** Replaces apt's programs, which must not run here. Each branch is a shell script. */
function stubApt({ update = "true", search = "true", install = "true" }): void {
  write("apt-get", `case "$*" in *update) ${update};; *) ${install};; esac`);
  write("apt-cache", search);
}

function write(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

async function reportOf(): Promise<string> {
  const lines: string[] = [];
  await installMariadb((text) => lines.push(text));
  return lines.join("\n");
}

describe("installing MariaDB", () => {
  it("installs server and client under this release's package names", async () => {
    stubApt({ search: "echo mariadb-server-core-10.5 - server", install: 'echo "Setting up $*"' });
    expect(await reportOf()).toMatch(/Setting up .* install mariadb-server-core-10\.5 mariadb-client-core-10\.5$/);
  });

  it("continues if only updating the package lists fails", async () => {
    stubApt({ update: "echo 'E: Failed to fetch x' >&2; exit 100" });
    expect(await reportOf()).not.toContain("could not be installed");
  });

  it.each([
    [
      "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (apt)",
      "another program is using apt",
    ],
    ["W: Failed to fetch http://deb.debian.org  Temporary failure resolving", "the package sources are out of reach"],
    ["E: You don't have enough free space in /var/cache/apt/archives/.", "the disk is full"],
    ["E: Unable to locate package mariadb-server-core", "the package sources have no MariaDB"],
    ["E: something else", '"apt-get -o DPkg::Lock::Timeout=120 '],
  ])("says what to do if apt reports %j", async (said, advice) => {
    stubApt({ install: `echo "${said}" >&2; exit 100` });
    const report = await reportOf();
    expect(report).toContain(`MariaDB could not be installed: ${advice}`);
    expect(report).toContain(said);
  });

  it("blames the network if that is why the package is missing", async () => {
    stubApt({
      update: "echo 'W: Temporary failure resolving deb.debian.org' >&2; exit 100",
      install: "echo 'E: Unable to locate package mariadb-server-core' >&2; exit 100",
    });
    expect(await reportOf()).toContain("could not be installed: the package sources are out of reach");
  });
});
