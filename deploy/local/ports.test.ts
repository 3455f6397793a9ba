import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { nextPort } from "../../test/support/ports.ts";
import { choosePorts, loopbackHost, type Ports } from "./ports.ts";
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

/** Ports that are free on this machine, whatever else is running. */
async function freeDefaults(): Promise<Ports> {
  return {
    PORT: await nextPort(),
    METRICS_PORT: await nextPort(),
    PRESET_GRPC_PORT: await nextPort(),
    PRESET_HTTP_PORT: await nextPort(),
    ORGANIZATION_GRPC_PORT: await nextPort(),
    ORGANIZATION_HTTP_PORT: await nextPort(),
    ECHO_PORT: await nextPort(),
  };
}

describe("choosePorts", () => {
  it("keeps free default ports", async () => {
    const defaults = await freeDefaults();
    expect(await choosePorts({}, defaults)).toEqual(defaults);
  });

  it("replaces an occupied internal default", async () => {
    const defaults = await freeDefaults();
    await occupy(defaults.PRESET_HTTP_PORT);
    const { PRESET_HTTP_PORT, ...others } = await choosePorts({}, defaults);
    expect(PRESET_HTTP_PORT).not.toBe(defaults.PRESET_HTTP_PORT);
    expect({ ...defaults, ...others }).toEqual(defaults);
  });

  it("assigns no port twice, even if the gateway takes an internal default", async () => {
    const defaults = await freeDefaults();
    const ports = await choosePorts({ PORT: String(defaults.METRICS_PORT) }, defaults);
    expect(ports.PORT).toBe(defaults.METRICS_PORT);
    expect(new Set(Object.values(ports)).size).toBe(7);
  });

  it("reports that the gateway's port is in use, and how to choose another", async () => {
    const defaults = await freeDefaults();
    await occupy(defaults.PORT);
    await expect(choosePorts({}, defaults)).rejects.toThrow(
      new StartError(`Port ${defaults.PORT} is in use. Choose another one, for example:  PORT=8090 npm start`),
    );
  });

  it("does not replace an explicitly configured internal port", async () => {
    const defaults = await freeDefaults();
    const wanted = await nextPort();
    await occupy(wanted);
    const choice = choosePorts({ PRESET_GRPC_PORT: String(wanted) }, defaults);
    await expect(choice).rejects.toThrow(`PRESET_GRPC_PORT=`);
  });

  it("assigns no port twice to two starts at about the same time", async () => {
    const defaults = await freeDefaults();
    const first = await choosePorts({}, defaults);
    const second = await choosePorts({ PORT: String(await nextPort()) }, defaults);
    expect(new Set([...Object.values(first), ...Object.values(second)]).size).toBe(14);
    await expect(choosePorts({}, defaults)).rejects.toThrow(`Port ${defaults.PORT} is in use`);
  });

  it("assigns no port held by another process until that has ended", async () => {
    const script = `import { findFreePort } from "./ports.ts"; console.log(await findFreePort()); process.stdin.resume();`;
    const args = ["--input-type=module", "--eval", script];
    const other = spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: ["pipe", "pipe", "inherit"] });
    const [line] = await once(other.stdout.setEncoding("utf8"), "data");
    const PORT = String(line).trim();
    await expect(choosePorts({ PORT }, await freeDefaults())).rejects.toThrow(`Port ${PORT} is in use`);
    other.kill("SIGKILL");
    await once(other, "exit");
    expect((await choosePorts({ PORT }, await freeDefaults())).PORT).toBe(Number(PORT));
  });

  it("leaves every port free to listen on", async () => {
    const ports = await choosePorts({}, await freeDefaults());
    for (const port of Object.values(ports)) await occupy(port);
  });

  it.each(["0", "65536", "-1", "80.5", "http", " "])("rejects PORT=%j", async (value) => {
    await expect(choosePorts({ PORT: value })).rejects.toThrow("PORT must be a whole number from 1 to 65535");
  });
});
