/** What mysql2 throws: errors of the server have `errno`, those of the connection only `code`. */
interface MysqlError {
  readonly code?: string;
  readonly errno?: number;
  readonly fatal?: boolean;
}

const duplicateKey = 1062;
const lockWaitTimeout = 1205;
/** What MySQL says instead where there was no wait. */
const lockNowait = 3572;
const accessDenied = 1045;
/** A user who is let in has no right to a database, or to do something with a table. */
const rightMissing = [1044, 1142];
const tlsRequired = 3159;
const unknownDatabase = 1049;
const unknownTable = 1146;
const unknownColumn = 1054;
const unknownIndex = 1176;
/** A column or an index that is there already, or an index that is gone. */
const alreadyAltered = new Set([1060, 1061, 1091]);
const unknownVariable = 1193;
const needsReprepare = 1615;
/** A statement took longer than the server lets it: what MariaDB says, and MySQL of a read. */
const statementTimeouts = [1969, 3024];
/** The disk, and a table or its tablespace. */
const fullErrnos = new Set([1021, 1114]);

/** The server asks to try again: our rollback leaves nothing of the transaction, and the connection stays good. */
const conflictErrnos = new Set([
  lockWaitTimeout,
  lockNowait,
  1213, // deadlock; on Galera also a conflict with a write on another node, told at the commit
  3101, // conflict in a replication group
]);

/**
 * The server is going away, has gone, is full, or is not the one that takes writes. The connection is dropped, also
 * where it would still work: the next one may reach another server.
 */
const lostErrnos = new Set([
  1021, // disk full
  1040, // too many connections
  1041, // out of resources: Vitess throttles
  accessDenied, // the password was changed, and ours is yet to be
  1047, // a Galera node without its primary component
  1053, // shutdown in progress
  1077, // normal shutdown
  1105, // no error of its own: what Vitess says where a shard has no primary, or is about to get another
  1114, // table full
  1129, // our host is blocked after too many faults of the network
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
 *   1053, 1317, 1927  the server may stop to wait (for a replica's receipt, say) after it has committed
 *   1021, 1114  the disk may be full for the log that follows the commit
 *   1040, 1045, 1203 …  no server says so to a COMMIT, but a proxy might, whatever became of it
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
]);

/** A fault of a connection that we noticed ourselves: the server may have said nothing. */
export class ConnectionError extends Error {
  readonly fatal = true;
  /** Of the server, where it refused the connection. */
  readonly errno: number | undefined;

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ConnectionError";
    this.errno = (cause as MysqlError | undefined)?.errno;
  }
}

/**
 * Rows are there by now that were not when we looked: a retry of ours was faster, or somebody through another node of a
 * cluster, where our lock does not hold. Trying again finds them.
 */
export class WrittenElsewhere extends Error {
  constructor(cause: unknown) {
    super("Another transaction was faster", { cause });
    this.name = "WrittenElsewhere";
  }
}

/** A COMMIT was sent and not answered: whether anything was stored is not known until someone looks. */
export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super("The database did not say whether a transaction was committed", { cause });
    this.name = "CommitUnknown";
  }
}

/** Positive where the server said it. mysql2 gives the errors of a socket that of the operating system, which is negative. */
function errnoOf(error: unknown): number {
  return (error as MysqlError).errno ?? 0;
}

/** True if a unique index refused a row. Which one it was stands in the message alone, and Vitess may leave that out. */
export function isDuplicateKey(error: unknown): boolean {
  return errnoOf(error) === duplicateKey;
}

export function isUnknownTable(error: unknown): boolean {
  return errnoOf(error) === unknownTable;
}

/** True if a replica has yet to be migrated: its primary has been, or nobody would ask. */
export function isSchemaOlder(error: unknown): boolean {
  return [unknownTable, unknownColumn, unknownIndex].includes(errnoOf(error));
}

export function isUnknownVariable(error: unknown): boolean {
  return errnoOf(error) === unknownVariable;
}

/** True if what a table was to get, or to lose, it has got or lost before. */
export function isAlreadyAltered(error: unknown): boolean {
  return alreadyAltered.has(errnoOf(error));
}

export function isUnknownDatabase(error: unknown): boolean {
  return errnoOf(error) === unknownDatabase;
}

export function isAccessDenied(error: unknown): boolean {
  return errnoOf(error) === accessDenied;
}

export function isRightMissing(error: unknown): boolean {
  return rightMissing.includes(errnoOf(error));
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

/** True if someone held a row for longer than we wait for a lock. */
export function isLockTimeout(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === lockWaitTimeout || errno === lockNowait;
}

/** For a statement outside of a transaction: true if one that waits for no row was told that it waited too long. */
export function isReadHeldUp(error: unknown, sql: string): boolean {
  return isLockTimeout(error) && sql.startsWith("SELECT");
}

/** Nobody holds a row that was asked for: a node of a cluster has waited for the others, and lost them. */
export function behindCluster(): ConnectionError {
  return new ConnectionError("The database is behind its cluster");
}

/** True if a prepared statement must be prepared again; nothing of it was done. */
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

/** For the error of a COMMIT: true if nothing was stored for sure, false if that is open. */
export function isCommitRefused(error: unknown): boolean {
  return !(error instanceof ConnectionError) && commitRefusedErrnos.has(errnoOf(error));
}

/** True if the same work may succeed, or be found done, if it is done again. */
export function isTransient(error: unknown): boolean {
  if (error instanceof CommitUnknown || error instanceof WrittenElsewhere) return true;
  return conflictErrnos.has(errnoOf(error)) || isConnectionLost(error);
}
