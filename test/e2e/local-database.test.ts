import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BackgroundProcess } from "../../deploy/local/background-process.ts";
import { findDataFlavor, prepareDatabase } from "../../deploy/local/database.ts";
import { findDatabaseServer } from "../../deploy/local/database-server.ts";
import type { PrivateDatabase } from "../../deploy/local/private-database.ts";

const server = await findDatabaseServer({ report: () => {} });
const { signal } = new AbortController();

let folder: string;
const opened: (BackgroundProcess | PrivateDatabase)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-local-database-"));
});

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await ("stop" in each ? each.stop(0) : each.close());
  rmSync(folder, { recursive: true });
});

async function prepare(home = folder): Promise<PrivateDatabase> {
  const files = { dataDir: join(home, "data"), logFile: join(folder, "database.log") };
  const database = await prepareDatabase({ server, ...files, durable: false, signal });
  opened.push(database);
  return database;
}

async function start(database: PrivateDatabase): Promise<BackgroundProcess> {
  const running = await database.start(signal);
  opened.push(running);
  return running;
}

/** Adds a row to a table, and returns how many there are. */
async function addRow({ serverUrl }: PrivateDatabase): Promise<number> {
  const connection = await createConnection(serverUrl);
  await connection.query("CREATE DATABASE IF NOT EXISTS kept CHARACTER SET utf8mb4");
  await connection.query("USE kept");
  await connection.query("CREATE TABLE IF NOT EXISTS t (id INT PRIMARY KEY AUTO_INCREMENT, text VARCHAR(9))");
  await connection.query("INSERT INTO t (text) VALUES ('größe 😀')");
  const [rows] = await connection.query<RowDataPacket[]>("SELECT COUNT(*) AS count FROM t WHERE text = 'größe 😀'");
  await connection.end();
  return rows[0]?.count;
}

describe("the private database", () => {
  it("keeps its data across a restart", async () => {
    const database = await prepare();
    const first = await start(database);
    expect(await addRow(database)).toBe(1);
    await first.stop();
    expect(await first.exited).toMatchObject({ reason: "exit code 0", killed: false });
    const again = await prepare();
    await start(again);
    expect(await addRow(again)).toBe(2);
    expect(findDataFlavor(join(folder, "data"))).toBe(server.flavor);
  });

  it("comes back at the same address after it was killed", async () => {
    const database = await prepare();
    const first = await start(database);
    await addRow(database);
    process.kill(first.pid, "SIGKILL");
    expect(await first.exited).toMatchObject({ reason: "ended by SIGKILL", killed: true });
    await start(database);
    expect(await addRow(database)).toBeGreaterThan(0);
  });

  it("runs in a folder with spaces and a path too long for a socket", async () => {
    const database = await prepare(join(folder, "a home", "x".repeat(100)));
    await start(database);
    expect(await addRow(database)).toBe(1);
  });

  it("takes over from a server left by a killed run", async () => {
    const left = await start(await prepare());
    const database = await prepare();
    expect(await left.exited).toMatchObject({ killed: false });
    await start(database);
    expect(await addRow(database)).toBe(1);
  });

  it("does not touch an unrelated process with the recorded pid", async () => {
    const running = await start(await prepare());
    await running.stop();
    const stranger = spawn("sleep", ["60"]);
    writeFileSync(join(folder, "data", "server.pid"), String(stranger.pid));
    await start(await prepare());
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    stranger.kill();
    await once(stranger, "exit");
  });

  it("leaves no incomplete data folder when interrupted", async () => {
    const interrupted = new AbortController();
    const dataDir = join(folder, "data");
    const logFile = join(folder, "database.log");
    const options = { server, dataDir, logFile, durable: false, signal: interrupted.signal };
    const preparing = prepareDatabase(options).catch((reason: unknown) => reason);
    await expect.poll(() => existsSync(`${dataDir}.new/ibdata1`)).toBe(true);
    interrupted.abort("Ctrl-C");
    expect(await preparing).toBe("Ctrl-C");
    expect(existsSync(dataDir)).toBe(false);
    await start(await prepare());
    expect(readdirSync(folder)).not.toContain("data.new");
  });

  it("reports why it does not start, with the end of its log", async () => {
    await (await start(await prepare())).stop();
    writeFileSync(join(folder, "data", "ibdata1"), "broken");
    await expect((await prepare()).start(signal)).rejects.toThrow(/did not start \(exit code 1\).*InnoDB/s);
  });
});
