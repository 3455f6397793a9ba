import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { choosePorts, findFreePort, loopbackHost, type Ports } from "./ports.ts";
import { StartError } from "./start-error.ts";

const occupied: Server[] = [];

afterEach(() => {
  for (const server of occupied.splice(0)) server.close();
});

async function occupy(port: number): Promise<void> {
  const server = createServer().listen(port, loopbackHost);
  await once(server, "listening");
  occupied.push(server);
}

/** Ports that are free on this machine, whatever runs on it. */
async function freeDefaults(): Promise<Ports> {
  return {
    PORT: await findFreePort(),
    METRICS_PORT: await findFreePort(),
    PRESET_GRPC_PORT: await findFreePort(),
    PRESET_HTTP_PORT: await findFreePort(),
    ORGANIZATION_GRPC_PORT: await findFreePort(),
    ORGANIZATION_HTTP_PORT: await findFreePort(),
    ECHO_PORT: await findFreePort(),
  };
}

describe("choosePorts", () => {
  it("keeps the defaults that are free", async () => {
    const defaults = await freeDefaults();
    expect(await choosePorts({}, defaults)).toEqual(defaults);
  });

  it("replaces an internal default that is taken", async () => {
    const defaults = await freeDefaults();
    await occupy(defaults.PRESET_HTTP_PORT);
    const { PRESET_HTTP_PORT, ...others } = await choosePorts({}, defaults);
    expect(PRESET_HTTP_PORT).not.toBe(defaults.PRESET_HTTP_PORT);
    expect({ ...defaults, ...others }).toEqual(defaults);
  });

  it("gives no port twice, also where the gateway takes an internal default", async () => {
    const defaults = await freeDefaults();
    const ports = await choosePorts({ PORT: String(defaults.METRICS_PORT) }, defaults);
    expect(ports.PORT).toBe(defaults.METRICS_PORT);
    expect(new Set(Object.values(ports)).size).toBe(7);
  });

  it("says that the gateway's port is in use, and how to choose another", async () => {
    const defaults = await freeDefaults();
    await occupy(defaults.PORT);
    await expect(choosePorts({}, defaults)).rejects.toThrow(
      new StartError(`Port ${defaults.PORT} is in use. Choose another one, for example:  PORT=8090 npm start`),
    );
  });

  it("does not replace an internal port that was asked for", async () => {
    const defaults = await freeDefaults();
    const wanted = await findFreePort();
    await occupy(wanted);
    const choice = choosePorts({ PRESET_GRPC_PORT: String(wanted) }, defaults);
    await expect(choice).rejects.toThrow(`PRESET_GRPC_PORT=`);
  });

  it("leaves every port free again", async () => {
    const ports = await choosePorts({}, await freeDefaults());
    for (const port of Object.values(ports)) await occupy(port);
  });

  it.each(["0", "65536", "-1", "80.5", "http", " "])("refuses PORT=%j", async (value) => {
    await expect(choosePorts({ PORT: value })).rejects.toThrow("PORT must be a whole number from 1 to 65535");
  });
});
