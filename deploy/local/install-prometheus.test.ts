import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { hasApt } from "./apt.ts";
import { findExecutable } from "./executables.ts";
import { findPrometheus } from "./install-prometheus.ts";

let folder: string;
let programs: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-prometheus-"));
  programs = join(folder, "programs");
  vi.stubEnv("PATH", folder);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function write(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

/** Replaces apt's programs, which must not run here. */
function stubApt(download: string): void {
  write("apt-get", `case "$*" in *update) true;; *) ${download};; esac`);
  write("apt-cache", "printf 'prometheus\\n  Depends: libc6\\nlibjs-jquery\\nlibc6\\n'");
  write(
    "dpkg-deb",
    '/bin/mkdir -p "$3/usr/bin"; echo >> "$3/usr/bin/prometheus"; /bin/chmod +x "$3/usr/bin/prometheus"',
  );
}

it("uses the machine's Prometheus if there is one", async () => {
  write("prometheus", "true");
  expect(await findPrometheus(() => {}, programs)).toMatchObject({ daemon: join(folder, "prometheus"), args: [] });
});

describe.runIf(hasApt() && !findExecutable("prometheus"))("without an installed Prometheus", () => {
  it("unpacks it with the files its pages need, once", async () => {
    stubApt('for name in "$3" "$4"; do echo > "$name.deb"; done');
    const first = await findPrometheus(() => {}, programs);
    expect(first.daemon).toBe(join(programs, "prometheus/usr/bin/prometheus"));
    expect(existsSync(first.daemon)).toBe(true);
    stubApt("exit 1");
    expect(await findPrometheus(() => {}, programs)).toEqual(first);
    expect(readdirSync(programs)).toEqual(["prometheus"]);
  });

  it("says what to do if it cannot be downloaded, and leaves nothing behind", async () => {
    stubApt('echo "E: Failed to fetch http://deb.debian.org" >&2; exit 100');
    const refusal = findPrometheus(() => {}, programs);
    await expect(refusal).rejects.toThrow(
      /could not be installed: the package sources are out of reach[\s\S]*start without --observe/,
    );
    expect(readdirSync(programs)).toEqual([]);
  });
});
