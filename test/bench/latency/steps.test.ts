import { expect, it } from "vitest";
import type { Moment, What } from "./moments.ts";
import { medianWay } from "./steps.ts";

function way(startUs: number, ...whats: readonly (readonly [What, number, string?])[]): Moment[] {
  return whats.map(([what, us, detail]) => ({ atUs: startUs + us, what, ...(detail !== undefined && { detail }) }));
}

const read = (startUs: number, statementUs: number): Moment[] =>
  way(
    startUs,
    ["request received", 0],
    ["call sent", 100],
    ["call received", 150],
    ["statement sent", 200, "SELECT presets"],
    ["statement answered", 200 + statementUs],
    ["call answered", 400 + statementUs],
    ["answer received", 500 + statementUs],
    ["request answered", 700 + statementUs],
  );

it("returns the median of each step on the most common path", () => {
  const disturbed = way(
    9_000,
    ["request received", 0],
    ["call sent", 1],
    ["call received", 2],
    ["request answered", 3],
  );
  const moments = [...read(0, 10), ...disturbed, ...read(2_000, 30), ...read(4_000, 20)];
  expect(medianWay(moments)).toEqual([
    { title: "gateway, until it calls", us: 100 },
    { title: "on the way to the service", us: 50 },
    { title: "service, until its first statement", us: 50 },
    { title: "  SELECT presets", us: 20 },
    { title: "service, until it answers", us: 200 },
    { title: "on the way back", us: 100 },
    { title: "gateway, until it has answered", us: 200 },
  ]);
});

it("returns no steps if nothing was recorded", () => {
  expect(medianWay([])).toEqual([]);
});
