import { connect } from "node:net";
import { type Connection, createConnection, type RowDataPacket } from "mysql2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { type DatabaseProxy, openDatabaseProxy } from "../support/database-proxy.ts";

/** What `services/platform/mysql/connection.ts` expects of mysql2, beyond what its documentation promises. */
let database: TestDatabase;
let proxy: DatabaseProxy;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await openDatabaseProxy(database.url);
});

afterAll(async () => {
  await proxy.close();
  await database.drop();
});

function answerOf(connection: Connection, sql: string): Promise<unknown> {
  return new Promise((resolve) => {
    connection.query(sql, (error: Error | null, rows: unknown) => resolve(error ?? rows));
  });
}

function statusOf(connection: Connection, name: string): Promise<number> {
  return new Promise((resolve, reject) => {
    connection.query<RowDataPacket[]>(`SHOW SESSION STATUS LIKE '${name}'`, (error, rows) =>
      error ? reject(error) : resolve(Number(rows[0]?.Value)),
    );
  });
}

describe("mysql2", () => {
  it("requests its socket immediately, with host and port", async () => {
    const { port } = new URL(proxy.url);
    const asked: unknown[] = [];
    const stream = ({ config }: { config: { host: string; port: number } }) => {
      asked.push([config.host, config.port]);
      return connect(config.port, config.host);
    };
    const connection = createConnection({ uri: proxy.url, stream, connectTimeout: 0 });
    expect(asked).toEqual([["127.0.0.1", Number(port)]]);
    expect(await answerOf(connection, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    connection.destroy();
  });

  it("fails every queued command with the connection error", async () => {
    const url = new URL(proxy.url);
    url.username = "nobody-of-this-name";
    const connection = createConnection({ uri: url.href });
    connection.on("error", () => {});
    const answers = await Promise.all([answerOf(connection, "SELECT 1"), answerOf(connection, "SELECT 2")]);
    expect(answers).toMatchObject([{ errno: 1045 }, { errno: 1045 }]);
  });

  it("runs commands in order, including one added while another is answered", async () => {
    const connection = createConnection({ uri: proxy.url });
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      connection.query("SELECT SLEEP(0.05)", () => {
        order.push("slow");
        connection.query("SELECT 1", () => {
          order.push("added");
          resolve();
        });
      });
      connection.query("SELECT 1", () => order.push("fast"));
    });
    expect(order).toEqual(["slow", "fast", "added"]);
    connection.destroy();
  });

  it("unprepares a statement on request and prepares it again", async () => {
    const connection = createConnection({ uri: proxy.url });
    const execute = () => new Promise((resolve) => connection.execute("SELECT 7", resolve));
    await execute();
    await execute();
    expect(await statusOf(connection, "Com_stmt_prepare")).toBe(1);
    connection.unprepare("SELECT 7");
    await execute();
    expect(await statusOf(connection, "Com_stmt_close")).toBe(1);
    expect(await statusOf(connection, "Com_stmt_prepare")).toBe(2);
    connection.destroy();
  });
});
