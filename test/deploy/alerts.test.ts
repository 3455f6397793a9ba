import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callNames } from "../../gateway/inference/calls.ts";
import { getPods, matches, objectsOf, podsOf, portsOf, productionWith, type Selector } from "../support/manifests.ts";
import { type Stack, startStack } from "../support/stack.ts";

interface Rules {
  readonly spec: {
    readonly groups: readonly [{ readonly rules: readonly { readonly alert: string; readonly expr: string }[] }];
  };
}

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number };
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

interface PodMonitor {
  readonly spec: { readonly selector: Selector; readonly podMetricsEndpoints: readonly { readonly port: string }[] };
}

const rendering = productionWith("prometheus-operator");
const alerts = objectsOf<Rules>(rendering, "PrometheusRule")[0]?.spec.groups[0].rules ?? [];
const operations = readFileSync("docs/operations.md", "utf8");
let stack: Stack;
/** The metrics of all three processes, as scraped by Prometheus. */
let page: string;

beforeAll(async () => {
  stack = await startStack();
  await stack.create("watched");
  await stack.request("GET", "/presets/watched", { key: stack.apiKey });
  await stack.request("POST", "/chat/completions", { key: stack.apiKey, body: { model: "m", messages: [] } });
  const ports = [stack.preset.config.httpPort, stack.organization.config.httpPort];
  const urls = [stack.metricsUrl, ...ports.map((port) => `http://127.0.0.1:${port}/metrics`)];
  page = (await Promise.all(urls.map(async (url) => (await fetch(url)).text()))).join("\n");
});

afterAll(() => stack.close());

/** The metrics of an expression with their label matchers. */
function selectorsOf(expr: string): (readonly [name: string, labels: string])[] {
  return [...expr.matchAll(/\b((?:setpoint|process|nodejs)_[a-z0-9_]+)(?:\{([^}]*)\})?/g)].map(
    ([, name = "", labels]) => [name, labels ?? ""],
  );
}

/** Labels that Prometheus itself adds when scraping. */
const labelsOfTargets = ["namespace", "pod", "le"];

function expectMetricsOf(expr: string): void {
  const selectors = selectorsOf(expr);
  expect(selectors.length).toBeGreaterThan(0);
  const groupedBy = [...expr.matchAll(/\bby \(([^)]+)\)/g)].flatMap(([, names = ""]) => names.split(", "));
  for (const [name, labels] of selectors) {
    const metric = name.replace(/_(count|bucket|sum)$/, "");
    expect(page).toMatch(new RegExp(`^# TYPE ${metric} `, "m"));
    const help = page.match(new RegExp(`^# HELP ${metric} .*`, "m"))?.[0] ?? "";
    const samples = page.split("\n").filter((line) => line.startsWith(`${name}{`));
    const operation = labels.match(/operation=~"([^"]+)"/)?.[1];
    const isSeen = samples.some((line) => new RegExp(`operation="(${operation})"`).test(line));
    if (operation !== undefined) expect(isSeen, operation).toBe(true);
    const asked = [...labels.matchAll(/([a-z_]+)(?:=~|!~|!=|=)"/g)].map(([, label = ""]) => label);
    for (const label of [...asked, ...groupedBy].filter((each) => !labelsOfTargets.includes(each))) {
      // What has not happened yet has no sample, but its help text names its labels.
      const isKnown = samples.some((line) => line.includes(`${label}="`)) || help.includes(label);
      expect(isKnown, `${name} has no ${label}`).toBe(true);
    }
  }
}

describe.each(["overview", "preset"])("the dashboard %s", (name) => {
  const { panels }: Dashboard = JSON.parse(readFileSync(`deploy/dashboards/${name}.json`, "utf8"));

  it.each(panels)("queries only metrics that exist: $title", ({ targets }) => {
    for (const { expr } of targets) expectMetricsOf(expr);
  });

  it("gives each panel its own id and position and is listed in the kustomization", () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ gridPos }) => `${gridPos.x} ${gridPos.y}`)).size).toBe(panels.length);
    expect(readFileSync("deploy/dashboards/kustomization.yaml", "utf8")).toContain(`${name}.json`);
  });
});

describe.each(alerts)("the alert $alert", ({ alert, expr }) => {
  it("queries only metrics and labels that exist", () => expectMetricsOf(expr));

  it("has an entry in the operations guide", () => {
    expect(operations).toMatch(new RegExp(`^\\| \`${alert}\` \\| \\S.+ \\|$`, "m"));
  });
});

describe("metrics scraping", () => {
  it("covers every process on a port that its pods open", () => {
    const scraped = objectsOf<PodMonitor>(rendering, "PodMonitor").flatMap(({ spec }) =>
      podsOf(rendering)
        .filter(({ labels }) => matches(spec.selector, labels))
        .map(({ name }) => [name, spec.podMetricsEndpoints[0]?.port]),
    );
    expect(Object.fromEntries(scraped)).toEqual({ gateway: "metrics", preset: "http", organization: "http" });
    for (const [name = "", port] of scraped) {
      expect(portsOf(getPods(rendering, name)).map((each) => each.name)).toContain(port);
    }
  });

  it("has no metric of ours that the guides do not name", () => {
    const guides = operations + readFileSync("docs/upstreams.md", "utf8");
    const metrics = [...page.matchAll(/^# TYPE (setpoint_\w+)/gm)].map(([, metric = ""]) => metric);
    // One guide shortens those of inference, as `_seconds`.
    const isNamed = (metric: string): boolean =>
      guides.includes(metric) || guides.includes(`\`${metric.replace("setpoint_inference", "")}\``);
    expect(metrics.length).toBeGreaterThan(20);
    expect(metrics.filter((metric) => !isNamed(metric))).toEqual([]);
  });

  it.each(callNames)("measures the latency of the gateway without what upstreams take: %s", (call) => {
    const { panels }: Dashboard = JSON.parse(readFileSync("deploy/dashboards/overview.json", "utf8"));
    const exprs = [...alerts, ...panels.flatMap(({ targets }) => targets)].map(({ expr }) => expr);
    const excluded = exprs.flatMap((expr) => expr.match(/operation!~"([^"]+)"/)?.[1] ?? []);
    expect(excluded).toHaveLength(4);
    for (const pattern of excluded) expect(`POST /api/v1/${call}`).toMatch(new RegExp(`^(${pattern})$`));
  });

  it("measures the latency of all other routes", () => {
    const [excluded] = alerts.flatMap(({ expr }) => expr.match(/operation!~"([^"]+)"/)?.[1] ?? []);
    const operationsSeen = [...page.matchAll(/operation="([^"]+)"/g)].map(([, operation = ""]) => operation);
    const left = new Set(operationsSeen.filter((operation) => new RegExp(`^(${excluded})$`).test(operation)));
    expect(left).toEqual(new Set(["POST /api/v1/chat/completions"]));
  });
});

describe("the alert about upstreams", () => {
  const { expr = "" } = alerts.find(({ alert }) => alert === "SetpointUpstreamFailing") ?? {};
  const failing = new RegExp(`^(${expr.match(/status=~"([^"]+)"/)?.[1]})$`);

  it("counts every status as a failure that the operations guide explains", () => {
    const [row = ""] = operations.match(/^\| `SetpointUpstreamFailing` \| .+$/m) ?? [];
    const told = [...row.matchAll(/\b[1-5]\d\d\b/g)].map(([status]) => status);
    expect(told.length).toBeGreaterThan(2);
    expect(told.filter((status) => !failing.test(status))).toEqual([]);
  });

  it.each(["200", "400", "404", "429", "499"])("does not count %s, which callers cause", (status) => {
    expect(status).not.toMatch(failing);
  });
});
