import { describe, expect, it } from "vitest";
import { silentLogger } from "../observe/logger.ts";
import { Lifecycle } from "./lifecycle.ts";

describe("Lifecycle", () => {
  it("closes what was opened, the last first, one after the other", async () => {
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

  it("drains from the moment that it closes", async () => {
    const lifecycle = new Lifecycle(silentLogger());
    let drained = false;
    lifecycle.opened("server", () => {
      drained = lifecycle.draining;
    });
    expect(lifecycle.draining).toBe(false);
    await lifecycle.close();
    expect(drained).toBe(true);
  });

  it("says that it drains, and gives back what it can, while it still serves; and then closes", async () => {
    const lifecycle = new Lifecycle(silentLogger());
    const events: string[] = [];
    lifecycle.stopping(() => events.push(`stopping, draining: ${lifecycle.draining}`));
    lifecycle.opened("server", () => void events.push("closed"));
    const ended = lifecycle.shutDown(50);
    expect(events).toEqual(["stopping, draining: true"]);
    await ended;
    expect(events).toEqual(["stopping, draining: true", "closed"]);
  });

  it("closes the rest where one cannot be closed", async () => {
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
