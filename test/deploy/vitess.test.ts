import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { environmentOf, getPods, mainContainerOf, objectsOf, vitess } from "../support/manifests.ts";

interface VSchema {
  readonly sharded: boolean;
  readonly vindexes?: Readonly<Record<string, { readonly type: string }>>;
  readonly tables: Readonly<Record<string, { readonly column_vindexes?: readonly { column: string; name: string }[] }>>;
}

function readVSchema(keyspace: string): VSchema {
  return JSON.parse(readFileSync(new URL(`../../deploy/vitess/${keyspace}.vschema.json`, import.meta.url), "utf8"));
}

/** The tables created by a service's migrations, each with the columns of its primary key. */
function readPrimaryKeys(service: string): Map<string, string[]> {
  const folder = new URL(`../../services/${service}/store/migrations/`, import.meta.url);
  const statements = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));
  return new Map(
    statements.flatMap((sql) => {
      const table = sql.match(/CREATE TABLE IF NOT EXISTS (\w+)/)?.[1];
      const key = sql.match(/PRIMARY KEY \(([^)]+)\)/)?.[1]?.split(", ");
      return table && key ? [[table, key] as const] : [];
    }),
  );
}

describe.each([
  ["setpoint_preset", "preset"],
  ["setpoint_organization", "organization"],
])("the keyspace %s", (keyspace, service) => {
  it("lists every table that the migrations create, and schema_migrations", () => {
    const tables = [...readPrimaryKeys(service).keys(), "schema_migrations"];
    expect(Object.keys(readVSchema(keyspace).tables).sort()).toEqual(tables.sort());
  });
});

describe("the keyspace setpoint_preset", () => {
  const { sharded, vindexes = {}, tables } = readVSchema("setpoint_preset");

  it("keeps a workspace on one shard by the first column of every primary key", () => {
    expect(sharded).toBe(true);
    for (const [table, key] of readPrimaryKeys("preset")) {
      expect(key[0], table).toBe("workspace_id");
      expect(
        tables[table]?.column_vindexes?.map(({ column }) => column),
        table,
      ).toEqual(["workspace_id"]);
    }
  });

  it("spreads workspaces by hash, because their ids start with the time", () => {
    const used = Object.values(tables).flatMap(({ column_vindexes = [] }) => column_vindexes.map(({ name }) => name));
    expect(new Set(used.map((name) => vindexes[name]?.type))).toEqual(new Set(["xxhash"]));
  });
});

describe("the Vitess overlay", () => {
  it("keeps batches on one shard and allows egress to vtgate", () => {
    const environment = environmentOf(vitess, mainContainerOf(getPods(vitess, "preset")));
    expect(environment).toMatchObject({ PRESET_BATCH_BY_WORKSPACE: "true" });
    const policy = objectsOf(vitess, "NetworkPolicy").find(({ metadata }) => metadata.name === "services-to-database");
    expect(policy).toMatchObject({ spec: { egress: [{ ports: [{ port: 15306 }] }] } });
  });
});
