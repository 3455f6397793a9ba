import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { createConnection } from "mysql2/promise";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { organizationMigrations } from "../../services/organization/app.ts";
import { migrate } from "../../services/platform/mysql/migrate.ts";
import { withMigrationLock } from "../../services/platform/mysql/migration-lock.ts";
import { openPool, type Pool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { schemaIsCurrent } from "../../services/platform/mysql/schema.ts";
import { CommandError } from "../../services/platform/process/command-error.ts";
import { presetMigrations } from "../../services/preset/app.ts";
import { createTestDatabase, isSharded, type TestDatabase } from "../support/database.ts";
import { type DatabaseProxy, openDatabaseProxy } from "../support/database-proxy.ts";

let database: TestDatabase;
let pool: Pool;
let folder: string;
let directory: URL;

beforeEach(async () => {
  database = await createTestDatabase();
  pool = openPool(database.url, 2);
  folder = mkdtempSync(join(tmpdir(), "setpoint-migrations-"));
  directory = pathToFileURL(`${folder}/`);
  write("0001_first", "CREATE TABLE IF NOT EXISTS first (id INT PRIMARY KEY)");
  write("0002_second", "CREATE TABLE IF NOT EXISTS second (id INT PRIMARY KEY)");
});

afterEach(async () => {
  await pool.end();
  await database.drop();
  rmSync(folder, { recursive: true });
});

function write(name: string, sql: string): void {
  writeFileSync(join(folder, `${name}.sql`), sql);
}

function run(): Promise<string[]> {
  return migrate(database.url, directory, () => {});
}

async function tables(): Promise<string[]> {
  const [rows] = await pool.query<RowDataPacket[]>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1",
  );
  return rows.map(({ name }) => name);
}

describe("migrate", () => {
  it("applies new migrations in order, each once", async () => {
    const told: string[] = [];
    expect(await migrate(database.url, directory, (name) => told.push(name))).toEqual(["0001_first", "0002_second"]);
    expect(told).toEqual(["0001_first", "0002_second"]);
    expect(await tables()).toEqual(["first", "schema_migrations", "second"]);
    expect(await run()).toEqual([]);
    write("0003_third", "ALTER TABLE first ADD COLUMN name VARCHAR(10)");
    expect(await run()).toEqual(["0003_third"]);
  });

  it("applies each migration once if many processes start at once", async () => {
    const applied = await Promise.all([run(), run(), run(), run()]);
    expect(applied.flat()).toEqual(["0001_first", "0002_second"]);
  });

  it("accepts a migration that another process has recorded meanwhile", async () => {
    write("0001_first", "DO SLEEP(2)");
    const checksum = createHash("sha256").update("DO SLEEP(2)").digest("hex");
    await run();
    await pool.query("DELETE FROM schema_migrations");
    const applied = await migrate(database.url, directory, (name) => {
      if (name !== "0001_first") return;
      void pool.query("INSERT INTO schema_migrations VALUES (?, ?, UTC_TIMESTAMP(3))", [name, checksum]);
    });
    expect(applied).toEqual(["0001_first", "0002_second"]);
    expect(await run()).toEqual([]);
  });

  describe("with its lock row, on any cluster node and on Vitess", () => {
    const lockRow = "SELECT applied_at FROM schema_migrations WHERE name = 'migrating'";
    const insertLock =
      "INSERT INTO schema_migrations VALUES ('migrating', 'another', UTC_TIMESTAMP(3) - INTERVAL ? SECOND)";

    it("lets one process work while the others wait and report why", async () => {
      await run();
      write("0003_third", "CREATE TABLE third (id INT)");
      await pool.query(insertLock, [0]);
      const waits: string[] = [];
      const running = migrate(database.url, directory, () => {}, { waitMs: 0, onWait: (reason) => waits.push(reason) });
      await expect.poll(() => waits).toEqual(["another process is migrating it"]);
      expect(await tables()).not.toContain("third");
      await pool.query("DELETE FROM schema_migrations WHERE name = 'migrating'");
      expect(await running).toEqual(["0003_third"]);
    });

    it("gives up waiting eventually, with advice", async () => {
      await run();
      await pool.query(insertLock, [0]);
      const connection = await createConnection(database.url);
      const work = withMigrationLock(
        connection,
        () => {},
        () => Promise.reject(new Error("not locked")),
        500,
      );
      const refusal = await work.catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(CommandError);
      expect((refusal as Error).message).toMatch(/Let it finish, and run the command again/);
      await connection.end();
    });

    it("takes over from a process that died", async () => {
      await run();
      write("0003_third", "CREATE TABLE third (id INT)");
      await pool.query(insertLock, [60]);
      expect(await run()).toEqual(["0003_third"]);
    });

    it("has no connection that lies idle while it waits, and that a proxy might close", async () => {
      await run();
      write("0003_third", "CREATE TABLE third (id INT)");
      await pool.query(insertLock, [0]);
      const waits: string[] = [];
      const onWait = (reason: string) => waits.push(reason);
      const running = migrate(database.url, directory, () => {}, { waitMs: 0, onWait });
      await expect.poll(() => waits).toHaveLength(1);
      await sleep(3_000);
      const [idle] = await pool.query<RowDataPacket[]>(
        "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND command = 'Sleep' AND time >= 2",
      );
      for (const { id } of idle) await pool.query(`KILL ${id}`);
      await pool.query("DELETE FROM schema_migrations WHERE name = 'migrating'");
      expect(await running).toEqual(["0003_third"]);
    });

    it("does not wait if there is nothing to do", async () => {
      await run();
      await pool.query(insertLock, [0]);
      expect(await run()).toEqual([]);
    });

    it("stays locked during a long statement, and is unlocked at the end", async () => {
      write("0001_first", "DO SLEEP(8)");
      const running = run();
      await expect.poll(async () => (await pool.query<RowDataPacket[]>(lockRow).catch(() => [[]]))[0]).toHaveLength(1);
      const [[first]] = await pool.query<RowDataPacket[]>(lockRow);
      const age = async () => {
        const [[row]] = await pool.query<RowDataPacket[]>(lockRow);
        return row ? row.applied_at - first?.applied_at : undefined;
      };
      await expect.poll(age).toBeGreaterThan(0);
      await running;
      expect(await age()).toBeUndefined();
    });

    it("waits on a node that does not have the table yet", async () => {
      const connection = await createConnection(database.url);
      let made: Promise<string[]> | undefined;
      const makeTable = () => {
        made ??= run();
      };
      await withMigrationLock(connection, makeTable, async () => {});
      expect(await made).toHaveLength(2);
      await connection.end();
    });

    it("is unlocked if a statement fails", async () => {
      write("0002_second", "CREATE TABLE second (id NONSENSE)");
      await expect(run()).rejects.toThrow(/NONSENSE|syntax/i);
      expect((await pool.query<RowDataPacket[]>(lockRow))[0]).toEqual([]);
    });
  });

  // Vitess has its own ways of altering tables.
  it.skipIf(isSharded)(
    "lets others use a table whose ALTER waits for a transaction, and makes it afterwards",
    async () => {
      await run();
      write("0003_third", "ALTER TABLE first ADD COLUMN name VARCHAR(10)");
      const open = await pool.getConnection();
      await open.query("START TRANSACTION");
      await open.query("SELECT id FROM first");
      const waits: string[] = [];
      const onWait = (reason: string) => waits.push(reason);
      const running = migrate(database.url, directory, () => {}, { waitMs: 60_000, onWait });
      await expect.poll(() => waits).toEqual([expect.stringContaining("Lock wait timeout")]);
      await pool.query("INSERT INTO first VALUES (1)");
      await open.query("COMMIT");
      open.release();
      expect(await running).toEqual(["0003_third"]);
    },
  );

  it("creates the database if it is missing", async () => {
    await database.drop();
    expect(await run()).toHaveLength(2);
    expect(await tables()).toContain("first");
  });

  it("continues after a failed statement", async () => {
    write("0003_third", "CREATE TABLE third (id NONSENSE)");
    await expect(run()).rejects.toThrow(/NONSENSE|syntax/i);
    write("0003_third", "CREATE TABLE third (id INT)");
    expect(await run()).toEqual(["0003_third"]);
  });

  it("rejects a file changed after it was applied", async () => {
    await run();
    write("0001_first", "CREATE TABLE IF NOT EXISTS first (id BIGINT PRIMARY KEY)");
    const refusal = await run().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(CommandError);
    expect((refusal as Error).message).toMatch(/0001_first was changed .* Write a new one instead\..* made anew/);
  });

  it.each([
    ["preset", presetMigrations],
    ["organization", organizationMigrations],
  ])("can repeat every statement of the %s service, as after a crash", async (_name, ours) => {
    const first = await migrate(database.url, ours, () => {});
    await pool.query("DELETE FROM schema_migrations");
    expect(await migrate(database.url, ours, () => {})).toEqual(first);
  });
});

describe("migrate while the database is down", () => {
  let proxy: DatabaseProxy;
  let waits: string[];

  beforeEach(async () => {
    proxy = await openDatabaseProxy(database.url);
    waits = [];
  });

  afterEach(() => proxy.close());

  function runThroughProxy(waitMs: number): Promise<string[]> {
    return migrate(proxy.url, directory, () => {}, { waitMs, onWait: (reason) => waits.push(reason) });
  }

  it("waits until it accepts connections, and reports why", async () => {
    await proxy.refuse();
    const running = runThroughProxy(15_000);
    await expect.poll(() => waits).toEqual([expect.stringContaining("ECONNREFUSED")]);
    await proxy.heal();
    expect(await running).toHaveLength(2);
  });

  it.each([1020, 1213])("retries a statement that conflicts with another process (%i)", async (errno) => {
    proxy.fail("query", errno, 1);
    expect(await runThroughProxy(15_000)).toHaveLength(2);
  });

  it("sets wsrep_sync_wait on each session if the URL says so", async () => {
    proxy.fail("session", 1047, 1);
    const url = new URL(proxy.url);
    url.searchParams.set("wsrep-sync-wait", "1");
    const running = migrate(url.href, directory, () => {}, {
      waitMs: 15_000,
      onWait: (reason) => waits.push(reason),
    });
    // MySQL does not know this variable.
    await running.catch(() => {});
    expect(waits).toEqual(["injected"]);
  });

  it.each([1040, 1053, 1129, 1203])("waits while it fails with %i", async (errno) => {
    proxy.fail("connect", errno, 2);
    expect(await runThroughProxy(15_000)).toHaveLength(2);
    expect(waits).toHaveLength(1);
  });

  it("waits for a host name that does not resolve yet", async () => {
    const url = new URL(database.url);
    url.searchParams.delete("socketPath");
    url.hostname = "setpoint.invalid";
    const failure = migrate(url.href, directory, () => {}, { waitMs: 3_000, onWait: (reason) => waits.push(reason) });
    await expect(failure).rejects.toThrow(/setpoint\.invalid/);
    expect(waits).toEqual([expect.stringContaining("setpoint.invalid")]);
  });

  it("continues with the rest after losing the connection", async () => {
    proxy.fail("query", "reset", 1);
    expect(await runThroughProxy(15_000)).toEqual(["0001_first", "0002_second"]);
    expect(await run()).toEqual([]);
  });

  it("tries again if it falls silent before the first migration", async () => {
    proxy.fail("session", "silence", 1);
    expect(await runThroughProxy(15_000)).toHaveLength(2);
  });

  it("gives up eventually, with a clear message", async () => {
    await proxy.refuse();
    const failure = await runThroughProxy(600).catch((error) => error);
    expect(failure.message).toMatch(/ECONNREFUSED/);
  });

  it("does not wait if the password is wrong", async () => {
    const url = new URL(proxy.url);
    url.username = "nobody-of-this-name";
    const failure = await migrate(url.href, directory, () => {}, { waitMs: 60_000, onWait: () => {} }).catch(
      (error) => error,
    );
    expect(failure.message).toMatch(/Access denied/);
  });

  it.each([1969, 3024])("does not repeat a statement that exceeds the server's time limit (%i)", async (errno) => {
    proxy.fail("query", errno);
    await expect(runThroughProxy(60_000)).rejects.toMatchObject({ errno });
    expect(waits).toEqual([]);
  });
});

describe("schemaIsCurrent", () => {
  it("fails until all migrations are applied", async () => {
    const check = schemaIsCurrent(pool, directory);
    await expect(check()).rejects.toThrow("lacks the migration 0002_second");
    await run();
    await check();
    write("0003_third", "CREATE TABLE third (id INT)");
    await expect(schemaIsCurrent(pool, directory)()).rejects.toThrow("lacks the migration 0003_third");
  });

  it("accepts a schema newer than the code", async () => {
    await run();
    rmSync(join(folder, "0002_second.sql"));
    await schemaIsCurrent(pool, directory)();
  });

  it("fails while the database is unreachable", async () => {
    await run();
    const check = schemaIsCurrent(pool, directory);
    await check();
    await database.drop();
    const gone = openPool(database.url, 1);
    await expect(schemaIsCurrent(gone, directory)()).rejects.toThrow(/Unknown database/);
    await gone.end();
  });
});
