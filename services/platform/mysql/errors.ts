import { DomainError, unavailable } from "../domain/domain-error.ts";

/** What mysql2 throws: errors of the server have `errno`, those of the connection only `code`. */
interface MysqlError {
  readonly code?: string;
  readonly errno?: number;
  readonly sqlMessage?: string;
  readonly fatal?: boolean;
}

const duplicateKey = 1062;
const lockWaitTimeout = 1205;
/** What MySQL says instead where there was no wait. */
const lockNowait = 3572;
const unknownDatabase = 1049;
const unknownTable = 1146;
const duplicateColumn = 1060;

/** The server asks to try again: our rollback leaves nothing of the transaction. */
const retryableErrnos = new Set([
  lockWaitTimeout,
  lockNowait,
  1213, // deadlock
  3101, // conflict in a replication group
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
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
  "ETIMEDOUT",
  "POOL_CLOSED",
  "PROTOCOL_CONNECTION_LOST",
  "PROTOCOL_SEQUENCE_TIMEOUT",
]);

/** True where a unique index refused a row; with `index`, where it was that one. */
export function isDuplicateKey(error: unknown, index?: string): boolean {
  const { errno, sqlMessage } = error as MysqlError;
  if (errno !== duplicateKey) return false;
  // MariaDB writes `for key 'name'`, MySQL `for key 'table.name'`, and Vitess goes on after that.
  return index === undefined || new RegExp(`for key '([^']*\\.)?${index}'`).test(sqlMessage ?? "");
}

export function isUnknownTable(error: unknown): boolean {
  return (error as MysqlError).errno === unknownTable;
}

export function isDuplicateColumn(error: unknown): boolean {
  return (error as MysqlError).errno === duplicateColumn;
}

export function isUnknownDatabase(error: unknown): boolean {
  return (error as MysqlError).errno === unknownDatabase;
}

/** True where someone held a row for longer than we wait for a lock. */
export function isLockTimeout(error: unknown): boolean {
  const { errno } = error as MysqlError;
  return errno === lockWaitTimeout || errno === lockNowait;
}

/** True where the connection is lost or cannot be made, so that it must not be used again. */
export function isConnectionLost(error: unknown): boolean {
  const { code, errno, fatal } = error as MysqlError;
  // mysql2 gives the errors of a socket the errno of the operating system, which is negative.
  if (errno !== undefined && errno > 0) return lostErrnos.has(errno);
  // A command on a connection that was closed meanwhile fails without any code.
  if (code === undefined) return fatal === true;
  return lostCodes.has(code) || (fatal === true && code.startsWith("PROTOCOL_"));
}

/** True where the same work may succeed if it is done again. */
export function isTransient(error: unknown): boolean {
  return retryableErrnos.has((error as MysqlError).errno ?? 0) || isConnectionLost(error);
}

/** Others kept changing the same rows until the time was up. */
export function conflictNotSettled(cause: unknown): DomainError {
  return new DomainError("aborted", {
    reason: "CONFLICT",
    message: "Someone else is changing the same thing; nothing was stored. Try again in a moment.",
    cause,
  });
}

export function databaseUnavailable(cause: unknown): DomainError {
  return unavailable(
    "The database cannot be reached right now. Try again in a moment; with the same request id, nothing is stored twice.",
    cause,
  );
}
