import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openPool, type Pool } from "../../services/platform/mysql/pool.ts";
import { inTransaction } from "../../services/platform/mysql/transaction.ts";
import { Metrics } from "../../services/platform/observe/metrics.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let metrics: Metrics;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  const setup = openPool(database.url, 1);
  await setup.query("CREATE TABLE watched (id INT PRIMARY KEY)");
  await setup.end();
});

beforeEach(() => {
  metrics = new Metrics("test");
  pool = openPool(database.url, 1, { metrics, statementTimeoutMs: 1_000 });
  return () => pool.end();
});

afterAll(() => database.drop());

/** How often each statement had each outcome. */
async function counts(): Promise<Record<string, number>> {
  const lines = (await metrics.registry.metrics()).match(/^setpoint_statement_seconds_count\{.*$/gm) ?? [];
  const label = (line: string, name: string) => line.match(new RegExp(`${name}="([^"]*)"`))?.[1];
  return Object.fromEntries(
    lines.map((line) => [`${label(line, "statement")} ${label(line, "outcome")}`, Number(line.split(" ").at(-1))]),
  );
}

describe("statements", () => {
  it("are counted by operation and table, without caller data", async () => {
    await inTransaction(pool, async (connection) => {
      await connection.execute("INSERT INTO watched VALUES (?), (?)", [1, 2]);
    });
    await pool.execute("SELECT id FROM watched WHERE id = ?", [1]);
    await pool.execute("SELECT id FROM watched WHERE id IN (?, ?)", [1, 2]);
    expect(await counts()).toEqual({
      "START ok": 1,
      "INSERT watched ok": 1,
      "COMMIT ok": 1,
      "SELECT watched ok": 2,
    });
  });

  it("are counted by error name if they fail or time out", async () => {
    await pool.execute("DELETE FROM watched");
    await pool.execute("INSERT INTO watched VALUES (?)", [7]);
    await expect(pool.execute("INSERT INTO watched VALUES (?)", [7])).rejects.toThrow();
    await expect(pool.query("SELECT SLEEP(5) FROM watched")).rejects.toThrow("did not answer");
    expect(await counts()).toEqual({
      "DELETE watched ok": 1,
      "INSERT watched ok": 1,
      "INSERT watched ER_DUP_ENTRY": 1,
      "SELECT watched ConnectionError": 1,
    });
  });

  it("that never get a connection show in the attempts to make one, so a database that is down has failures", async () => {
    const unreachable = openPool("mysql://root@127.0.0.1:1/watched", 1, { metrics });
    await expect(unreachable.query("SELECT 1")).rejects.toThrow("No connection to the database");
    await unreachable.end();
    expect(await counts()).toEqual({ "CONNECT ECONNREFUSED": 1 });
  });
});
