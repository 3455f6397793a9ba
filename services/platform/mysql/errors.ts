import { type DomainError, unavailable } from "../domain-error.ts";

/** What mysql2 throws: errors of the server have `errno`, those of the connection only `code`. */
interface MysqlError {
  readonly code?: string;
  readonly errno?: number;
  readonly sqlMessage?: string;
  readonly fatal?: boolean;
}

const duplicateKey = 1062;
const unknownDatabase = 1049;

/** The server asks to try again: nothing of the transaction is left. */
const retryableErrnos = new Set([
  1205, // lock wait timeout
  1213, // deadlock
]);

/** The server is going away, has gone, or is full: the connection is lost, and what it was doing may have happened or not. */
const lostErrnos = new Set([
  1040, // too many connections
  1053, // shutdown in progress
  1077, // normal shutdown
  1152, // aborted connection
  1158, // network read error
  1160, // network write error
  1203, // too many user connections
  1290, // read-only, while another server takes over
  1792, // read-only transaction, likewise
  1836, // read-only mode, likewise
  1927, // connection killed
  2006, // server has gone away
  2013, // lost connection
  4031, // idle connection closed by the server
]);

const lostCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT", // no socket file yet
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "ETIMEDOUT",
  "POOL_CLOSED",
  "PROTOCOL_CONNECTION_LOST",
  "PROTOCOL_SEQUENCE_TIMEOUT",
]);

/** True where a unique index refused a row; with `index`, where it was that one. */
export function isDuplicateKey(error: unknown, index?: string): boolean {
  const { errno, sqlMessage } = error as MysqlError;
  if (errno !== duplicateKey) return false;
  // MariaDB writes `for key 'name'`, MySQL `for key 'table.name'`.
  return index === undefined || (sqlMessage?.endsWith(`${index}'`) ?? false);
}

export function isUnknownDatabase(error: unknown): boolean {
  return (error as MysqlError).errno === unknownDatabase;
}

/** True where the connection is lost or cannot be made, so that it must not be used again. */
export function isConnectionLost(error: unknown): boolean {
  const { code, errno, fatal } = error as MysqlError;
  // mysql2 gives the errors of a socket the errno of the operating system, which is negative.
  if (errno !== undefined && errno > 0) return lostErrnos.has(errno);
  return (code !== undefined && lostCodes.has(code)) || (fatal === true && code?.startsWith("PROTOCOL_") === true);
}

/** True where the same work may succeed if it is done again. */
export function isTransient(error: unknown): boolean {
  return retryableErrnos.has((error as MysqlError).errno ?? 0) || isConnectionLost(error);
}

export function databaseUnavailable(cause: unknown): DomainError {
  return unavailable("The database cannot be reached right now; nothing was stored. Try again in a moment.", cause);
}
