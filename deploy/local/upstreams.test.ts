import { pbkdf2 } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StartError } from "./start-error.ts";
import { syncUpstreams } from "./upstreams.ts";

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

async function keep(environment: NodeJS.ProcessEnv = {}): Promise<void> {
  closers.push(await syncUpstreams({ file, environment, echoPort: 1234, say: (line) => said.push(line) }));
}

function upstream(name: string, members: object = {}): object {
  return { name, base_url: "https://models.example", dialects: ["messages"], models: ["*"], ...members };
}

function writtenNames(): string[] {
  return JSON.parse(readFileSync(file, "utf8")).upstreams.map(({ name }: { name: string }) => name);
}

function writeOwn(...names: string[]): void {
  writeFileSync(`${ownFile}.new`, JSON.stringify({ upstreams: names.map((name) => upstream(name)) }));
  renameSync(`${ownFile}.new`, ownFile);
}

describe("the upstream table of npm start", () => {
  it("contains the echo upstream in every dialect, readable only by the owner", async () => {
    await keep();
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      upstreams: [
        {
          name: "echo",
          base_url: "http://127.0.0.1:1234/v1",
          dialects: ["chat/completions", "messages", "responses"],
          models: ["echo/small", "echo/slow", "echo/*"],
        },
      ],
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("lists the user's own upstreams last, because their patterns may match everything", async () => {
    writeOwn("openai", "other");
    await keep({ UPSTREAMS_FILE: ownFile });
    expect(writtenNames()).toEqual(["echo", "openai", "other"]);
  });

  it("lets the user's own table use the name echo", async () => {
    writeOwn("echo");
    await keep({ UPSTREAMS_FILE: ownFile });
    expect(JSON.parse(readFileSync(file, "utf8")).upstreams).toEqual([upstream("echo")]);
  });

  it("follows the user's own file, even if it is replaced", async () => {
    writeOwn("one");
    await keep({ UPSTREAMS_FILE: ownFile });
    writeOwn("one", "two");
    await expect.poll(writtenNames).toEqual(["echo", "one", "two"]);
    writeFileSync(ownFile, "{");
    await expect.poll(() => said).toEqual([expect.stringMatching(/own\.json cannot be used: .* last good one/)]);
    expect(writtenNames()).toEqual(["echo", "one", "two"]);
  });

  it("reports that a change of the user's file cannot be written, and continues", async () => {
    const gone = join(folder, "gone");
    mkdirSync(gone);
    file = join(gone, "upstreams.json");
    writeOwn("one");
    await keep({ UPSTREAMS_FILE: ownFile });
    rmSync(gone, { recursive: true });
    writeOwn("one", "two");
    await expect.poll(() => said).toEqual([expect.stringContaining(`${file} cannot be written: ENOENT`)]);
    mkdirSync(gone);
    writeOwn("one", "two", "three");
    await expect.poll(writtenNames).toEqual(["echo", "one", "two", "three"]);
  });

  it("uses a table once the file of its credential is there, and says so", async () => {
    const secret = join(folder, "secret");
    writeOwn("one");
    await keep({ UPSTREAMS_FILE: ownFile });
    const table = { upstreams: [upstream("one"), upstream("two", { credential: { file: secret } })] };
    writeFileSync(ownFile, JSON.stringify(table));
    await expect.poll(() => said).toEqual([expect.stringMatching(/credential of two cannot be read: .*secret/)]);
    writeFileSync(secret, "sk-secret");
    await expect.poll(writtenNames).toEqual(["echo", "one", "two"]);
    await expect.poll(() => said.slice(1)).toEqual([expect.stringContaining(`${ownFile} is used again`)]);
  });

  it("reports that the user's file cannot be watched, and continues", async () => {
    const link = join(folder, "link");
    symlinkSync(ownFile, ownFile);
    await expect(keep({ UPSTREAMS_FILE: ownFile })).rejects.toThrow(StartError);
    writeOwn("one");
    await keep({ UPSTREAMS_FILE: ownFile });
    symlinkSync(ownFile, link);
    renameSync(link, ownFile);
    await expect.poll(() => said).toEqual([expect.stringMatching(/own\.json cannot be used: ELOOP/)]);
    writeOwn("one", "two");
    await expect.poll(writtenNames).toEqual(["echo", "one", "two"]);
  });

  it("misses no change made right after watching starts, even on a busy machine", async () => {
    let isOver = false;
    // File system operations have to wait in the thread pool behind these.
    const keepBusy = (): void => pbkdf2("", "", 20_000, 32, "sha256", () => isOver || keepBusy());
    for (let n = 0; n < 4; n += 1) keepBusy();
    closers.push(() => {
      isOver = true;
    });
    for (let n = 0; n < 8; n += 1) {
      writeOwn("one");
      await keep({ UPSTREAMS_FILE: ownFile });
      writeOwn("one", "two");
      await expect.poll(writtenNames).toEqual(["echo", "one", "two"]);
      closers.pop()?.();
    }
  });

  it.each([
    ["{", "JSON"],
    ["null", "object"],
    ['{"upstreams": {}}', "upstreams"],
    [JSON.stringify({ upstreams: [upstream("a"), upstream("b", { dialects: [] })] }), "upstreams[1].dialects"],
    [
      JSON.stringify({ upstreams: [upstream("a", { credential: { env: "NO_KEY" } })] }),
      "of a is not there: the variable NO_KEY",
    ],
    [undefined, "ENOENT"],
  ])("prevents the start if the file is invalid: %j", async (text, fault) => {
    if (text !== undefined) writeFileSync(ownFile, text);
    const refusal = await keep({ UPSTREAMS_FILE: ownFile }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StartError);
    expect((refusal as Error).message).toContain(`UPSTREAMS_FILE ${ownFile} cannot be used: `);
    expect((refusal as Error).message).toContain(fault);
  });

  it("uses credentials from the environment, and stores none", async () => {
    writeFileSync(ownFile, JSON.stringify({ upstreams: [upstream("a", { credential: { env: "THE_KEY" } })] }));
    await keep({ UPSTREAMS_FILE: ownFile, THE_KEY: "sk-secret" });
    expect(readFileSync(file, "utf8")).not.toContain("sk-secret");
  });
});
