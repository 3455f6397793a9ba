import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../process/clock.ts";
import { conflictNotSettled, databaseUnavailable, isConnectionLost, isTransient } from "./errors.ts";
import type { Pool, PoolConnection } from "./pool.ts";

/** Left between giving up and the caller's deadline, so that the caller still hears why. */
const answerMarginMs = 200;

/** How long a caller waits for an answer. */
export interface Deadline {
  /** By the monotonic clock. */
  readonly deadlineMs: number;
  readonly isCanceled: () => boolean;
}

/** Whether it is too late to answer: then nothing may be stored any more. */
export function hasGivenUp(caller: Deadline): boolean {
  return timeLeftMs(caller) <= 0 || caller.isCanceled();
}

/** How long there is until an answer could come too late. */
export function timeLeftMs({ deadlineMs }: Deadline): number {
  return deadlineMs - answerMarginMs - monotonicMs();
}

const backoffFirstMs = 5;
const backoffMaxMs = 250;

/** How long to wait before the next attempt. Jitter, so that two that collided do not meet again. */
export function backoffMs(attempt: number): number {
  return Math.min(backoffMaxMs, backoffFirstMs * 2 ** attempt) * (0.5 + Math.random());
}

/**
 * Runs `work` again while it fails for a reason that passes, until shortly before the deadline.
 * `work` must be safe to repeat: where a connection is lost during a commit, the first run may have been stored.
 */
export async function retryTransient<T>(deadlineMs: number, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error)) throw error;
      const pauseMs = backoffMs(attempt);
      if (monotonicMs() + pauseMs >= deadlineMs - answerMarginMs)
        throw isConnectionLost(error) ? databaseUnavailable(error) : conflictNotSettled(error);
      await sleep(pauseMs);
    }
  }
}

type Work<T> = (connection: PoolConnection) => Promise<T>;

/** Runs `work` in one transaction: all of it is stored, or nothing. */
export function inTransaction<T>(pool: Pool, work: Work<T>): Promise<T> {
  return run(pool, ["START TRANSACTION"], work);
}

/** Runs reads that must agree with each other: all of them see one moment. */
export function inSnapshot<T>(pool: Pool, work: Work<T>): Promise<T> {
  // The level is for this transaction only; the session stays at READ COMMITTED.
  return run(pool, ["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION READ ONLY"], work);
}

async function run<T>(pool: Pool, beginning: readonly string[], work: Work<T>): Promise<T> {
  const connection = await pool.getConnection();
  try {
    for (const statement of beginning) await connection.query(statement);
    const result = await work(connection);
    await connection.query("COMMIT");
    connection.release();
    return result;
  } catch (error) {
    await abandon(connection, error);
    throw error;
  }
}

/** Gives a connection back clean, or not at all. */
async function abandon(connection: PoolConnection, error: unknown): Promise<void> {
  if (isConnectionLost(error)) {
    connection.destroy();
    return;
  }
  try {
    await connection.query("ROLLBACK");
    connection.release();
  } catch {
    connection.destroy();
  }
}
