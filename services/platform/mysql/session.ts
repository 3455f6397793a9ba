/** The isolation level of every session, unless a transaction has its own. */
export const setReadCommitted = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";

/**
 * A server may leave this to its clients: then nothing would be stored that is not followed by a COMMIT. Or it may begin
 * another transaction at each COMMIT: then what follows would not be stored, and would read what is no longer there.
 */
export const commitEachStatement = "autocommit = 1, completion_type = 'NO_CHAIN'";

export const collation = "utf8mb4_bin";

/**
 * A server may be configured to ignore the character set of the handshake. One that reads text in another, such as GBK,
 * would see the end of a value where there is none.
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
  /** The server ends a session that is silent for this long. Default: the server's own setting. */
  readonly silenceMaxSeconds?: number;
  /** The same for a session that is silent within a transaction. MySQL has no such limit. */
  readonly transactionSilenceMaxSeconds?: number | undefined;
}

/**
 * The statements that begin a session. All sessions use UTC, strict SQL, autocommit and READ COMMITTED, and do not wait
 * long for a lock: whoever holds one for seconds has hung, and the default of 50 s would outlast every caller. Under
 * REPEATABLE READ, locking a row that does not exist yet locks the gap, and concurrent creations deadlock.
 */
export function sessionSettings({
  lockTimeoutSeconds,
  readTimeoutMs,
  silenceMaxSeconds,
  transactionSilenceMaxSeconds,
}: SessionLimits): string[] {
  const variables = [
    commitEachStatement,
    "time_zone = '+00:00'",
    `innodb_lock_wait_timeout = ${lockTimeoutSeconds}`,
    `sql_mode = '${strictModes.join(",")}'`,
    // If a machine is lost during a transaction, nothing tells the server: the rows would stay locked until its
    // operating system drops the connection, after two hours by default.
    ...(silenceMaxSeconds === undefined ? [] : [`wait_timeout = ${silenceMaxSeconds}`]),
  ];
  const endingReads = readTimeoutMs === undefined ? "" : endReadsAfter(readTimeoutMs);
  const endingTransactions =
    transactionSilenceMaxSeconds === undefined
      ? ""
      : ` /*M!100300 , idle_transaction_timeout = ${transactionSilenceMaxSeconds} */`;
  // Not one statement: SET TRANSACTION cannot be combined, and MySQL and MariaDB name its variable differently.
  return [setCharacterSet, setReadCommitted, `SET SESSION ${variables.join(", ")}${endingReads}${endingTransactions}`];
}

/**
 * Further settings of a session: a server does not notice that nobody waits for a read any more, and many of those
 * could exhaust it. Each server executes only the comment that is meant for it, MySQL the first and MariaDB the second;
 * proxies drop both.
 */
function endReadsAfter(timeoutMs: number): string {
  return ` /*!80000 , max_execution_time = ${timeoutMs} */ /*M!100100 , max_statement_time = ${timeoutMs / 1_000} */`;
}
