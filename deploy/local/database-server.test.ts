import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findDatabaseServer } from "./database-server.ts";

const path = process.env.PATH;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-docker-"));
});

afterEach(() => {
  process.env.PATH = path;
  rmSync(folder, { recursive: true });
});

it("a Docker that does not answer counts as none", async () => {
  writeFileSync(join(folder, "docker"), "#!/bin/sh\nsleep 600\n", { mode: 0o755 });
  process.env.PATH = `${folder}${delimiter}${path}`;
  const found = findDatabaseServer({ flavor: "docker", report: () => {} });
  await expect(found).rejects.toThrow("The data here was created by docker, which was not found on this machine");
});
