import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openPool, type Pool } from "../../services/platform/mysql/pool.ts";
import type { TlsMode } from "../../services/platform/rpc/tls.ts";
import { type Authority, createAuthority } from "../support/certificates.ts";
import type { TestDatabase } from "../support/database.ts";
import { Deployment } from "../support/deployment.ts";
import { createOrganizationDatabase } from "../support/organization-database.ts";
import { createPresetDatabase } from "../support/preset-database.ts";
import { request } from "../support/rest.ts";
import { newSigningKeyPem } from "../support/stack.ts";
import { type Tenant, Tenants } from "../support/tenants.ts";

const folder = mkdtempSync(join(tmpdir(), "setpoint-tls-transition-"));
let databases: readonly TestDatabase[] = [];
let pool: Pool;
let tenant: Tenant;
let organization: Deployment;
let preset: Deployment;
let gateway: Deployment;

beforeAll(async () => {
  databases = await Promise.all([createPresetDatabase(), createOrganizationDatabase()]);
  pool = openPool(databases[1]?.url ?? "", 1);
  tenant = await new Tenants(pool).createOrganization();
  const create = (name: string, entryFile: string, ports: [string, string]) =>
    Deployment.create({ entryFile, ports, logFile: join(folder, `${name}.log`) });
  organization = await create("organization", "services/organization/main.ts", [
    "ORGANIZATION_GRPC_PORT",
    "ORGANIZATION_HTTP_PORT",
  ]);
  preset = await create("preset", "services/preset/main.ts", ["PRESET_GRPC_PORT", "PRESET_HTTP_PORT"]);
  gateway = await create("gateway", "gateway/main.ts", ["PORT", "METRICS_PORT"]);
});

afterAll(async () => {
  await Promise.all([organization, preset, gateway].map((each) => each?.stop()));
  await pool?.end();
  await Promise.all(databases.map((database) => database.drop()));
  rmSync(folder, { recursive: true });
});

interface Step {
  readonly title: string;
  readonly authority?: Authority;
  readonly mode?: TlsMode;
}

const first = createAuthority("First");
const second = createAuthority("Second");
const at = (mode: TlsMode, authority: Authority): Step => ({
  title: `${mode}, ${authority === first ? "first" : "second"} authority`,
  authority,
  mode,
});
/** From TLS back to clear text, and to TLS of another authority, as docs/operations.md has it: every step, both ways. */
const beginning = at("strict", first);
const steps: readonly Step[] = [
  at("call", first),
  at("accept", first),
  { title: "clear text" },
  at("accept", second),
  at("call", second),
  at("strict", second),
];

const signingKey = newSigningKeyPem();

function environmentAt({ authority, mode, title }: Step): NodeJS.ProcessEnv {
  const files = authority?.issue(join(folder, title));
  return {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    HOST: "127.0.0.1",
    PRESET_DATABASE_URL: databases[0]?.url,
    ORGANIZATION_DATABASE_URL: databases[1]?.url,
    PRESET_GRPC_TARGET: preset.target,
    ORGANIZATION_GRPC_TARGET: organization.target,
    SIGNING_KEY: signingKey,
    // Keys are exchanged all the time.
    ACCESS_TOKEN_TTL_SECONDS: "10",
    // Longer than a client needs to connect to an address that had no listener before.
    SHUTDOWN_DELAY_MS: "6000",
    DRAIN_TIMEOUT_MS: "5000",
    ...(files && {
      GRPC_TLS_MODE: mode,
      GRPC_TLS_CERT_FILE: files.certificateFile,
      GRPC_TLS_KEY_FILE: files.privateKeyFile,
      GRPC_TLS_CA_FILE: files.caCertificateFile,
    }),
  };
}

/** All three at once, like one `kubectl apply`. */
async function rollTo(step: Step): Promise<void> {
  const environment = environmentAt(step);
  await Promise.all([organization, preset, gateway].map((each) => each.roll(environment)));
}

it("moves from TLS to plaintext and to TLS of another CA, pod by pod, without a failed request", async () => {
  await rollTo(beginning);
  const failures: string[] = [];
  let { title } = beginning;
  let answered = 0;
  let isOver = false;
  const call = async (n: number): Promise<void> => {
    const ports = gateway.readyPorts;
    const base = `http://127.0.0.1:${ports[n % ports.length]}/api/v1`;
    const answer = await [
      () =>
        request("POST", `${base}/presets/shared/messages`, { key: tenant.apiKey, body: { model: "m", messages: [] } }),
      () => request("GET", `${base}/presets/shared`, { key: tenant.apiKey }),
      () => request("GET", `${base}/organization/members`, { key: tenant.managementKey }),
    ][n % 3]?.();
    if (answer?.status !== 200) failures.push(`${title}: ${answer?.status} ${answer?.text}`);
    else answered += 1;
  };
  await call(0);
  const callers = Array.from({ length: 4 }, async (_, caller) => {
    for (let n = caller; !isOver; n++) {
      await call(n).catch((error: Error) => failures.push(`${title}: ${error.message} ${error.cause}`));
    }
  });
  for (const step of steps) {
    title = step.title;
    const before = answered;
    await rollTo(step);
    expect(answered - before, title).toBeGreaterThan(20);
    expect(failures).toEqual([]);
  }
  isOver = true;
  await Promise.all(callers);

  expect(failures).toEqual([]);
  const deployments = [organization, preset, gateway];
  await Promise.all(deployments.map((each) => each.stop()));
  expect(new Set(deployments.flatMap(({ ends }) => ends))).toEqual(new Set(["exit code 0"]));
}, 300_000);
