import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { PresetStatus } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { openPool } from "../../services/platform/mysql/pool.ts";
import { schemaIsCurrent } from "../../services/platform/mysql/schema.ts";
import { presetMigrations } from "../../services/preset/app.ts";
import { purgeWorkspace } from "../../services/preset/store/purge-workspace.ts";
import { upTo } from "../support/preset-store.ts";
import { type Call, openRpcCalls } from "../support/rpc-calls.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { workspacesIn } from "../support/statement-rules.ts";

// That each statement finds its shard, and is not prepared, is held for all tests (`statement-rules.ts`). Here is what can be
// seen only of all that the services send: so they are called in every way, where the tables are sharded.

/** One statement that was sent to a database. */
interface Statement {
  readonly database: string;
  readonly connection: number;
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** The methods through which mysql2 sends all statements of pools and connections. */
interface CoreConnection {
  readonly config: { readonly database: string };
  readonly threadId: number;
  query(statement: string | { readonly sql: string }, values: unknown, ...rest: unknown[]): unknown;
  execute(sql: string, values: readonly unknown[] | undefined, ...rest: unknown[]): unknown;
}

const { prototype } = createRequire(import.meta.url)("mysql2").Connection as { prototype: CoreConnection };
const { query, execute } = prototype;
const recorded: Statement[] = [];

function record({ config, threadId }: CoreConnection, sql: string, values: readonly unknown[]): void {
  recorded.push({ database: config.database, connection: threadId, sql: sql.replaceAll(/\s+/g, " ").trim(), values });
}

prototype.query = function (statement, values, ...rest) {
  record(this, typeof statement === "string" ? statement : statement.sql, Array.isArray(values) ? values : []);
  return query.call(this, statement, values, ...rest);
};

prototype.execute = function (sql, values, ...rest) {
  record(this, sql, values ?? []);
  return execute.call(this, sql, values, ...rest);
};

let stack: Stack;
/** The statements of the preset service, and of everything that ran, including the migrations. */
let statements: readonly Statement[];
let everything: readonly Statement[];
const called = new Set<string>();

beforeAll(async () => {
  stack = await startStack({ preset: { batchByWorkspace: true } });
  // The migrations, which create the tables.
  const migrations = recorded.splice(0);
  const other = await stack.tenants.createOrganization();
  const access = openRpcCalls(stack.organization.config);
  const calls = openRpcCalls(stack.preset.config);
  // Two workspaces at once, so that batches could mix them.
  const everyones = await Promise.all(
    [stack.apiKey, other.apiKey].map(async (key) => {
      const { accessToken } = await access.gRPC(AccessService.method.exchangeKey, { key });
      const call: Call = (method, request) => {
        called.add(method.name);
        return calls.gRPC(method, request, accessToken);
      };
      await callEverything(call);
      return call;
    }),
  );
  // All of these at once, for both workspaces, small and large.
  await Promise.all(everyones.flatMap((call) => upTo(20).flatMap((n) => readEverything(call, n % 5))));
  const { accessToken } = await access.gRPC(AccessService.method.exchangeKey, { key: stack.managementKey });
  await listOrganization((method, request) => access.gRPC(method, request, accessToken));
  access.close();
  calls.close();
  const pool = openPool(stack.preset.config.databaseUrl, 1, { protocol: "text" });
  await schemaIsCurrent(pool, presetMigrations)();
  await purgeWorkspace(pool, other.workspaceId, () => {});
  await pool.end();
  const database = new URL(stack.preset.config.databaseUrl).pathname.slice(1);
  statements = recorded.filter((statement) => statement.database === database);
  everything = [...migrations, ...recorded];
});

afterAll(async () => {
  Object.assign(prototype, { query, execute });
  await stack.close();
});

/** Calls every method of the preset service in every way that leads to another statement. */
async function callEverything(call: Call): Promise<void> {
  const methods = PresetService.method;
  const refused = async (answer: Promise<unknown>) => expect(await answer.catch(() => "refused")).toBe("refused");
  const create = (slug: string, requestId = "") => call(methods.createVersion, { slug, configJson: "{}", requestId });
  const update = (slug: string, fields: { name?: string; status?: PresetStatus; requestId?: string }) => {
    const paths = Object.keys(fields).filter((field) => field !== "requestId");
    return call(methods.updatePreset, { slug, updateMask: { paths }, ...fields });
  };
  await Promise.all(upTo(20).map((n) => create(`preset-${n % 5}`)));
  await create("a", "first");
  await create("a", "first");
  await create("a");
  await call(methods.createVersion, { slug: "large", configJson: "{}", systemPrompt: "x".repeat(100_000) });
  await call(methods.batchCreateVersions, { requests: ["a", "b", "c"].map((slug) => ({ slug, configJson: "{}" })) });
  await update("a", { name: "New", requestId: "second" });
  await update("a", { name: "New", requestId: "second" });
  await update("a", { name: "New" });
  await update("a", { status: PresetStatus.ARCHIVED });
  await refused(create("a"));
  await create("a", "first");
  await refused(update("none", { name: "New" }));
  await Promise.all(upTo(10).map((n) => call(methods.getPreset, { slug: `preset-${n % 5}` })));
  await call(methods.batchGetPresets, { slugs: ["a", "b", "none"] });
  await refused(call(methods.getPreset, { slug: "none" }));
  await Promise.all(upTo(3).map((version) => call(methods.getVersion, { slug: "a", version })));
  await refused(call(methods.getVersion, { slug: "a", version: 9 }));
  await call(methods.findSimilarSlug, { slug: "preset-11" });
  await call(methods.diffVersions, { slug: "a", fromVersion: 1, toVersion: 2 });
  for (const filter of [{}, { offset: 7 }, { query: "a" }, { statuses: [PresetStatus.ARCHIVED] }]) {
    await call(methods.listPresets, { limit: 2, ...filter, includeServing: true });
  }
  await call(methods.listVersions, { slug: "a" });
  await call(methods.listChanges, { slug: "a" });
  for (const offset of [0, 20]) await call(methods.listWorkspaceChanges, { offset, limit: 2 });
}

/** Every list of the organization service, all of which are paged. */
async function listOrganization(call: Call): Promise<void> {
  const page = { limit: 2, offset: 1 };
  await call(OrganizationService.method.listMembers, page);
  await call(OrganizationService.method.listChanges, page);
  await call(KeyService.method.listKeys, page);
  const { workspaces: listed } = await call(WorkspaceService.method.listWorkspaces, { limit: 2 });
  await call(WorkspaceService.method.listWorkspaceMembers, { ...page, workspace: listed[0]?.id ?? "" });
}

function readEverything(call: Call, n: number): Promise<unknown>[] {
  const { getPreset, getVersion } = PresetService.method;
  const versions = ["a", "large", `preset-${n}`].map((slug) => call(getVersion, { slug, version: 1 }));
  return [...versions, call(getPreset, { slug: `preset-${n}` }), call(getPreset, { slug: "large" })];
}

/** Statements of the session or of a probe. */
const touchesNoTable = ({ sql }: Statement) => /^(SET|START TRANSACTION|COMMIT|ROLLBACK|SELECT @@)/.test(sql);
const isMigration = ({ sql }: Statement) => sql.includes("FROM schema_migrations");

describe("the statements of the preset service", () => {
  it("cover all methods and all tables", () => {
    expect(called).toEqual(new Set(PresetService.methods.map(({ name }) => name)));
    const text = statements.map(({ sql }) => sql).join("\n");
    for (const table of ["presets", "preset_versions", "preset_changes", "preset_updates", "preset_counts"]) {
      expect(text).toMatch(new RegExp(`INSERT INTO ${table} `));
      expect(text).toMatch(new RegExp(`(FROM|JOIN) ${table}\\b`));
    }
  });

  it("each concern one workspace and so one shard, even for batched reads", () => {
    const ofTables = statements.filter((statement) => !touchesNoTable(statement) && !isMigration(statement));
    const gathered = ofTables.filter(({ sql }) => / UNION ALL SELECT | OR \(p\.workspace_id/.test(sql));
    expect(gathered.length).toBeGreaterThan(2);
    expect(ofTables.filter(({ sql, values }) => workspacesIn(sql, values).size !== 1).map(({ sql }) => sql)).toEqual(
      [],
    );
  });

  it("of a probe go to one shard: no table, or one row by its key", () => {
    const probes = statements.filter(isMigration).map(({ sql }) => sql);
    expect(new Set(probes)).toEqual(new Set(["SELECT name, checksum FROM schema_migrations WHERE name = ?"]));
  });

  it("reset the isolation level, which Vitess does not do at the end of a transaction", () => {
    const ofSnapshots = statements.filter(({ sql }) => sql === "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    expect(ofSnapshots.length).toBeGreaterThan(3);
    for (const snapshot of ofSnapshots) {
      const later = statements.slice(statements.indexOf(snapshot) + 1).filter(isOnConnectionOf(snapshot));
      const end = later.findIndex(({ sql }) => sql === "COMMIT" || sql === "ROLLBACK");
      expect(later[end + 1]?.sql).toBe("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    }
  });

  it("start each session with transaction_mode SINGLE", () => {
    const count = (pattern: RegExp) =>
      everything.filter(({ database, sql }) => database === statements[0]?.database && pattern.test(sql)).length;
    expect(count(/^SET SESSION autocommit = 1, .*time_zone/)).toBeGreaterThan(3);
    expect(count(/^SET SESSION transaction_mode = 'SINGLE'$/)).toBe(count(/^SET SESSION autocommit = 1, .*time_zone/));
  });

  it("concern one workspace per transaction, so that none spans two shards", () => {
    const transactions = transactionsOf(statements);
    expect(transactions.length).toBeGreaterThan(20);
    for (const transaction of transactions) {
      const workspaces = transaction.flatMap(({ sql, values }) => [...workspacesIn(sql, values)]);
      expect(new Set(workspaces).size, transaction.map(({ sql }) => sql).join("\n")).toBe(1);
    }
  });
});

it("never change the sharding column", () => {
  const written = everything.map(({ sql }) => sql).filter((sql) => /\bUPDATE\b/.test(sql));
  expect(written.length).toBeGreaterThan(3);
  expect(written.filter((sql) => /\b(SET|UPDATE|,) (\w\.)?workspace_id = /.test(sql))).toEqual([]);
});

function isOnConnectionOf(other: Statement): (statement: Statement) => boolean {
  return ({ connection, database }) => connection === other.connection && database === other.database;
}

function transactionsOf(all: readonly Statement[]): Statement[][] {
  const open = new Map<number, Statement[]>();
  const closed: Statement[][] = [];
  for (const statement of all) {
    const { connection, sql } = statement;
    if (sql.startsWith("START TRANSACTION")) open.set(connection, []);
    else if (sql === "COMMIT" || sql === "ROLLBACK") {
      closed.push(open.get(connection) ?? []);
      open.delete(connection);
    } else open.get(connection)?.push(statement);
  }
  return closed.filter(({ length }) => length > 0);
}
