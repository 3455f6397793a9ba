import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { databaseUrl } from "../../deploy/local/database-connection.ts";
import { migrate } from "../../services/platform/mysql/migrate.ts";
import { openPool, type Pool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { schemaIsCurrent } from "../../services/platform/mysql/schema.ts";
import { retryTransient } from "../../services/platform/mysql/transaction.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { presetMigrations } from "../../services/preset/app.ts";
import { type OwnServer, startOwnServer } from "../support/own-server.ts";

let server: OwnServer;
let admin: Pool;
let pool: Pool;

beforeAll(async () => {
  server = await startOwnServer(["--log-bin=binlog", "--server-id=1"]);
  admin = openPool(databaseUrl(server.url, "setpoint_preset"), 1);
  await migrate(databaseUrl(server.url, "setpoint_preset"), presetMigrations, () => {});
  await admin.query("CREATE TABLE notes (id INT)");
  // A server lets its administrators write even if it is read-only.
  await admin.query("CREATE USER service IDENTIFIED BY 'x'");
  await admin.query("GRANT SELECT, INSERT ON setpoint_preset.* TO service");
  const url = new URL(databaseUrl(server.url, "setpoint_preset"));
  url.username = "service";
  url.password = "x";
  pool = openPool(url.href, 3);
}, 60_000);

afterAll(async () => {
  await Promise.all([pool.end(), admin.end()]);
  await server.stop();
});

beforeEach(() => admin.query("SET GLOBAL read_only = OFF"));

async function connectionIds(): Promise<number[]> {
  const [rows] = await admin.query<RowDataPacket[]>(
    "SELECT id FROM information_schema.processlist WHERE user = 'service'",
  );
  return rows.map(({ id }) => id);
}

describe("a server that became read-only", () => {
  it("is not ready until it accepts writes again", async () => {
    const check = schemaIsCurrent(pool, presetMigrations);
    await check();
    await admin.query("SET GLOBAL read_only = ON");
    await expect(check()).rejects.toThrow("read-only");
    await admin.query("SET GLOBAL read_only = OFF");
    await check();
  });

  it("has all its connections closed, so that new ones reach the new primary", async () => {
    const held = await Promise.all([1, 2, 3].map(() => pool.getConnection()));
    for (const connection of held) connection.release();
    const before = await connectionIds();
    expect(before.length).toBe(3);
    await admin.query("SET GLOBAL read_only = ON");
    await schemaIsCurrent(pool, presetMigrations)().catch(() => {});
    await expect.poll(async () => (await connectionIds()).filter((id) => before.includes(id))).toEqual([]);
  });

  it("makes a write wait for the new primary on another connection", async () => {
    await pool.query("SELECT 1");
    const before = await connectionIds();
    await admin.query("SET GLOBAL read_only = ON");
    const refused = await pool.execute("INSERT INTO notes VALUES (1)").catch((error) => error);
    expect(refused.errno).toBe(1290);
    const writing = retryTransient(monotonicMs() + 10_000, () => pool.execute("INSERT INTO notes VALUES (1)"));
    await admin.query("SET GLOBAL read_only = OFF");
    await writing;
    expect((await connectionIds()).filter((id) => before.includes(id))).toEqual([]);
  });
});

it("a server whose binary log has the format STATEMENT is written to once that is changed", async () => {
  await admin.query("SET GLOBAL binlog_format = STATEMENT");
  // The format is that of the server at the time of the connection.
  pool.renew();
  const refused = await pool.execute("INSERT INTO notes VALUES (1)").catch((error) => error);
  expect(refused.errno).toBe(1665);
  const writing = retryTransient(monotonicMs() + 10_000, () => pool.execute("INSERT INTO notes VALUES (1)"));
  await admin.query("SET GLOBAL binlog_format = ROW");
  await writing;
});
