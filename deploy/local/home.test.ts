import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openHome } from "./home.ts";
import { StartError } from "./start-error.ts";

it("says what to do if there can be no such folder", () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-home-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "file");
  writeFileSync(file, "");
  for (const path of [file, join(file, "home")]) {
    expect(() => openHome({ SETPOINT_HOME: path }), path).toThrow(StartError);
    expect(() => openHome({ SETPOINT_HOME: path }), path).toThrow(`cannot keep its data in ${path}: `);
  }
});
