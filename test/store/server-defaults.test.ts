import { afterAll, beforeAll, expect, it } from "vitest";
import { databaseUrl } from "../../deploy/local/database-connection.ts";
import { organizationMigrations } from "../../services/organization/app.ts";
import { migrate } from "../../services/platform/mysql/migrate.ts";
import { openPool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { inSnapshot } from "../../services/platform/mysql/transaction.ts";
import { presetMigrations } from "../../services/preset/app.ts";
import { type OwnServer, startOwnServer } from "../support/own-server.ts";

let server: OwnServer;

beforeAll(async () => {
  server = await startOwnServer([
    // In GBK the last byte of the sign below and the backslash behind it are one character, and the quote stands alone.
    "--skip-character-set-client-handshake",
    "--character-set-server=gbk",
    // Here a backslash is an ordinary character.
    "--sql-mode=NO_BACKSLASH_ESCAPES",
    // Leaves it to the client to end each statement with a COMMIT.
    "--autocommit=0",
    // Begins another transaction at each COMMIT.
    "--completion-type=CHAIN",
    // Refuses to update or delete rows that are not named by a key.
    "--sql-safe-updates",
  ]);
}, 60_000);

afterAll(() => server.stop());

it.each(["prepared", "text"] as const)(
  "keeps values intact under server defaults that would parse them differently: %s",
  async (protocol) => {
    const pool = openPool(server.url, 1, { protocol });
    const value = "€', 'taken' AS other -- ";
    const [rows] = await pool.execute<RowDataPacket[]>("SELECT ? AS value", [value]);
    expect(rows).toEqual([{ value }]);
    await pool.end();
  },
);

it("migrates, and stores what is written outside of a transaction, on a server that commits nothing by itself", async () => {
  const url = databaseUrl(server.url, "setpoint_preset");
  await migrate(url, presetMigrations, () => {});
  const writer = openPool(url, 1);
  const reader = openPool(url, 1);
  await writer.query("CREATE TABLE notes (id INT PRIMARY KEY)");
  await writer.query("INSERT INTO notes (id) VALUES (1)");
  const [rows] = await reader.query<RowDataPacket[]>("SELECT id FROM notes");
  expect(rows).toEqual([{ id: 1 }]);
  await Promise.all([writer.end(), reader.end()]);
});

it("migrates rows, too, on a server that updates none that is not named by a key", async () => {
  const url = databaseUrl(server.url, "setpoint_organization");
  expect(await migrate(url, organizationMigrations, () => {})).toContain("0016_membership_names_of_users");
});

it("reads what others have stored meanwhile after a transaction, and stores what follows it", async () => {
  const writer = openPool(server.url, 1);
  const reader = openPool(server.url, 1);
  const count = async () => (await reader.query<RowDataPacket[]>("SELECT COUNT(*) AS total FROM counted"))[0];
  await writer.query("CREATE DATABASE counts");
  for (const pool of [writer, reader]) await pool.query("USE counts");
  await writer.query("CREATE TABLE counted (id INT PRIMARY KEY)");
  for (const pool of [writer, reader]) await inSnapshot(pool, async () => {});
  expect(await count()).toEqual([{ total: 0 }]);
  await writer.query("INSERT INTO counted (id) VALUES (1)");
  expect(await count()).toEqual([{ total: 1 }]);
  await Promise.all([writer.end(), reader.end()]);
});
