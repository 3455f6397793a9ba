import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StartError } from "./start-error.ts";
import { keepUpstreams } from "./upstreams.ts";

let folder: string;
let file: string;
let ownFile: string;
let said: string[];
const closers: (() => void)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-upstreams-"));
  file = join(folder, "upstreams.json");
  ownFile = join(folder, "own.json");
  said = [];
});

afterEach(() => {
  for (const close of closers.splice(0)) close();
  rmSync(folder, { recursive: true });
});

function keep(own?: string): void {
  closers.push(keepUpstreams({ file, ownFile: own, echoPort: 1234, say: (line) => said.push(line) }));
}

function writtenNames(): string[] {
  return JSON.parse(readFileSync(file, "utf8")).upstreams.map(({ name }: { name: string }) => name);
}

function writeOwn(...names: string[]): void {
  writeFileSync(`${ownFile}.new`, JSON.stringify({ upstreams: names.map((name) => ({ name, models: ["*"] })) }));
  renameSync(`${ownFile}.new`, ownFile);
}

describe("the table of upstreams", () => {
  it("has the echo upstream in every dialect, for its owner alone", () => {
    keep();
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      upstreams: [
        {
          name: "echo",
          base_url: "http://127.0.0.1:1234/v1",
          dialects: ["chat/completions", "messages", "responses"],
          models: ["echo/*"],
        },
      ],
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("has the user's behind it, whose patterns may fit everything", () => {
    writeOwn("openai", "other");
    keep(ownFile);
    expect(writtenNames()).toEqual(["echo", "openai", "other"]);
  });

  it("leaves the name to the user's own", () => {
    writeOwn("echo");
    keep(ownFile);
    expect(JSON.parse(readFileSync(file, "utf8")).upstreams).toEqual([{ name: "echo", models: ["*"] }]);
  });

  it("follows the user's own, also where that is replaced", async () => {
    writeOwn("one");
    keep(ownFile);
    writeOwn("one", "two");
    await expect.poll(writtenNames, { timeout: 10_000 }).toEqual(["echo", "one", "two"]);
    writeFileSync(ownFile, "{");
    await expect.poll(() => said, { timeout: 10_000 }).toEqual([expect.stringMatching(/own\.json is not JSON/)]);
    expect(writtenNames()).toEqual(["echo", "one", "two"]);
  });

  it.each([
    ["{", "is not JSON"],
    ["null", 'holds no list "upstreams"'],
    ['{"upstreams": {}}', 'holds no list "upstreams"'],
    [undefined, "cannot be read: ENOENT"],
  ])("is not begun with a file that cannot work: %j", (text, fault) => {
    if (text !== undefined) writeFileSync(ownFile, text);
    expect(() => keep(ownFile)).toThrow(StartError);
    expect(() => keep(ownFile)).toThrow(fault);
  });
});
