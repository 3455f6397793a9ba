import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../observe/logger.ts";
import { Lifecycle } from "./lifecycle.ts";

describe("Lifecycle", () => {
  it("closes in reverse order of opening, one after the other", async () => {
    const lifecycle = new Lifecycle(silentLogger());
    const events: string[] = [];
    for (const name of ["pool", "server", "client"]) {
      lifecycle.opened(name, async () => {
        events.push(`closing ${name}`);
        await Promise.resolve();
        events.push(`closed ${name}`);
      });
    }
    await lifecycle.close();
    expect(events).toEqual(["client", "server", "pool"].flatMap((name) => [`closing ${name}`, `closed ${name}`]));
  });

  it("is draining as soon as it closes", async () => {
    const lifecycle = new Lifecycle(silentLogger());
    let drained = false;
    lifecycle.opened("server", () => {
      drained = lifecycle.draining;
    });
    expect(lifecycle.draining).toBe(false);
    await lifecycle.close();
    expect(drained).toBe(true);
  });

  it("reports draining and releases what it can while still serving, then closes", async () => {
    const lifecycle = new Lifecycle(silentLogger());
    const events: string[] = [];
    lifecycle.stopping(() => events.push(`stopping, draining: ${lifecycle.draining}`));
    lifecycle.opened("server", () => void events.push("closed"));
    const ended = lifecycle.shutDown(50);
    expect(events).toEqual(["stopping, draining: true"]);
    await ended;
    expect(events).toEqual(["stopping, draining: true", "closed"]);
  });

  it("closes the rest if one fails to close", async () => {
    const lifecycle = new Lifecycle(silentLogger());
    let closed = false;
    lifecycle.opened("pool", () => {
      closed = true;
    });
    lifecycle.opened("server", () => Promise.reject(new Error("stuck")));
    await lifecycle.close();
    expect(closed).toBe(true);
  });

  it("closes nothing twice", async () => {
    const lifecycle = new Lifecycle(silentLogger());
    let closed = 0;
    lifecycle.opened("pool", () => {
      closed += 1;
    });
    await Promise.all([lifecycle.close(), lifecycle.close()]);
    await lifecycle.close();
    expect(closed).toBe(1);
  });
});

describe("runProcess", () => {
  it("ends a process on a signal even if the reader of its log hangs", async () => {
    const script = `import { createLogger } from ${JSON.stringify(new URL("../observe/logger.ts", import.meta.url))};
      import { runProcess } from ${JSON.stringify(new URL("./lifecycle.ts", import.meta.url))};
      const logger = createLogger("test", "info");
      await runProcess(logger, { shutdownDelayMs: 0 }, async (lifecycle) => {
        const timer = setInterval(() => {}, 1_000);
        lifecycle.opened("timer", () => clearInterval(timer));
        logger.info({ text: "x".repeat(1024 * 1024) });
      });
      console.error("started");`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script]);
    await once(child.stderr, "data");
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
  });
});
