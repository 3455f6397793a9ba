import { availableParallelism } from "node:os";
import { describe, expect, it } from "vitest";
import { planInstances } from "./instances.ts";
import { StartError } from "./start-error.ts";

const ports = {
  PORT: 8080,
  METRICS_PORT: 9080,
  PRESET_GRPC_PORT: 50051,
  PRESET_HTTP_PORT: 8081,
  ORGANIZATION_GRPC_PORT: 50052,
  ORGANIZATION_HTTP_PORT: 8082,
  ECHO_PORT: 8083,
};

async function namesOf(environment: NodeJS.ProcessEnv): Promise<string[]> {
  return (await planInstances(environment, ports)).map(({ name }) => name);
}

describe("planInstances", () => {
  it("has one process of each service unless told otherwise", async () => {
    expect(await namesOf({})).toEqual(["organization", "echo", "preset", "gateway"]);
  });

  it.runIf(process.platform === "linux")("has as many as it is told to, and each gateway knows all", async () => {
    const instances = await planInstances({ GATEWAY_PROCESSES: "2", PRESET_PROCESSES: "3" }, ports);
    expect(instances.map(({ name }) => name).slice(2)).toEqual([
      "preset",
      "preset-2",
      "preset-3",
      "gateway",
      "gateway-2",
    ]);
    const [, second, third] = instances.filter(({ service }) => service === "preset");
    const grpcPorts = [50051, second?.environment.PRESET_GRPC_PORT, third?.environment.PRESET_GRPC_PORT];
    for (const { environment } of instances.filter(({ service }) => service === "gateway")) {
      expect(environment).toMatchObject({
        REUSE_PORT: "true",
        PRESET_GRPC_TARGET: grpcPorts.map((port) => `127.0.0.1:${port}`).join(","),
      });
    }
  });

  it.runIf(process.platform === "linux")("has one for each core where that is asked for", async () => {
    const gateways = (await namesOf({ GATEWAY_PROCESSES: "auto" })).filter((name) => name.startsWith("gateway"));
    expect(gateways).toHaveLength(availableParallelism());
  });

  it.each(["0", "many", "65"])("refuses %s", async (count) => {
    await expect(planInstances({ GATEWAY_PROCESSES: count }, ports)).rejects.toThrow(StartError);
  });
});
