import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { isRunning, type LocalSystem, startLocalSystem } from "../support/local-system.ts";
import { findPrometheusForTests, query } from "../support/prometheus.ts";
import { request } from "../support/rest.ts";

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

interface Rule {
  readonly name: string;
  readonly health: string;
  readonly state: string;
}

interface Rules {
  readonly data: {
    readonly groups: readonly [{ readonly rules: readonly Rule[] }];
  };
}

const prometheus = await findPrometheusForTests();
const startTimeoutMs = 120_000;
const home = mkdtempSync(join(tmpdir(), "setpoint-observe-"));
let system: LocalSystem;
let url: string;

/** Panels of problems that do not occur here; that their metrics exist is tested elsewhere. */
const quiet = ["Retries, fallbacks, aborted", "Statements that failed"];

/** Alerts that need ten minutes of slowness. The machine may be slow for a moment, because other tests run on it. */
const ofSpeed = ["SetpointSlow", "SetpointDatabaseSlow", "SetpointShortOfCpu"];

/** Some of everything that a dashboard shows. */
async function makeTraffic(credentials: LocalSystem["credentials"]): Promise<void> {
  const { base_url, api_key, management_key } = credentials;
  const rest = (method: string, path: string, key: string, body?: unknown) =>
    request(method, `${base_url}/api/v1${path}`, { key, body });
  const preset = { model: "echo/small", messages: [] };
  const create = () => rest("POST", "/presets/watched/chat/completions", api_key, preset);
  expect((await create()).status).toBe(200);
  await Promise.all(Array.from({ length: 8 }, create));
  await rest("GET", "/presets/watched", api_key);
  await rest("GET", "/presets", api_key);
  await rest("GET", "/presets/missing", api_key);
  await rest("GET", "/organization/members", management_key);
  const used = { model: "@preset/watched", messages: [{ role: "user", content: "Hello" }] };
  expect((await rest("POST", "/chat/completions", api_key, used)).status).toBe(200);
  const headers = { authorization: `Bearer ${api_key}`, "content-type": "application/json" };
  const streamed = { method: "POST", headers, body: JSON.stringify({ ...used, stream: true }) };
  expect(await (await fetch(`${base_url}/api/v1/chat/completions`, streamed)).text()).toContain("[DONE]");
  await failPartOfBatch(credentials);
}

/** As a batch of our own: whether requests through the gateway are batched depends on their timing. */
async function failPartOfBatch({ organization_http, preset_http, api_key: key }: LocalSystem["credentials"]) {
  const transportTo = (address: string) => createConnectTransport({ baseUrl: `http://${address}`, httpVersion: "1.1" });
  const { accessToken } = await createClient(AccessService, transportTo(organization_http)).exchangeKey({ key });
  const headers = { authorization: `Bearer ${accessToken}` };
  const presets = createClient(PresetService, transportTo(preset_http));
  const { outcomes } = await presets.batchGetPresets({ slugs: ["watched", "missing"] }, { headers });
  expect(outcomes.map(({ outcome }) => outcome.case)).toEqual(["preset", "error"]);
}

describe.runIf(prometheus)("npm start -- --observe", () => {
  beforeAll(async () => {
    system = await startLocalSystem(home, {}, { args: ["--observe"] });
    url = system.output().match(/^ {2}prometheus +(http:\S+) /m)?.[1] ?? "";
    // A counter that first appears between two scrapes has no rate before the third.
    await makeTraffic(system.credentials);
    await scraped();
    await makeTraffic(system.credentials);
    await scraped();
  }, startTimeoutMs);

  afterAll(async () => {
    await system?.stop();
    rmSync(home, { recursive: true });
  }, startTimeoutMs);

  /** Waits until every process has been scraped from now on, successfully. */
  async function scraped(): Promise<void> {
    const since = Date.now() / 1000;
    await vi.waitFor(
      async () => {
        const times = (await query(url, 'timestamp(up{job="setpoint"}) and up == 1')).map(({ value }) =>
          Number(value[1]),
        );
        expect(times.filter((time) => time > since)).toHaveLength(3);
      },
      { timeout: 60_000, interval: 200 },
    );
  }

  it("scrapes every process under its pod name", async () => {
    const up = await query(url, 'up{job="setpoint"} == 1');
    expect(up.map(({ metric }) => metric.pod).sort()).toEqual(["gateway", "organization", "preset"]);
  });

  describe.each(["overview", "preset"])("the dashboard %s", (name) => {
    const { panels }: Dashboard = JSON.parse(readFileSync(`deploy/dashboards/${name}.json`, "utf8"));

    it.each(panels)("has data: $title", async ({ title, targets }) => {
      for (const { expr } of targets) {
        const asked = expr.replaceAll("$namespace", "local").replaceAll("$__rate_interval", "5m");
        const series = await query(url, asked);
        if (!quiet.includes(title)) expect(series, asked).not.toEqual([]);
      }
    });
  });

  it(
    "loads every alert, can evaluate each, and none fires",
    async () => {
      await vi.waitFor(
        async () => {
          const { data } = (await (await fetch(`${url}/api/v1/rules`)).json()) as Rules;
          const { rules } = data.groups[0];
          expect(rules.length).toBeGreaterThan(10);
          expect(rules.filter(({ health }) => health !== "ok")).toEqual([]);
          const isCalm = ({ name, state }: Rule) =>
            state === "inactive" || (state === "pending" && ofSpeed.includes(name));
          expect(rules.filter((rule) => !isCalm(rule))).toEqual([]);
        },
        { timeout: 60_000, interval: 500 },
      );
    },
    startTimeoutMs,
  );

  it("has alert rules that promtool accepts", () => {
    const checked = execFileSync(prometheus?.promtool as string, [
      "check",
      "rules",
      join(home, "prometheus/alerts.yml"),
    ]);
    expect(checked.toString()).toMatch(/SUCCESS: \d+ rules found/);
  });

  it("has alerts that fire when they should, and only then", () => {
    const file = join(home, "prometheus/situations.yml");
    const situations = parse(readFileSync("test/e2e/alerts.yaml", "utf8"));
    // JSON is valid YAML.
    writeFileSync(file, JSON.stringify({ rule_files: ["alerts.yml"], ...situations }));
    const tested = spawnSync(prometheus?.promtool as string, ["test", "rules", file], { encoding: "utf8" });
    expect(tested.stdout + tested.stderr).toContain("SUCCESS");
  });

  it("can evaluate every query of the operations guide", async () => {
    const [, section = ""] = readFileSync("docs/operations.md", "utf8").split("## What to watch");
    const rows = section.split("**Dashboards**")[0]?.match(/^\| [^|]+\? \| .+ \|$/gm) ?? [];
    expect(rows.length).toBeGreaterThan(8);
    const questions = rows.flatMap((row) => [...row.replaceAll("\\|", "|").matchAll(/`([^`]*[_(][^`]*)`/g)]);
    for (const [, expr = ""] of questions) if (!/^[A-Z_]+$|^[a-z_]+$/.test(expr)) await query(url, expr);
  });

  it(
    "restarts Prometheus if it dies, and leaves nothing running when stopped",
    async () => {
      const pid = system.pidOf("prometheus") as number;
      process.kill(pid, "SIGKILL");
      await vi.waitFor(async () => expect(await query(url, "up")).not.toEqual([]), { timeout: 30_000, interval: 200 });
      const next = system.pidOf("prometheus");
      expect(next).not.toBe(pid);
      expect(await system.stop()).toBe(0);
      expect(isRunning(next)).toBe(false);
    },
    startTimeoutMs,
  );
});
