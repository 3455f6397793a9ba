import { randomBytes } from "node:crypto";
import { createConnection } from "mysql2/promise";
import { inject } from "vitest";
import { createDatabases, databaseUrl } from "../../deploy/local/database-connection.ts";

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  drop(): Promise<void>;
}

/** An empty database that no other test file knows. Drop it after the last test. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject("databaseServerUrl");
  const name = `test_${randomBytes(6).toString("hex")}`;
  await createDatabases(serverUrl, [name]);
  const drop = async (): Promise<void> => {
    const connection = await createConnection(serverUrl);
    await connection.query("DROP DATABASE IF EXISTS ??", [name]);
    await connection.end();
  };
  const url = new URL(databaseUrl(serverUrl, name));
  // All tests by the protocol for Vitess, too.
  const protocol = process.env.TEST_DATABASE_PROTOCOL;
  if (protocol) url.searchParams.set("protocol", protocol);
  return { name, url: url.href, drop };
}
