import { createConnection } from "mysql2/promise";

/** The address of one database on a server. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(database)}`;
  return url.href;
}

/** Makes the databases that are not there yet. */
export async function createDatabases(serverUrl: string, databases: readonly string[]): Promise<void> {
  const connection = await createConnection(serverUrl);
  try {
    for (const database of databases) {
      await connection.query("CREATE DATABASE IF NOT EXISTS ?? CHARACTER SET utf8mb4", [database]);
    }
  } finally {
    await connection.end();
  }
}

/** Why the server takes no connection; undefined if it does. */
export async function lookForConnectionFault(serverUrl: string): Promise<string | undefined> {
  try {
    const connection = await createConnection(serverUrl);
    await connection.end();
    return undefined;
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    // If a name has several addresses, only the code tells.
    return message || code || "no connection";
  }
}
