import { Counter as PromCounter, Registry } from "prom-client";
import { expect, it } from "vitest";
import { Counter } from "./counter.ts";

it("renders a counter like prom-client", async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  for (const registry of [ours, theirs]) registry.setDefaultLabels({ process: "test" });
  const common = { name: "bytes_total", help: "How many." };
  const counter = new Counter({ ...common, labelNames: ["upstream", "direction"], registry: ours });
  const known = new PromCounter({ ...common, labelNames: ["upstream", "direction"], registers: [theirs] });
  expect(await ours.metrics()).toBe(await theirs.metrics());
  for (const [upstream, direction, count] of [
    ["a", "sent", 3],
    ["a", "received", 0],
    ['b "c"', "sent", 1.5],
    ["a", "sent", 4],
  ] as const) {
    counter.at(upstream, direction).add(count);
    known.inc({ upstream, direction }, count);
  }
  expect(await ours.metrics()).toBe(await theirs.metrics());
});
