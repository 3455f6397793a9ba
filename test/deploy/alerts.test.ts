import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getPods, matches, objectsOf, podsOf, portsOf, productionWith, type Selector } from "../support/manifests.ts";
import { type Stack, startStack } from "../support/stack.ts";

interface Rules {
  readonly spec: {
    readonly groups: readonly [{ readonly rules: readonly { readonly alert: string; readonly expr: string }[] }];
  };
}

interface PodMonitor {
  readonly spec: { readonly selector: Selector; readonly podMetricsEndpoints: readonly { readonly port: string }[] };
}

const rendering = productionWith("prometheus-operator");
const alerts = objectsOf<Rules>(rendering, "PrometheusRule")[0]?.spec.groups[0].rules ?? [];
const operations = readFileSync("docs/operations.md", "utf8");
let stack: Stack;
/** Of all three processes, as Prometheus gets them. */
let page: string;

beforeAll(async () => {
  stack = await startStack();
  await stack.create("watched");
  await stack.request("POST", "/chat/completions", { key: stack.apiKey, body: { model: "m", messages: [] } });
  const ports = [stack.preset.config.httpPort, stack.organization.config.httpPort];
  const urls = [stack.metricsUrl, ...ports.map((port) => `http://127.0.0.1:${port}/metrics`)];
  page = (await Promise.all(urls.map(async (url) => (await fetch(url)).text()))).join("\n");
});

afterAll(() => stack.close());

/** The metrics of an expression with what it asks of their labels. */
function selectorsOf(expr: string): (readonly [name: string, labels: string])[] {
  return [...expr.matchAll(/\b((?:setpoint|process|nodejs)_[a-z0-9_]+)(?:\{([^}]*)\})?/g)].map(
    ([, name = "", labels]) => [name, labels ?? ""],
  );
}

describe.each(alerts)("the alert $alert", ({ alert, expr }) => {
  it("asks for metrics that there are, with labels that they have", () => {
    const selectors = selectorsOf(expr);
    expect(selectors.length).toBeGreaterThan(0);
    for (const [name, labels] of selectors) {
      expect(page, alert).toMatch(new RegExp(`^# TYPE ${name.replace(/_(count|bucket)$/, "")} `, "m"));
      const help = page.match(new RegExp(`^# HELP ${name.replace(/_(count|bucket)$/, "")} .*`, "m"))?.[0] ?? "";
      const samples = page.split("\n").filter((line) => line.startsWith(`${name}{`));
      for (const [, label = ""] of labels.matchAll(/([a-z_]+)(?:=~|!~|!=|=)"/g)) {
        // What has not happened yet has no sample, but its text names its labels.
        const isKnown = samples.some((line) => line.includes(`${label}="`)) || help.includes(label);
        expect(isKnown, `${name} ${label}`).toBe(true);
      }
    }
  });

  it("has an entry that says what to do", () => {
    expect(operations).toMatch(new RegExp(`^\\| \`${alert}\` \\| \\S.+ \\|$`, "m"));
  });
});

describe("what is scraped", () => {
  it("is every process, at a port of its pods", () => {
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

  it("tells inference from the rest by its route", () => {
    const inference = alerts.flatMap(({ expr }) => expr.match(/operation!~"([^"]+)"/)?.[1] ?? []);
    expect(inference).toHaveLength(1);
    const operationsSeen = [...page.matchAll(/operation="([^"]+)"/g)].map(([, operation = ""]) => operation);
    const left = new Set(operationsSeen.filter((operation) => new RegExp(`^(${inference[0]})$`).test(operation)));
    expect(left).toEqual(new Set(["POST /api/v1/chat/completions"]));
  });
});
