import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "mysql2/promise";
import { CommandError } from "../process/command-error.ts";
import { monotonicMs } from "../time/clock.ts";
import { isConnectionLost, isDuplicateKey, isTransient, isUnknownTable } from "./errors.ts";

/** A row beside those of the migrations, whose names begin with a number. */
const lockName = "migrating";

/** By the database's clock, which all processes share. A process that has not renewed its row for this long is dead. */
const lockExpirySeconds = 20;
const heartbeatIntervalMs = 5_000;
const pauseMs = 250;

/**
 * Runs `work` while nobody else does so on the same database, from wherever: the process that migrates holds a row and
 * keeps renewing it. A named lock (`GET_LOCK`) would hold on only one node of a Galera cluster, and be lost on Vitess
 * after half a minute. The work has its own connection, because a statement of it may take hours. Throws a
 * CommandError if others do not finish.
 */
export async function withMigrationLock(
  connection: Connection,
  onWait: (reason: string, leftMs: number) => void,
  work: () => Promise<void>,
  waitMaxMs = 300_000,
): Promise<void> {
  const token = randomBytes(32).toString("hex");
  await acquireLock(connection, token, onWait, waitMaxMs);
  const timer = setInterval(() => {
    // If this fails, others may begin too early: then they do the same work, with the same result.
    connection
      .query("UPDATE schema_migrations SET applied_at = UTC_TIMESTAMP(3) WHERE name = ? AND checksum = ?", [
        lockName,
        token,
      ])
      .catch(() => {});
  }, heartbeatIntervalMs);
  try {
    await work();
  } finally {
    clearInterval(timer);
    // If this fails, the row expires.
    await connection
      .query("DELETE FROM schema_migrations WHERE name = ? AND checksum = ?", [lockName, token])
      .catch(() => {});
  }
}

async function acquireLock(
  connection: Connection,
  token: string,
  onWait: (reason: string, leftMs: number) => void,
  waitMaxMs: number,
): Promise<void> {
  const deadlineMs = monotonicMs() + waitMaxMs;
  while (!(await tryToAcquire(connection, token))) {
    const leftMs = deadlineMs - monotonicMs();
    if (leftMs <= 0) {
      throw new CommandError(
        "Another process is still migrating this database. Let it finish, and run the command again.",
      );
    }
    onWait("another process is migrating it", leftMs);
    await sleep(pauseMs);
  }
}

async function tryToAcquire(connection: Connection, token: string): Promise<boolean> {
  try {
    await connection.query(
      `DELETE FROM schema_migrations WHERE name = ? AND applied_at < UTC_TIMESTAMP(3) - INTERVAL ${lockExpirySeconds} SECOND`,
      [lockName],
    );
    await connection.query(
      "INSERT INTO schema_migrations (name, checksum, applied_at) VALUES (?, ?, UTC_TIMESTAMP(3))",
      [lockName, token],
    );
    return true;
  } catch (error) {
    // Two processes at once may also deadlock, or conflict at the commit in a cluster; and a node may lag behind the
    // one through which the table was created.
    if (isDuplicateKey(error) || isUnknownTable(error)) return false;
    if (isTransient(error) && !isConnectionLost(error)) return false;
    throw error;
  }
}
