import { setTimeout as sleep } from "node:timers/promises";
import type { Pool, RowDataPacket } from "../../services/platform/mysql/pool.ts";

/**
 * MySQL 9 does not show a transaction whose statement contains binary values, so there the locks themselves are
 * queried.
 */
const waitsByServer = {
  MariaDB: `SELECT p.id FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
    WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()`,
  MySQL: `SELECT l.engine_lock_id FROM performance_schema.data_locks l
    JOIN performance_schema.data_lock_waits w ON w.requesting_engine_lock_id = l.engine_lock_id
    WHERE l.object_schema = DATABASE()`,
};

/** MariaDB caches this table, and does not refresh it while it is queried more than once in a tenth of a second. */
const pauseMs = 150;

/** Whether a transaction in this database waits for a row lock that another one holds. */
export async function waitsForLock(pool: Pool): Promise<boolean> {
  const server = await serverOf(pool);
  await sleep(pauseMs);
  const [waits] = await pool.query<RowDataPacket[]>(waitsByServer[server]);
  return waits.length > 0;
}

const behindLockByServer = {
  MariaDB: "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND state LIKE 'Waiting for table%'",
  MySQL: `SELECT thread_id FROM performance_schema.threads
    WHERE processlist_db = DATABASE() AND processlist_state LIKE 'Waiting for table%'`,
};

/** How many statements in this database wait for a lock on a whole table. */
export async function statementsBehindLock(pool: Pool): Promise<number> {
  const [waits] = await pool.query<RowDataPacket[]>(behindLockByServer[await serverOf(pool)]);
  return waits.length;
}

export async function serverOf(pool: Pool): Promise<"MariaDB" | "MySQL"> {
  const [versions] = await pool.query<RowDataPacket[]>("SELECT VERSION() AS version");
  return String(versions[0]?.version).includes("MariaDB") ? "MariaDB" : "MySQL";
}
