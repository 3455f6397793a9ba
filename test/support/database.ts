import { randomBytes } from "node:crypto";
import { createConnection } from "mysql2/promise";
import { inject } from "vitest";
import { databaseUrl } from "../../deploy/local/database-connection.ts";

/** Whether all tests run as on Vitess: statements are sent as text, each for one workspace. */
export const isSharded = process.env.TEST_DATABASE_PROTOCOL === "text";

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  drop(): Promise<void>;
}

/** An empty database that no other test file uses. Drop it after the last test. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject("databaseServerUrl");
  const name = `test_${randomBytes(6).toString("hex")}`;
  const run = async (statement: string): Promise<void> => {
    const connection = await createConnection(serverUrl);
    await connection.query(statement, [name]);
    await connection.end();
  };
  await run("CREATE DATABASE ?? CHARACTER SET utf8mb4");
  const url = new URL(databaseUrl(serverUrl, name));
  if (isSharded) url.searchParams.set("protocol", "text");
  return { name, url: url.href, drop: () => run("DROP DATABASE IF EXISTS ??") };
}
