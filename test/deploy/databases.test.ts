import { describe, expect, it } from "vitest";
import type { OrganizationConfig } from "../../services/organization/config.ts";
import { protocolOf, sessionStatements } from "../../services/platform/mysql/database-url.ts";
import type { PresetConfig } from "../../services/preset/config.ts";
import {
  containersOf,
  dev,
  environmentOf,
  galera,
  getPods,
  mainContainerOf,
  podsOf,
  production,
  type Rendering,
  vitess,
} from "../support/manifests.ts";
import { readConfigOf } from "../support/process-environment.ts";

function configOf<Config>(rendering: Rendering, name: string): Config {
  const container = mainContainerOf(getPods(rendering, name));
  return readConfigOf(container.command ?? [], environmentOf(rendering, container)) as Config;
}

function configsOf(rendering: Rendering): { preset: PresetConfig; organization: OrganizationConfig } {
  return { preset: configOf(rendering, "preset"), organization: configOf(rendering, "organization") };
}

function urlsOf(rendering: Rendering): string[] {
  const { preset, organization } = configsOf(rendering);
  return [preset.databaseUrl, preset.readDatabaseUrl ?? "", organization.databaseUrl];
}

describe("the database of an overlay", () => {
  it("is a single MySQL in production: prepared statements, no waiting for other nodes", () => {
    expect(urlsOf(production).map(protocolOf)).toEqual(["prepared", "prepared", "prepared"]);
    expect(urlsOf(production).flatMap(sessionStatements)).toEqual([]);
    expect(configsOf(production).preset.batchByWorkspace).toBe(false);
  });

  it("is a cluster with Galera: each session waits for commits of other nodes", () => {
    expect(urlsOf(galera).map(sessionStatements)).toEqual(Array(3).fill(["SET SESSION wsrep_sync_wait = 1"]));
    expect(configsOf(galera).preset.batchByWorkspace).toBe(false);
  });

  it("is sharded with Vitess: text protocol, one workspace per batch", () => {
    expect(urlsOf(vitess).map(protocolOf)).toEqual(["text", "text", "text"]);
    expect(configsOf(vitess).preset.batchByWorkspace).toBe(true);
  });
});

describe.each([dev, production])("$title", (rendering) => {
  it("makes migrations wait for the database instead of failing repeatedly", () => {
    const migrating = podsOf(rendering)
      .flatMap(containersOf)
      .filter(({ command }) => command?.includes("migrate"));
    expect(migrating.length).toBeGreaterThanOrEqual(2);
    for (const container of migrating) {
      expect(environmentOf(rendering, container)).toMatchObject({ MIGRATE_WAIT_SECONDS: "3600" });
    }
  });
});
