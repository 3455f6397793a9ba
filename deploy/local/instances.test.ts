import { describe, expect, it } from "vitest";
import { type Machine, planInstances } from "./instances.ts";
import { portDefaults } from "./ports.ts";
import { StartError } from "./start-error.ts";

const gibibyte = 2 ** 30;
const laptop: Machine = { cores: 2, memoryBytes: 8 * gibibyte, sharesPorts: true };

async function countsOf(environment: NodeJS.ProcessEnv, machine: Machine): Promise<Record<string, number>> {
  const services = (await planInstances(environment, portDefaults, machine)).map(({ service }) => service);
  const countOf = (name: string) => services.filter((service) => service === name).length;
  return { gateways: countOf("gateway"), presets: countOf("preset"), organizations: countOf("organization") };
}

describe("planInstances", () => {
  it.each([
    [1, 8, true, { gateways: 1, presets: 1 }],
    [2, 8, true, { gateways: 1, presets: 1 }],
    [4, 8, true, { gateways: 2, presets: 1 }],
    [8, 8, true, { gateways: 4, presets: 2 }],
    [64, 256, true, { gateways: 4, presets: 2 }],
    [8, 2, true, { gateways: 2, presets: 2 }],
    [8, 0.5, true, { gateways: 1, presets: 1 }],
    [8, 8, false, { gateways: 1, presets: 2 }],
  ])(
    "chooses the number of processes for %i cores and %d GiB, sharing a port: %s",
    async (cores, gib, sharesPorts, counts) => {
      const machine = { cores, memoryBytes: gib * gibibyte, sharesPorts };
      for (const environment of [{}, { GATEWAY_PROCESSES: "auto", PRESET_PROCESSES: " auto " }])
        expect(await countsOf(environment, machine)).toEqual({ ...counts, organizations: 1 });
    },
  );

  it("uses the configured numbers, and gives each gateway all targets", async () => {
    const told = { GATEWAY_PROCESSES: "2", PRESET_PROCESSES: "3" };
    const instances = await planInstances(told, portDefaults, { ...laptop, cores: 1 });
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

  it("rejects several gateways if they cannot share a port", async () => {
    const machine = { ...laptop, sharesPorts: false };
    await expect(planInstances({ GATEWAY_PROCESSES: "2" }, portDefaults, machine)).rejects.toThrow(StartError);
  });

  it.each(["0", "many", "65"])("rejects %s", async (count) => {
    await expect(planInstances({ GATEWAY_PROCESSES: count }, portDefaults)).rejects.toThrow(StartError);
  });
});
