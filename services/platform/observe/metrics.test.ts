import { expect, it } from "vitest";
import { Metrics } from "./metrics.ts";

async function linesOf(metrics: Metrics, name: string): Promise<string[]> {
  return (await metrics.registry.metrics()).split("\n").filter((line) => line.startsWith(name));
}

it("starts the fault counter at 0, so that the first fault is an increase", async () => {
  const metrics = new Metrics("test");
  const faults = () => linesOf(metrics, "setpoint_faults_total");
  expect(await faults()).toEqual(['setpoint_faults_total{process="test"} 0']);
  metrics.requestHandled("GET /", "200", 0.1);
  metrics.requestHandled("GET /", "503", 0.1);
  metrics.partFailed("NOT_FOUND");
  metrics.requestHandled("GET /", "500", 0.1);
  metrics.requestHandled("Get", "INTERNAL", 0.1);
  metrics.partFailed("INTERNAL");
  expect(await faults()).toEqual(['setpoint_faults_total{process="test"} 3']);
});

it("exports every limit's counter before its first rejection", async () => {
  const lines = await linesOf(new Metrics("test"), "setpoint_refusals_total{");
  expect(lines.map((line) => line.split(" ").at(-1))).toEqual(Array(5).fill("0"));
});
