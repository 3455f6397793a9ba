import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DCLinter } from "dclint";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { runProgram } from "../../deploy/local/program.ts";
import { filesToCopy } from "../support/image.ts";
import { dev, getPods, mainContainerOf } from "../support/manifests.ts";
import { lookForEnvironmentFaults } from "../support/process-environment.ts";

interface ComposeService {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
  readonly network_mode?: string;
  readonly ports?: readonly string[];
  readonly deploy?: { readonly replicas: string };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

const file = fileURLToPath(new URL("../../deploy/compose.yaml", import.meta.url));
const services: Readonly<Record<string, ComposeService>> = parse(readFileSync(file, "utf8"), { merge: true }).services;
const get = (name: string) => services[name] as ComposeService;

describe("the compose file", () => {
  it("passes schema and lint checks", () => {
    const [result] = new DCLinter({ rules: {}, quiet: true, debug: false, exclude: [] }).lintFiles([file], false);
    const messages: readonly { readonly type: string }[] | undefined = result?.messages;
    expect(messages?.filter(({ type }) => type === "error")).toEqual([]);
  });

  it("uses the dev overlay's MySQL image and runs only programs that the image contains", () => {
    expect(get("mysql").image).toBe(mainContainerOf(getPods(dev, "mysql")).image);
    const programs = Object.values(services)
      .filter(({ command }) => command?.[0] === "node" && command[1] !== "--eval")
      .map(({ command }) => command[1]);
    expect(programs).toHaveLength(5);
    expect([...filesToCopy("services"), ...filesToCopy("gateway")]).toEqual(expect.arrayContaining(programs));
  });

  it.each(["preset-migrate", "organization-migrate", "preset", "organization", "gateway"])(
    "sets every variable that %s requires and none that it does not read",
    (name) => {
      const { command, environment = {} } = get(name);
      expect(lookForEnvironmentFaults(command, environment)).toEqual([]);
    },
  );

  it("starts each service once its dependencies are healthy or completed", () => {
    const conditions = Object.entries(services).map(([name, { depends_on = {} }]) => [
      name,
      Object.entries(depends_on).map(([other, { condition }]) => `${other} ${condition.replace("service_", "")}`),
    ]);
    expect(Object.fromEntries(conditions)).toEqual({
      mysql: [],
      "signing-key": [],
      "preset-migrate": ["mysql healthy"],
      "organization-migrate": ["mysql healthy"],
      organization: ["organization-migrate completed_successfully", "signing-key completed_successfully"],
      preset: ["preset-migrate completed_successfully"],
      "gateway-port": [],
      gateway: ["gateway-port started", "preset healthy", "organization healthy"],
    });
  });

  it("shares one port among several gateways and takes the number of processes from variables", () => {
    const { network_mode, environment, ports, deploy } = get("gateway");
    expect({ network_mode, ports }).toEqual({ network_mode: "service:gateway-port", ports: undefined });
    expect(get("gateway-port").ports).toEqual(["127.0.0.1:8080:8080"]);
    expect(environment).toMatchObject({ REUSE_PORT: "true", METRICS_PORT: "0" });
    expect(deploy?.replicas).toMatch(/^\$\{GATEWAY_PROCESSES:-1\}$/);
    expect(get("preset").deploy?.replicas).toMatch(/^\$\{PRESET_PROCESSES:-1\}$/);
  });

  it.each([
    ["organization", 8082],
    ["preset", 8081],
    ["gateway", 8080],
  ])("checks readiness of %s on port %i", (name, port) => {
    expect(get(name).healthcheck?.test.at(-1)).toContain(`http://127.0.0.1:${port}/readyz`);
  });

  it("has health checks that Podman's Docker API, which splits words at spaces, leaves as they are", () => {
    const tests = Object.values(services).flatMap(({ healthcheck }) => (healthcheck ? [healthcheck.test] : []));
    expect(tests).toHaveLength(4);
    expect(tests.map((test) => test.join(" ").split(" "))).toEqual(tests);
  });

  it("gives streams at least two minutes to finish before the gateway is killed", () => {
    const { environment = {}, stop_grace_period = "" } = get("gateway");
    const drainSeconds = Number(environment.DRAIN_TIMEOUT_MS) / 1000;
    expect(drainSeconds).toBeGreaterThanOrEqual(120);
    expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThanOrEqual(drainSeconds + 5);
  });

  it("mounts the upstream table and credentials at the paths of the examples", () => {
    expect(get("gateway").volumes).toEqual([
      "./upstreams:/etc/setpoint/upstreams:ro",
      "./upstreams/credentials:/etc/setpoint/upstream-credentials:ro",
    ]);
  });

  it("creates the signing key once, even if an earlier attempt was interrupted", async () => {
    const folder = mkdtempSync(join(tmpdir(), "setpoint-compose-"));
    try {
      const pem = join(folder, "signing-key.pem");
      // Only root may change a file's owner; here it only matters that the key is created.
      const script = (get("signing-key").command[2] ?? "")
        .replace(/"\/etc\/[^"]+"/, JSON.stringify(pem))
        .replace("10001, 10001", `${process.getuid?.()}, ${process.getgid?.()}`);
      const killed = `require("node:fs").chownSync = () => process.kill(process.pid, "SIGKILL");\n${script}`;
      await expect(runProgram(process.execPath, ["--eval", killed])).rejects.toThrow("SIGKILL");
      expect(existsSync(pem)).toBe(false);
      await runProgram(process.execPath, ["--eval", script]);
      const made = readFileSync(pem, "utf8");
      await runProgram(process.execPath, ["--eval", script]);
      expect(made).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
      expect(readFileSync(pem, "utf8")).toBe(made);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
