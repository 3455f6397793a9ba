import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "mysql2/promise";
import { monotonicMs } from "../process/clock.ts";
import { CommandError } from "../process/command-error.ts";
import { isConnectionLost, isDuplicateKey, isTransient, isUnknownTable } from "./errors.ts";

/** Beside the rows of the migrations, whose names begin with a number. */
const guardName = "migrating";

/** By the clock of the database, which is one for all. A process that has shown no sign of life for as long has died. */
const lapsesAfterSeconds = 20;
const signOfLifeEveryMs = 5_000;
const pauseMs = 250;

/**
 * Runs `work` while nobody else does so on the same database, wherever they are: who migrates has a row, and keeps it
 * fresh. A named lock (`GET_LOCK`) would hold on one node of a Galera cluster alone, and on Vitess be lost after half a
 * minute. The connection is the guard's own, because a statement of the work may take hours. Throws a CommandError where
 * others do not get done.
 */
export async function whileGuarded(
  connection: Connection,
  onWait: (reason: string, leftMs: number) => void,
  work: () => Promise<void>,
  waitMaxMs = 300_000,
): Promise<void> {
  const token = randomBytes(32).toString("hex");
  await takeGuard(connection, token, onWait, waitMaxMs);
  const timer = setInterval(() => {
    // If this fails, others may begin too early: then they do the same work, and agree.
    connection
      .query("UPDATE schema_migrations SET applied_at = UTC_TIMESTAMP(3) WHERE name = ? AND checksum = ?", [
        guardName,
        token,
      ])
      .catch(() => {});
  }, signOfLifeEveryMs);
  try {
    await work();
  } finally {
    clearInterval(timer);
    // What is left behind lapses.
    await connection
      .query("DELETE FROM schema_migrations WHERE name = ? AND checksum = ?", [guardName, token])
      .catch(() => {});
  }
}

async function takeGuard(
  connection: Connection,
  token: string,
  onWait: (reason: string, leftMs: number) => void,
  waitMaxMs: number,
): Promise<void> {
  const deadlineMs = monotonicMs() + waitMaxMs;
  while (!(await tryToTake(connection, token))) {
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

async function tryToTake(connection: Connection, token: string): Promise<boolean> {
  try {
    await connection.query(
      `DELETE FROM schema_migrations WHERE name = ? AND applied_at < UTC_TIMESTAMP(3) - INTERVAL ${lapsesAfterSeconds} SECOND`,
      [guardName],
    );
    await connection.query(
      "INSERT INTO schema_migrations (name, checksum, applied_at) VALUES (?, ?, UTC_TIMESTAMP(3))",
      [guardName, token],
    );
    return true;
  } catch (error) {
    // Two who try at once may also meet in a deadlock, or at the commit of a cluster; and a node of one may be behind that
    // through which the table was made.
    if (isDuplicateKey(error) || isUnknownTable(error)) return false;
    if (isTransient(error) && !isConnectionLost(error)) return false;
    throw error;
  }
}
