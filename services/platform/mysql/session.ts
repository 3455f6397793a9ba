/** The isolation level of every session, unless a transaction has its own. */
export const setReadCommitted = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";

export const collation = "utf8mb4_bin";

/**
 * A server may be told to take no character set from a handshake. One that reads text in another, such as GBK, would find
 * the end of a value where there is none.
 */
const setCharacterSet = `SET NAMES utf8mb4 COLLATE ${collation}`;

const strictModes = [
  "STRICT_ALL_TABLES",
  "NO_ZERO_DATE",
  "NO_ZERO_IN_DATE",
  "NO_ENGINE_SUBSTITUTION",
  "ERROR_FOR_DIVISION_BY_ZERO",
];

interface SessionLimits {
  readonly lockTimeoutSeconds: number;
  /** Default: the server ends no read, however long it takes. */
  readonly readTimeoutMs?: number;
  /** The server ends a session that it does not hear of for this long. Default: what is set there. */
  readonly silenceMaxSeconds?: number;
}

/**
 * The statements that a session begins with. All sessions speak UTC, strict SQL and READ COMMITTED, and do not wait long
 * for a lock: whoever holds one for seconds has hung, and the default of 50 s would outlast every caller.
 * Under REPEATABLE READ, locking a row that is not there yet locks the gap, and concurrent creations deadlock.
 */
export function sessionSettings({ lockTimeoutSeconds, readTimeoutMs, silenceMaxSeconds }: SessionLimits): string[] {
  const variables = [
    "time_zone = '+00:00'",
    `innodb_lock_wait_timeout = ${lockTimeoutSeconds}`,
    `sql_mode = '${strictModes.join(",")}'`,
    // If a machine is lost in the midst of a transaction, nothing tells the server: the rows would stay locked until its
    // system misses the connection, which takes two hours by default.
    ...(silenceMaxSeconds === undefined ? [] : [`wait_timeout = ${silenceMaxSeconds}`]),
  ];
  const endingReads = readTimeoutMs === undefined ? "" : endReadsAfter(readTimeoutMs);
  // Not one statement: SET TRANSACTION stands alone, and MySQL and MariaDB name the variable behind it differently.
  return [setCharacterSet, setReadCommitted, `SET SESSION ${variables.join(", ")}${endingReads}`];
}

/**
 * Further settings of a session: a server does not notice that nobody waits for a read any more, and crowds of those could
 * use it up. Each server takes the comment that is meant for it, MySQL the first and MariaDB the second; proxies drop both.
 */
function endReadsAfter(timeoutMs: number): string {
  return ` /*!80000 , max_execution_time = ${timeoutMs} */ /*M!100100 , max_statement_time = ${timeoutMs / 1_000} */`;
}
