import { setTimeout as sleep } from "node:timers/promises";
import { isOfKind } from "../domain/domain-error.ts";
import type { Span, Trace } from "../observe/trace.ts";
import { backoffMs } from "../time/backoff.ts";
import { monotonicMs } from "../time/clock.ts";
import { timeLeftMs } from "../time/deadline.ts";
import type { Caller } from "./caller.ts";
import {
  behindCluster,
  CommitUnknown,
  isCommitRefused,
  isConnectionLost,
  isLockTimeout,
  isTransient,
} from "./errors.ts";
import type { Pool, PoolConnection } from "./pool.ts";
import { conflictNotSettled, databaseUnavailable, outcomeUnknown } from "./refusals.ts";
import { setReadCommitted } from "./session.ts";
import { beginTransactionSpan, endWith } from "./statement-spans.ts";

/** For what failed for a transient reason. */
export const transientBackoff = { firstMs: 5, maxMs: 250 };

/**
 * How long an unresponsive database is tried. Then the caller is told while there is time to try elsewhere: another
 * process may have another route to the database.
 */
export const outOfReachAfterMs = 3_000;

/**
 * Repeats `work` while it fails for a transient reason, until shortly before the deadline. `work` must be safe to
 * repeat: after a commit without an answer it is repeated to learn the outcome of the first run, and must then find
 * what that stored, or wait until it is settled.
 */
export async function retryTransient<T>(deadlineMs: number, work: () => Promise<T>): Promise<T> {
  const startedAtMs = monotonicMs();
  let unknown: CommitUnknown | undefined;
  for (let attempt = 0; ; attempt += 1) {
    const attemptAtMs = monotonicMs();
    try {
      return await work();
    } catch (error) {
      if (error instanceof CommitUnknown) unknown ??= error;
      else if (unknown && isOfKind(error, "deadline_exceeded")) throw outcomeUnknown(unknown);
      else if (!isTransient(error)) throw error;
      const pauseMs = backoffMs(transientBackoff, attempt);
      const isLost = isConnectionLost(error);
      const leftMs = timeLeftMs({ deadlineMs });
      // Who waited in vain for a row may have to wait as long again.
      const lockMs = isLockTimeout(error) ? monotonicMs() - attemptAtMs : 0;
      if (unknown) {
        if (pauseMs >= leftMs) throw outcomeUnknown(unknown);
      } else if (pauseMs + lockMs >= leftMs || (isLost && monotonicMs() - startedAtMs >= outOfReachAfterMs)) {
        throw isLost ? databaseUnavailable(error) : conflictNotSettled(error);
      }
      await sleep(pauseMs);
    }
  }
}

type Work<T> = (connection: PoolConnection) => Promise<T>;

/** Runs `work` in one transaction: all of it is stored, or nothing. After CommitUnknown, it is not known which. */
export function inTransaction<T>(pool: Pool, work: Work<T>, caller?: Caller, trace = caller?.trace): Promise<T> {
  const onCommitFailed = (error: unknown) => {
    throw isCommitRefused(error) ? error : new CommitUnknown(error);
  };
  return run(pool, work, { beginning: ["START TRANSACTION"], caller, trace, onCommitFailed });
}

/** Runs reads that must agree with each other: all of them see the same snapshot. */
export function inSnapshot<T>(pool: Pool, work: Work<T>, caller?: Caller): Promise<T> {
  // The level is for this transaction only; the session stays at READ COMMITTED.
  const beginning = ["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION READ ONLY"];
  // What was read is valid, however its transaction ends.
  return run(pool, work, { beginning, caller, trace: caller?.trace, onCommitFailed: () => {}, hasOwnLevel: true });
}

interface TransactionOptions {
  /** The statements that begin it. */
  readonly beginning: readonly string[];
  readonly caller: Caller | undefined;
  readonly trace: Trace | undefined;
  readonly onCommitFailed: (error: unknown) => void;
  /** Whether its isolation level differs from that of the session. */
  readonly hasOwnLevel?: boolean;
}

function run<T>(pool: Pool, work: Work<T>, options: TransactionOptions): Promise<T> {
  const parent = options.trace?.span;
  if (!parent) return runWithin(undefined, pool, work, options);
  const span = beginTransactionSpan(parent);
  const result = runWithin(span, pool, work, options);
  endWith(span, result);
  return result;
}

async function runWithin<T>(
  span: Span | undefined,
  pool: Pool,
  work: Work<T>,
  { beginning, caller, onCommitFailed, hasOwnLevel = false }: TransactionOptions,
): Promise<T> {
  const connection = await pool.getConnection(caller);
  connection.span = span;
  // Vitess, to which statements are sent as text, sets the level for the session, where it would stay.
  const resetsLevel = hasOwnLevel && connection.protocol === "text";
  let result: T;
  let hasBegun = false;
  try {
    for (const statement of beginning) await connection.query(statement);
    hasBegun = true;
    result = await work(connection);
  } catch (cause) {
    const error = !hasBegun && isLockTimeout(cause) ? behindCluster() : cause;
    await abandon(connection, error, resetsLevel);
    throw error;
  }
  try {
    await connection.query("COMMIT");
    if (resetsLevel) await connection.query(setReadCommitted);
    connection.release();
  } catch (error) {
    // Nobody may wait behind a commit that hangs, and what is left of it must not become part of another transaction.
    connection.destroy();
    onCommitFailed(error);
  }
  return result;
}

/** Gives a connection back clean, or destroys it. */
async function abandon(connection: PoolConnection, error: unknown, resetsLevel: boolean): Promise<void> {
  if (isConnectionLost(error)) {
    connection.destroy();
    return;
  }
  try {
    await connection.query("ROLLBACK");
    if (resetsLevel) await connection.query(setReadCommitted);
    connection.release();
  } catch {
    connection.destroy();
  }
}
