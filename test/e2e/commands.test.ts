import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { constants } from "node:os";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTestDatabase } from "../support/database.ts";
import { createDocumentedUsers } from "../support/database-users.ts";

/** Runs a process's entry file to its end. With a descriptor, its output goes there. */
async function run(entry: string, args: readonly string[], env: Record<string, string> = {}, stdout?: number) {
  const file = fileURLToPath(new URL(`../../${entry}`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ["ignore", stdout ?? "pipe", "pipe"],
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const [output, errors, exitCode] = await Promise.all([
    child.stdout ? text(child.stdout) : "",
    child.stderr ? text(child.stderr) : "",
    exited,
  ]);
  return { output, errors, exitCode };
}

const namespace = ["--user", "--map-root-user", "--pid", "--fork"];

describe.runIf(spawnSync("unshare", [...namespace, "true"]).status === 0)("as process 1, as in a container,", () => {
  /** Starts a process, and sends it the signal every 50 ms until it ends. */
  async function end(
    entry: string,
    command: string,
    signal: NodeJS.Signals,
    start: Promise<unknown> | undefined,
    env = {},
  ) {
    const child = spawn("unshare", [...namespace, process.execPath, entry, ...command.split(" ").filter(Boolean)], {
      env: { ...process.env, ...env },
    });
    const exited = once(child, "exit");
    const output = text(child.stdout);
    await start;
    const timer = setInterval(() => {
      try {
        const inner = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8");
        if (inner) process.kill(Number(inner), signal);
      } catch {
        // It has ended meanwhile.
      }
    }, 50);
    const [code, endedBy] = await exited;
    clearInterval(timer);
    // Before its first line runs, Node may let a signal end it.
    return { exitCode: endedBy ? 128 + constants.signals[endedBy as NodeJS.Signals] : code, output: await output };
  }

  it.each([
    ["SIGTERM", 143, "services/preset/main.ts", "migrate"],
    ["SIGINT", 130, "services/organization/main.ts", "bootstrap --organization Acme --admin-email a@example.com"],
  ] as const)("a command ends on %s with %i: %s %s", async (signal, exitCode, entry, command) => {
    const silentDatabase = createServer().listen(0, "127.0.0.1");
    await once(silentDatabase, "listening");
    const url = `mysql://root@127.0.0.1:${(silentDatabase.address() as AddressInfo).port}/setpoint`;
    const connected = once(silentDatabase, "connection");
    const env = { PRESET_DATABASE_URL: url, ORGANIZATION_DATABASE_URL: url };
    expect(await end(entry, command, signal, connected, env)).toEqual({ exitCode, output: "" });
    (await connected)[0].destroy();
    silentDatabase.close();
  });

  it.each(["gateway/main.ts", "services/preset/main.ts", "services/organization/main.ts"])(
    "a process that is still loading ends on SIGTERM: %s",
    async (entry) => {
      expect(await end(entry, "", "SIGTERM", undefined)).toEqual({ exitCode: 143, output: "" });
    },
  );
});

describe("a process with an invalid environment", () => {
  it.each([
    [
      "gateway/main.ts",
      { PORT: "x", LOG_LEVEL: "loud", PRESET_GRPC_TARGET: "http://preset:50051" },
      ["PORT", "LOG_LEVEL", "PRESET_GRPC_TARGET"],
    ],
    [
      "services/preset/main.ts",
      { PRESET_GRPC_PORT: "x" },
      ["PRESET_GRPC_PORT", "PRESET_DATABASE_URL", "ORGANIZATION_GRPC_TARGET"],
    ],
    ["services/organization/main.ts", {}, ["ORGANIZATION_DATABASE_URL", "SIGNING_KEY"]],
  ])("names every error, says what to do and exits with 78: %s", async (entry, env, names) => {
    const { errors, exitCode } = await run(entry, [], env);
    expect(exitCode).toBe(78);
    expect(errors).toContain('"npm start" runs everything');
    for (const name of names) expect(errors).toContain(`  - ${name} `);
    expect(errors).not.toContain("    at ");
  });

  it("reports that its HTTP port is in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const PORT = String((other.address() as AddressInfo).port);
    const { output, exitCode } = await run("gateway/main.ts", [], { HOST: "127.0.0.1", METRICS_PORT: "0", PORT });
    other.close();
    expect(exitCode).toBe(78);
    expect(output).toMatch(/"level":"fatal".*EADDRINUSE/);
  });

  it("reports that its gRPC port is in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { output, exitCode } = await run("services/preset/main.ts", [], {
      HOST: "127.0.0.1",
      PRESET_GRPC_PORT: String((other.address() as AddressInfo).port),
      PRESET_HTTP_PORT: "0",
      PRESET_DATABASE_URL: "mysql://nobody@127.0.0.1:1/none",
      ORGANIZATION_GRPC_TARGET: "127.0.0.1:1",
    });
    other.close();
    expect(exitCode).toBe(78);
    expect(output).toMatch(/"level":"fatal".*Cannot listen for gRPC.*EADDRINUSE/);
  });

  it("reports that the name to listen on does not resolve", async () => {
    const env = { HOST: "nowhere.invalid", METRICS_PORT: "0", PORT: "0" };
    const { output, exitCode } = await run("gateway/main.ts", [], env);
    expect(exitCode).toBe(78);
    expect(output).toMatch(/"level":"fatal".*nowhere\.invalid/);
  });
});

describe("a command", () => {
  it("that is unknown fails with a list of commands", async () => {
    const { errors, exitCode } = await run("services/organization/main.ts", ["boot"]);
    expect(exitCode).toBe(1);
    expect(errors).toMatch(
      /^There is no command "boot"; did you mean bootstrap\?\nUse one of serve, migrate, bootstrap/,
    );
  });

  it.each(["gateway/main.ts", "services/preset/main.ts", "services/organization/main.ts"])(
    "with a typo or an unknown flag fails with a clear message: %s",
    async (entry) => {
      const misspelt = await run(entry, ["server"]);
      expect(misspelt).toMatchObject({ exitCode: 1, errors: expect.stringContaining("did you mean serve?") });
      const flagged = await run(entry, ["serve", "--port", "1"]);
      expect(flagged).toEqual({ exitCode: 1, output: "", errors: "Unknown option '--port'\nUsage: serve\n" });
      expect(await run(entry, ["--help"])).toMatchObject({ exitCode: 0, errors: "" });
      expect(await run(entry, ["serve", "--help"])).toMatchObject({ exitCode: 0, errors: "" });
    },
  );

  it("to migrate reports what it does, and can be repeated", async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const env = { PRESET_DATABASE_URL: database.url };
    const first = await run("services/preset/main.ts", ["migrate"], env);
    expect(first).toMatchObject({
      exitCode: 0,
      output: expect.stringMatching(/applying 0001_.*\d migrations applied/s),
    });
    const second = await run("services/preset/main.ts", ["migrate"], env);
    expect(second).toMatchObject({ exitCode: 0, output: "the schema is current\n" });
  });

  it.runIf(process.platform === "linux")("completes its work but fails if its output cannot be written", async () => {
    const database = await createTestDatabase();
    const full = openSync("/dev/full", "w");
    onTestFinished(async () => {
      closeSync(full);
      await database.drop();
    });
    const entry = "services/organization/main.ts";
    const env = { ORGANIZATION_DATABASE_URL: database.url };
    const lost = { exitCode: 1, errors: expect.stringMatching(/^The command has done its work, but .*ENOSPC.*\n$/) };
    expect(await run(entry, ["migrate"], env, full)).toMatchObject(lost);
    expect(await run(entry, ["migrate"], env)).toMatchObject({ exitCode: 0, output: "the schema is current\n" });
    const bootstrap = ["bootstrap", "--organization", "Acme", "--admin-email", "ada@example.com"];
    expect(await run(entry, bootstrap, env, full)).toMatchObject(lost);
    const keys = await run(entry, ["list-keys", "--organization", "Acme"], env);
    expect(keys).toMatchObject({ exitCode: 0, output: expect.stringContaining("First API key") });
  });

  it("to migrate without the privileges, or on another's database, fails with a clear message", async () => {
    const database = await createTestDatabase();
    const users = await createDocumentedUsers({ preset: database, organization: database });
    onTestFinished(async () => {
      await users.drop();
      await database.drop();
    });
    const elsewhere = Object.assign(new URL(database.url), { pathname: `/${database.name}_not_there` });
    const urls = [users.urlFor("preset", database.url), users.urlFor("preset_migration", elsewhere.href)];
    for (const PRESET_DATABASE_URL of urls) {
      const { errors, exitCode } = await run("services/preset/main.ts", ["migrate"], { PRESET_DATABASE_URL });
      expect(exitCode).toBe(1);
      expect(errors).toMatch(/^The database refuses this to its user: .*denied.*\nGrant the right/);
      expect(errors).not.toContain("    at ");
    }
  });
});
