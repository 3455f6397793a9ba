import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { OpenRouter } from "@openrouter/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { Browser } from "../support/console.ts";
import { createTestDatabase } from "../support/database.ts";
import { freshName } from "../support/fresh-name.ts";
import {
  type Credentials,
  isRunning,
  type LocalSystem,
  type ProcessName,
  refusalOf,
  startLocalSystem,
} from "../support/local-system.ts";
import { type Answer, request } from "../support/rest.ts";
import { callStock, stockClient } from "../support/stock-grpc.ts";

const run = promisify(execFile);
const names: ProcessName[] = ["organization", "preset", "gateway", "echo", "database"];
const startTimeoutMs = 120_000;

let home: string;
let system: LocalSystem;
let credentials: Credentials;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "setpoint-start-"));
  system = await startLocalSystem(home, { NODE_COMPILE_CACHE: undefined });
  credentials = system.credentials;
}, startTimeoutMs);

afterAll(async () => {
  await system?.stop();
  rmSync(home, { recursive: true });
}, startTimeoutMs);

function create(slug: string, model = "m"): Promise<Answer> {
  const { base_url, api_key } = credentials;
  const body = { model, messages: [] };
  return request("POST", `${base_url}/api/v1/presets/${slug}/chat/completions`, { key: api_key, body });
}

function portOf(address: string): number {
  return Number(address.split(":")[1]);
}

describe("a first start", () => {
  it("reports each step and where everything is", () => {
    const output = system.output();
    for (const step of ["database", "schema", "signing key", "demo", "console", "processes"]) {
      expect(output).toMatch(new RegExp(`^  ${step} .*\\(\\d+\\.\\d s\\)$`, "m"));
    }
    expect(output).toContain(`Setpoint is ready at ${credentials.base_url}`);
    expect(output).toContain(credentials.preset_grpc);
  });

  it("prints a console sign-in link that works once", async () => {
    const [, ticket] = system.output().match(/^ {2}http:\S+\/console\/#ticket=(\S+)$/m) ?? [];
    const browser = new Browser(credentials.base_url);
    expect((await browser.signIn({ ticket })).json.data).toMatchObject({ key: { kind: "management" } });
    expect((await browser.session()).status).toBe(200);
    expect((await browser.signIn({ ticket })).status).toBe(401);
  });

  it("keeps its files in its home, readable only by the owner", () => {
    expect(statSync(home).mode & 0o077).toBe(0);
    expect(statSync(join(home, "credentials.json")).mode & 0o777).toBe(0o600);
    expect(readdirSync(home)).toEqual(expect.arrayContaining(["credentials.json", "data", "logs", "run.json"]));
  });

  it.runIf(spawnSync("curl", ["--version"]).status === 0)(
    "prints three commands that work as they stand, in order",
    async () => {
      const commands = system.output().match(/^ {2}curl(.*\\\n)*.*$/gm) ?? [];
      expect(commands).toHaveLength(3);
      const answers = [];
      for (const command of commands) answers.push(JSON.parse((await run("sh", ["-c", command])).stdout));
      const [created, listed, used] = answers;
      expect(created.data).toMatchObject({ slug: "my-first-preset", designated_version: { version: 1 } });
      expect(listed).toMatchObject({ total_count: 3, data: [{ role: "org:admin" }, {}, {}] });
      expect(used.choices[0].message.content.split("\n").sort()).toEqual([
        "model: echo/small",
        "system: Answer in one sentence.",
        "temperature: 0.2",
        "user: What is a preset?",
      ]);
    },
  );
});

describe("the running system", () => {
  it("serves the OpenRouter SDK", async () => {
    const serverURL = `${credentials.base_url}/api/v1`;
    const chatRequest = { model: "a", messages: [{ role: "system" as const, content: "Be brief." }] };
    const { presets } = new OpenRouter({ serverURL, apiKey: credentials.api_key });
    const { data } = await presets.createPresetsChatCompletions({ slug: freshName("sdk"), chatRequest });
    expect(data.designatedVersion).toMatchObject({ version: 1, config: { model: "a" }, systemPrompt: "Be brief." });
    const { organization } = new OpenRouter({ serverURL, apiKey: credentials.management_key });
    const { result } = await organization.listMembers();
    expect(result.data.map(({ firstName }) => firstName)).toEqual(expect.arrayContaining(["Grace", "Alan"]));
  });

  it("serves the openai client", async () => {
    const baseURL = `${credentials.base_url}/api/v1/presets/${freshName("openai")}`;
    const client = new OpenAI({ baseURL, apiKey: credentials.api_key });
    await client.chat.completions.create({ model: "a", messages: [{ role: "user", content: "Hello" }] });
    const answer = (await client.responses.create({ model: "b", input: "Hello" })) as unknown as Answer["json"];
    expect(answer.data.designated_version).toMatchObject({ version: 2, config: { model: "b" } });
  });

  it("serves internal callers over gRPC and Connect with a token for their key", async () => {
    const access = stockClient("setpoint.organization.v1.AccessService", portOf(credentials.organization_grpc));
    const { accessToken } = await callStock<{ accessToken: string }>(access, "ExchangeKey", {
      key: credentials.api_key,
    });
    const presets = stockClient("setpoint.preset.v1.PresetService", portOf(credentials.preset_grpc));
    const version = { slug: freshName("internal"), configJson: '{"model":"m"}' };
    await callStock(presets, "CreateVersion", version, { token: accessToken });
    const baseUrl = `http://${credentials.preset_http}`;
    const connect = createClient(PresetService, createConnectTransport({ baseUrl, httpVersion: "1.1" }));
    const { preset } = await connect.createVersion(version, { headers: { authorization: `Bearer ${accessToken}` } });
    expect(preset?.designatedVersion?.version).toBe(2);
    access.close();
    presets.close();
  });

  it("rejects a second start in the same home, and keeps running", async () => {
    const refusal = await refusalOf(startLocalSystem(home));
    expect(refusal).toMatchObject({ exitCode: 1, output: expect.stringContaining("already running") });
    expect(refusal.output).toContain(credentials.base_url);
    expect((await create("undisturbed")).status).toBe(200);
  });
});

describe("a start on a port that is in use", () => {
  it("fails with advice and leaves nothing running", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const PORT = String((taken.address() as { port: number }).port);
    const otherHome = mkdtempSync(join(tmpdir(), "setpoint-start-"));
    const refusal = await refusalOf(startLocalSystem(otherHome, { PORT }));
    expect(refusal).toMatchObject({ exitCode: 1, output: expect.stringContaining(`Port ${PORT} is in use`) });
    expect(refusal.output).toMatch(/PORT=\d+ npm start/);
    expect(refusal.output).not.toContain("    at ");
    expect(readdirSync(otherHome)).toEqual(["logs"]);
    rmSync(otherHome, { recursive: true });
    taken.close();
  });
});

describe("a start on a database that is out of reach", () => {
  it("says what it waits for while it waits, and then what to check", async () => {
    const otherHome = mkdtempSync(join(tmpdir(), "setpoint-start-"));
    // Nothing listens there.
    const [PRESET_DATABASE_URL, ORGANIZATION_DATABASE_URL] = [
      "mysql://root@127.0.0.1:9/p",
      "mysql://root@127.0.0.1:9/o",
    ];
    const databases = { PRESET_DATABASE_URL, ORGANIZATION_DATABASE_URL, MIGRATE_WAIT_SECONDS: "2" };
    const { exitCode, output } = await refusalOf(startLocalSystem(otherHome, databases));
    expect(exitCode).toBe(1);
    expect(output.match(/^ {2}waiting for the database, .*ECONNREFUSED/gm)).toHaveLength(1);
    expect(output).toContain("Check that it runs, and the database URL in the environment");
    rmSync(otherHome, { recursive: true });
  });
});

describe("a restart", () => {
  it(
    "stops everything cleanly, and keeps data, keys and compiled code",
    async () => {
      const slug = freshName("kept");
      const before = (await create(slug, "before")).json.data;
      const pids = names.map((name) => system.pidOf(name)).filter((pid) => pid !== undefined);
      expect(pids.length).toBeGreaterThanOrEqual(3);
      expect(await system.stop()).toBe(0);
      expect(system.output()).toMatch(/Stopped\.\n$/);
      expect(pids.filter(isRunning)).toEqual([]);
      await expect(fetch(`${credentials.base_url}/healthz`)).rejects.toThrow();
      expect(readdirSync(join(home, "compile-cache"))).not.toEqual([]);

      system = await startLocalSystem(home);
      const { api_key, management_key } = credentials;
      expect(system.credentials).toMatchObject({ api_key, management_key });
      credentials = system.credentials;
      const after = (await create(slug, "after")).json.data;
      expect(after).toMatchObject({ id: before.id, created_at: before.created_at, designated_version: { version: 2 } });
    },
    startTimeoutMs,
  );
});

describe("a start on other databases", () => {
  it(
    "says that the keys of this home do not work there, and makes new ones if they are removed",
    async () => {
      const databases = [await createTestDatabase(), await createTestDatabase()];
      const [PRESET_DATABASE_URL, ORGANIZATION_DATABASE_URL] = databases.map(({ url }) => url);
      const otherHome = mkdtempSync(join(tmpdir(), "setpoint-start-"));
      const file = join(otherHome, "credentials.json");
      cpSync(join(home, "credentials.json"), file);
      const start = () => startLocalSystem(otherHome, { PRESET_DATABASE_URL, ORGANIZATION_DATABASE_URL });

      let other = await start();
      expect(other.output()).toContain(`The management key in ${file} does not work`);
      expect(other.output()).not.toContain("this link signs in");
      await other.stop();

      rmSync(file);
      other = await start();
      expect(other.output()).toContain("this link signs in");
      const { base_url, api_key } = other.credentials;
      expect((await request("GET", `${base_url}/api/v1/key`, { key: api_key })).status).toBe(200);
      await other.stop();
      rmSync(otherHome, { recursive: true });
      for (const database of databases) await database.drop();
    },
    startTimeoutMs,
  );
});
