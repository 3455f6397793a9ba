import { Histogram as PromHistogram, Registry } from "prom-client";
import { expect, it } from "vitest";
import { Histogram } from "./histogram.ts";

const buckets = [0.001, 0.5, 10];

function registryOfTest(): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process: "test" });
  return registry;
}

it("renders a histogram like prom-client", async () => {
  const [ours, theirs] = [registryOfTest(), registryOfTest()];
  const common = { name: "seconds", help: "How long.", buckets };
  const histogram = new Histogram({ ...common, labelNames: ["operation", "outcome"], registry: ours });
  const known = new PromHistogram({ ...common, labelNames: ["operation", "outcome"], registers: [theirs] });
  const values = [0, 0.001, 0.0011, 0.5, 3, 10, 10.5];
  for (const [operation, outcome] of [
    ["GET /a", "200"],
    ["GET /a", "500"],
    ['GET "b"', "200"],
  ] as const) {
    for (const value of values) {
      histogram.at(operation, outcome).observe(value);
      known.observe({ operation, outcome }, value);
    }
    values.pop();
  }
  expect(await ours.metrics()).toBe(await theirs.metrics());
});

it("renders a histogram with one label like prom-client", async () => {
  const [ours, theirs] = [registryOfTest(), registryOfTest()];
  const common = { name: "parts", help: "How many.", buckets };
  new Histogram({ ...common, labelNames: ["batch"], registry: ours }).at("reads").observe(3);
  new PromHistogram({ ...common, labelNames: ["batch"], registers: [theirs] }).observe({ batch: "reads" }, 3);
  expect(await ours.metrics()).toBe(await theirs.metrics());
});

it("renders a histogram without labels like prom-client", async () => {
  const [ours, theirs] = [registryOfTest(), registryOfTest()];
  const common = { name: "seconds", help: "How long.", buckets };
  new Histogram({ ...common, labelNames: [], registry: ours }).at().observe(3);
  new PromHistogram({ ...common, registers: [theirs] }).observe(3);
  expect(await ours.metrics()).toBe(await theirs.metrics());
});
