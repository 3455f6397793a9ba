import { createConnection } from "mysql2/promise";

/** The URL of one database on a server. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(database)}`;
  return url.href;
}

/** Why the server accepts no connection; undefined if it does. */
export async function lookForConnectionFault(serverUrl: string): Promise<string | undefined> {
  try {
    const connection = await createConnection(serverUrl);
    await connection.end();
    return undefined;
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    // If a host name has several addresses, the message is empty and only the code tells.
    return message || code || "no connection";
  }
}
