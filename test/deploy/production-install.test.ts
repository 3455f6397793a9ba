import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BackgroundProcess, startInBackground } from "../../deploy/local/background-process.ts";
import { choosePorts, type Ports } from "../../deploy/local/ports.ts";
import { runProgram } from "../../deploy/local/program.ts";
import { lookForHttpFault } from "../../deploy/local/readiness.ts";
import { Health } from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { openPool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { openChannel } from "../../services/platform/rpc/channel.ts";
import { grpcClient } from "../../services/platform/rpc/grpc-client.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { createAuthority } from "../support/certificates.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { type DatabaseProxy, openDatabaseProxy } from "../support/database-proxy.ts";
import { createDocumentedUsers, type DatabaseUsers } from "../support/database-users.ts";
import { copySources, readStages } from "../support/image.ts";
import { freePorts } from "../support/local-system.ts";
import {
  type Container,
  dev,
  environmentOf,
  getPods,
  mainContainerOf,
  production,
  type Rendering,
} from "../support/manifests.ts";
import { newSigningKeyPem } from "../support/stack.ts";

/** The folder that is `/app` in the image, built by the instructions of the Dockerfile. */
const app = mkdtempSync(join(tmpdir(), "setpoint-image-"));
const signingKeyFile = join(app, "..", `${app.split("/").at(-1)}.pem`);
/** For this machine, which stands for all the host names here. */
const certificates = `${app}-grpc-tls`;
const upstreamsFile = fileURLToPath(new URL("../../deploy/kubernetes/base/upstreams.json", import.meta.url));
let ports: Ports;
let presets: TestDatabase;
let organizations: TestDatabase;
/** Between the processes and the two databases. */
let proxies: DatabaseProxy[] = [];
/** With exactly the documented privileges: pods may not change the schema, migrations may. */
let users: DatabaseUsers;
let apiKey: string;
const slow = { timeout: 60_000, interval: 200 };
const running: BackgroundProcess[] = [];

beforeAll(async () => {
  const stages = readStages();
  const [dependencies = []] = stages;
  const final = stages.at(-1) ?? [];
  copySources(dependencies, app);
  const installs = dependencies.filter(({ keyword }) => keyword === "RUN").map(({ text }) => text);
  // It runs here, outside of any container: so only what is known to stay in its folder.
  expect(installs).toEqual([expect.stringMatching(/^npm ci --omit=dev [a-z -]+ && rm -r( node_modules\/[a-z-]+)+$/)]);
  const env = { ...process.env, npm_config_prefer_offline: "true", npm_config_update_notifier: "false" };
  await runProgram("sh", ["-c", `cd '${app}' && ${installs[0]}`], { env });
  copySources(final, app);
  createAuthority("Production").issue(certificates);
  writeFileSync(signingKeyFile, newSigningKeyPem(), { mode: 0o600 });
  ports = await choosePorts(await freePorts());
  [presets, organizations] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  proxies = await Promise.all([presets, organizations].map(({ url }) => openDatabaseProxy(url)));
  users = await createDocumentedUsers({ preset: presets, organization: organizations });
}, 120_000);

afterAll(async () => {
  await Promise.all(running.map((each) => each.stop()));
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await users?.drop();
  await Promise.all([presets?.drop(), organizations?.drop()]);
  rmSync(app, { recursive: true, force: true });
  rmSync(signingKeyFile, { force: true });
  rmSync(certificates, { recursive: true, force: true });
});

describe("the production install", () => {
  it("has all production dependencies, no development ones and no second Node", () => {
    const { packages } = JSON.parse(readFileSync(join(app, "package-lock.json"), "utf8"));
    const isWanted = (path: string) => !packages[path]?.dev && !/^node_modules\/node(-bin-setup)?$/.test(path);
    const installed = listPackages("node_modules");
    expect(installed.filter((path) => !isWanted(path))).toEqual([]);
    const direct = Object.keys(packages[""].dependencies).map((name) => `node_modules/${name}`);
    expect(installed).toEqual(expect.arrayContaining(direct.filter(isWanted)));
  });

  it("starts without databases: processes stay alive, and become ready once the Jobs have migrated", async () => {
    await Promise.all(proxies.map((proxy) => proxy.refuse()));
    const names = ["organization", "preset", "gateway"];
    for (const name of names) running.push(start(name));
    // A Job may be repeated, and several may run at once.
    const migrations = ["preset", "organization"].map((name) =>
      mainContainerOf(getPods(production, `${name}-migration`)),
    );
    const jobs = Promise.all([...migrations, ...migrations].map((container) => run(production, container)));
    const faults = (kinds: readonly ("startupProbe" | "livenessProbe" | "readinessProbe")[]) =>
      Promise.all(names.flatMap((name) => kinds.map((kind) => lookForProbeFault(name, containerOf(name)[kind]))));
    await expect.poll(() => faults(["startupProbe", "livenessProbe"]), slow).toEqual(Array(6).fill(undefined));
    expect(await faults(["readinessProbe"])).toEqual(names.map(() => expect.any(String)));

    await Promise.all(proxies.map((proxy) => proxy.heal()));
    const printed = await jobs;
    expect(printed.filter((text) => text.includes("migrations applied"))).toHaveLength(2);
    expect(printed.filter((text) => text.includes("the schema is current"))).toHaveLength(2);
    await expect.poll(() => faults(["readinessProbe"]), slow).toEqual(Array(3).fill(undefined));
  });

  it("runs with database users that cannot change the schema", async () => {
    const pool = openPool(users.urlFor("preset", proxies[0]?.url ?? ""), 1);
    const [grants] = await pool.query<RowDataPacket[]>("SHOW GRANTS");
    await pool.end();
    const ofTables = grants.map((row) => String(Object.values(row)[0])).filter((grant) => grant.includes(presets.name));
    expect(ofTables).toEqual([expect.stringMatching(/^GRANT SELECT, INSERT, UPDATE, DELETE ON /)]);
  });

  it("creates working first keys with the bootstrap Job's command", async () => {
    const container = mainContainerOf(getPods(dev, "bootstrap"));
    apiKey = JSON.parse(await run(dev, container)).api_key;
    const answer = await create("first");
    expect([answer.status, await answer.json()]).toMatchObject([200, { data: { slug: "first" } }]);
  });

  it("keeps serving after SIGTERM while not ready, shrinks its pools, then exits with 0", async () => {
    await Promise.all(Array.from({ length: 50 }, (_, n) => create(`crowd-${n}`)));
    for (const { pid } of running) process.kill(pid, "SIGTERM");
    const probe = { httpGet: { path: "/readyz", port: "http" } };
    for (const name of ["organization", "preset", "gateway"]) {
      await expect.poll(() => lookForProbeFault(name, probe)).toContain("draining");
    }
    expect((await create("late")).status).toBe(200);
    await expect.poll(() => connectionsTo(presets)).toBeLessThanOrEqual(3);
    await expect.poll(() => connectionsTo(organizations)).toBeLessThanOrEqual(2);
    expect((await create("last")).status).toBe(200);
    await Promise.all(running.map((each) => each.stop()));
    const reasons = await Promise.all(running.map(async (each) => (await each.exited).reason));
    expect(reasons).toEqual(["exit code 0", "exit code 0", "exit code 0"]);
  });

  it("creates a signing key with the command of the dev overlay's init container", async () => {
    const container = initContainersOf(dev, "organization").find(({ name }) => name === "make-signing-key");
    const file = join(app, "made.pem");
    const [script = ""] = container?.command?.slice(2) ?? [];
    await runProgram(process.execPath, ["--eval", script.replace(/"\/etc\/[^"]+"/, JSON.stringify(file))]);
    expect(readFileSync(file, "utf8")).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  });
});

function containerOf(name: string): Container {
  return mainContainerOf(getPods(production, name));
}

/** Runs a process as its Deployment does. */
function start(name: string): BackgroundProcess {
  const container = containerOf(name);
  const [program = "", ...args] = container.command?.slice(1) ?? [];
  return startInBackground({
    command: process.execPath,
    args: [join(app, program), ...args],
    env: environmentHere(production, container),
    logFile: join(app, `${name}.log`),
  });
}

function create(slug: string): Promise<Response> {
  const url = `http://127.0.0.1:${ports.PORT}/api/v1/presets/${slug}/chat/completions`;
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  return fetch(url, { method: "POST", headers, body: '{"model":"m","messages":[]}' });
}

async function connectionsTo({ name, url }: TestDatabase): Promise<number> {
  const pool = openPool(url, 1);
  const [rows] = await pool.query<RowDataPacket[]>(
    "SELECT COUNT(*) AS count FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID()",
    [name],
  );
  await pool.end();
  return Number(rows[0]?.count);
}

function listPackages(folder: string): string[] {
  if (!existsSync(join(app, folder))) return [];
  return readdirSync(join(app, folder))
    .filter((name) => !name.startsWith("."))
    .map((name) => `${folder}/${name}`)
    .flatMap((path) => {
      const isScope = path.split("/").at(-1)?.startsWith("@") ?? false;
      return isScope ? listPackages(path) : [path, ...listPackages(`${path}/node_modules`)];
    });
}

function initContainersOf(rendering: Rendering, name: string): Container[] {
  return getPods(rendering, name).spec.initContainers ?? [];
}

function run(rendering: Rendering, container: Container): Promise<string> {
  const [program = "", ...args] = [...(container.command ?? []).slice(1), ...(container.args ?? [])];
  return runProgram(process.execPath, [join(app, program), ...args], { env: environmentHere(rendering, container) });
}

/** The variables of the image and of the manifests, with the addresses of this machine in them instead of those of a cluster. */
function environmentHere(rendering: Rendering, container: Container): NodeJS.ProcessEnv {
  const here: Readonly<Record<string, string>> = {
    "preset-headless:50051": `127.0.0.1:${ports.PRESET_GRPC_PORT}`,
    "organization-headless:50052": `127.0.0.1:${ports.ORGANIZATION_GRPC_PORT}`,
    "/etc/setpoint/signing-key/signing-key.pem": signingKeyFile,
    "/etc/setpoint/upstreams/upstreams.json": upstreamsFile,
    "/etc/setpoint/grpc-tls": certificates,
  };
  const entries = Object.entries(environmentOf(rendering, container)).map(([name, value]) => {
    if (name.endsWith("DATABASE_URL")) {
      const url = proxies[name.startsWith("PRESET") ? 0 : 1]?.url ?? "";
      return [name, users.urlFor(new URL(value).username, url)];
    }
    // Pods in a cluster have stable names; these processes have none.
    if (name === "SHUTDOWN_DELAY_MS") return [name, "12000"];
    return [name, Object.entries(here).reduce((text, [there, address]) => text.replace(there, address), value)];
  });
  const portTexts = Object.entries(ports).map(([name, port]) => [name, String(port)]);
  const fromImage = (readStages().at(-1) ?? [])
    .filter(({ keyword }) => keyword === "ENV")
    .flatMap(({ text }) => text.replaceAll("=/app/", `=${app}/`).split(" "))
    .map((pair) => pair.split(/=(.*)/));
  return { ...Object.fromEntries([...fromImage, ...entries, ...portTexts]), HOST: "127.0.0.1" };
}

/** The manifests' ports, by the variable that changes them here. */
const portVariables: Readonly<Record<string, keyof Ports>> = {
  "gateway http": "PORT",
  "preset http": "PRESET_HTTP_PORT",
  "preset 50051": "PRESET_GRPC_PORT",
  "organization http": "ORGANIZATION_HTTP_PORT",
  "organization 50052": "ORGANIZATION_GRPC_PORT",
};

async function lookForProbeFault(name: string, probe: Container["readinessProbe"]): Promise<string | undefined> {
  const port = ports[portVariables[`${name} ${(probe?.httpGet ?? probe?.grpc)?.port}`] as keyof Ports];
  if (probe?.httpGet) return lookForHttpFault(`http://127.0.0.1:${port}${probe.httpGet.path}`);
  const channel = openChannel(`127.0.0.1:${port}`, undefined);
  try {
    const options = { requestId: "probe", deadlineMs: monotonicMs() + 1_000 };
    const { status } = await grpcClient(Health, channel).check({}, options);
    return status === 1 ? undefined : `gRPC health says ${status}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    channel.close();
  }
}
