/** What mysql2 throws: errors of the server have `errno`, those of the connection only `code`. */
interface MysqlError {
  readonly code?: string;
  readonly errno?: number;
  readonly fatal?: boolean;
}

const duplicateKey = 1062;
const lockWaitTimeout = 1205;
/** What MySQL reports instead for NOWAIT. */
const lockNowait = 3572;
const accessDenied = 1045;
/** An authenticated user lacks a right on a database or a table. */
const privilegeMissing = [1044, 1142];
const tlsRequired = 3159;
const unknownDatabase = 1049;
const unknownTable = 1146;
const unknownColumn = 1054;
const unknownIndex = 1176;
/** A column or an index that already exists, or an index that no longer does. */
const alreadyAltered = new Set([1060, 1061, 1091]);
const unknownVariable = 1193;
const needsReprepare = 1615;
/** A statement exceeded the server's time limit: on MariaDB, and for a read on MySQL. */
const statementTimeouts = [1969, 3024];
/** The disk, and a table or its tablespace. */
const fullErrnos = new Set([1021, 1114]);

/** The server asks for a retry: our rollback leaves nothing of the transaction, and the connection stays usable. */
const conflictErrnos = new Set([
  lockWaitTimeout,
  lockNowait,
  1020, // the row was changed since it was read: MariaDB from 11.6 on, where sessions keep the server's isolation level
  1213, // deadlock; on Galera also a conflict with a write on another node, told at the commit
  1412, // a table was altered since the transaction first read
  3101, // conflict in a replication group
]);

/**
 * The server is shutting down, gone, full, or not the one that takes writes. The connection is dropped even if it would
 * still work, because the next one may reach another server.
 */
const lostErrnos = new Set([
  1021, // disk full
  1030, // the storage engine failed: a Galera node that rejoined with an unknown state, to each write
  1040, // too many connections
  1041, // out of resources: Vitess throttles
  accessDenied, // the password was changed on the server but not yet here
  1047, // a Galera node without its primary component
  1053, // shutdown in progress
  1077, // normal shutdown
  1105, // generic: what Vitess reports when a shard has no primary, or is about to get another
  1114, // table full
  1129, // our host is blocked after too many network errors
  1152, // aborted connection
  1158, // network read error
  1159, // network read timeout
  1160, // network write error
  1161, // network write timeout
  1180, // error during the commit: a Galera node that lost its primary component, or a disk
  1203, // too many user connections
  1226, // a limit of the user
  1290, // read-only, while another server takes over
  1317, // the statement was killed
  1461, // too many prepared statements in the server; ours are closed with the connection
  needsReprepare,
  1665, // the format of the binary log allows no writes; when that is changed, it is for new connections
  1792, // read-only transaction, while another server takes over
  1836, // read-only mode, likewise
  1927, // connection killed
  2006, // server has gone away
  2013, // lost connection
  3032, // the server is offline for all but administrators
  3100, // the replication group failed
  3168, // the server is not available: a tablet of Vitess that does not serve
  4031, // idle connection closed by the server
  ...statementTimeouts,
]);

/**
 * The answers to a COMMIT after which the transaction is surely not stored. Every other error leaves that open, among
 * them these, which look like a refusal:
 *   1047, 1180  a Galera node may have sent the transaction to the others before it lost them, and they apply it
 *   3100        the same in a replication group
 *   1053, 1317, 1927  the server may stop waiting (for a replica, say) after it has committed
 *   1021, 1114  the disk may be full for the log written after the commit
 *   1040, 1045, 1203 …  no server answers a COMMIT with these, but a proxy might, whatever the outcome
 */
const commitRefusedErrnos = new Set([
  lockWaitTimeout, // a lock that a backup holds on all commits: the server rolls back
  1213, // the server has rolled back
  1290, // checked before anything is written, and rolled back
  1792, // likewise
  1836, // likewise
  3101, // the group has refused it, and the server has rolled back
]);

const lostCodes = new Set([
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOENT", // no socket file yet
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
  "ETIMEDOUT",
  "PROTOCOL_SEQUENCE_TIMEOUT", // no answer within the time limit that mysql2 was given
]);

/** A fault of a connection that we noticed ourselves; the server may have reported nothing. */
export class ConnectionError extends Error {
  readonly fatal = true;
  /** The server's error number, if it refused the connection. */
  readonly errno: number | undefined;

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ConnectionError";
    this.errno = (cause as MysqlError | undefined)?.errno;
  }
}

/** All connections are in use, and there may be no more of them; as far as is known, the database can be reached. */
export class NoConnectionFree extends ConnectionError {}

/**
 * Rows exist by now that did not when we looked: a retry of ours was faster, or another caller through another node of
 * a cluster, where our lock does not hold. Trying again finds them.
 */
export class WrittenElsewhere extends Error {
  constructor(cause: unknown) {
    super("Another transaction was faster", { cause });
    this.name = "WrittenElsewhere";
  }
}

/** A COMMIT was sent and not answered: whether anything was stored is unknown until someone looks. */
export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super("The database did not say whether a transaction was committed", { cause });
    this.name = "CommitUnknown";
  }
}

/**
 * Positive if the server reported it. For socket errors, mysql2 passes on that of the operating system, which is
 * negative.
 */
function errnoOf(error: unknown): number {
  return (error as MysqlError).errno ?? 0;
}

/** True if a unique index refused a row. Only the message says which one, and Vitess may leave that out. */
export function isDuplicateKey(error: unknown): boolean {
  return errnoOf(error) === duplicateKey;
}

export function isUnknownTable(error: unknown): boolean {
  return errnoOf(error) === unknownTable;
}

/** True if a replica has yet to be migrated: its primary has been, or this would not have been queried. */
export function isSchemaOlder(error: unknown): boolean {
  return [unknownTable, unknownColumn, unknownIndex].includes(errnoOf(error));
}

export function isUnknownVariable(error: unknown): boolean {
  return errnoOf(error) === unknownVariable;
}

/** True if the change to a table had already been made. */
export function isAlreadyAltered(error: unknown): boolean {
  return alreadyAltered.has(errnoOf(error));
}

export function isUnknownDatabase(error: unknown): boolean {
  return errnoOf(error) === unknownDatabase;
}

export function isAccessDenied(error: unknown): boolean {
  return errnoOf(error) === accessDenied;
}

export function isPrivilegeMissing(error: unknown): boolean {
  return privilegeMissing.includes(errnoOf(error));
}

export function isTlsRequired(error: unknown): boolean {
  return errnoOf(error) === tlsRequired;
}

export function isStatementTimeout(error: unknown): boolean {
  return statementTimeouts.includes(errnoOf(error));
}

/** True if there is no room left for what is to be stored. */
export function isFull(error: unknown): boolean {
  return fullErrnos.has(errnoOf(error));
}

/** True if a row was locked for longer than we wait. */
export function isLockTimeout(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === lockWaitTimeout || errno === lockNowait;
}

/** For a statement outside a transaction: true if one that waits for no row was reported as a lock timeout. */
export function isReadLockTimeout(error: unknown, sql: string): boolean {
  return isLockTimeout(error) && sql.startsWith("SELECT");
}

/** Nobody holds a row that was asked for: a cluster node has waited for the others, and lost them. */
export function behindCluster(): ConnectionError {
  return new ConnectionError("The database is behind its cluster");
}

/** True if a prepared statement must be prepared again; it had no effect. */
export function isReprepareNeeded(error: unknown): boolean {
  return errnoOf(error) === needsReprepare;
}

/** True if the database cannot do the work now: the connection is lost, cannot be made, or must not be used again. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  const { code, fatal } = error as MysqlError;
  const errno = errnoOf(error);
  if (errno > 0) return lostErrnos.has(errno);
  // A command on a connection that was closed meanwhile fails without any code.
  if (code === undefined) return fatal === true;
  return lostCodes.has(code) || (fatal === true && code.startsWith("PROTOCOL_"));
}

/** For the error of a COMMIT: true if certainly nothing was stored, false if that is open. */
export function isCommitRefused(error: unknown): boolean {
  return !(error instanceof ConnectionError) && commitRefusedErrnos.has(errnoOf(error));
}

/** True if the same work may succeed, or turn out to be done, when it is repeated. */
export function isTransient(error: unknown): boolean {
  if (error instanceof CommitUnknown || error instanceof WrittenElsewhere) return true;
  return conflictErrnos.has(errnoOf(error)) || isConnectionLost(error);
}
