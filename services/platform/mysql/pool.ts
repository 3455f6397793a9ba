import type { QueryResult } from "mysql2";
import type { Metrics } from "../observe/metrics.ts";
import { monotonicMs } from "../time/clock.ts";
import type { Caller } from "./caller.ts";
import { type Answer, type ConnectionOwner, type ConnectionSettings, PoolConnection } from "./connection.ts";
import { ConnectionQueue } from "./connection-queue.ts";
import { connectionOptions, type Protocol, protocolOf, sessionStatements } from "./database-url.ts";
import { ConnectionError, NoConnectionFree } from "./errors.ts";
import { collation, sessionSettings } from "./session.ts";
import { statementObserver } from "./statement-metrics.ts";
import { recordStatement } from "./statement-spans.ts";
import { TenantShares } from "./tenant-shares.ts";

export type { ResultSetHeader, RowDataPacket } from "mysql2";
export { PoolConnection, type Statement } from "./connection.ts";

/** What can run a statement: a pool, or the connection of a transaction. */
export type Executor = Pick<Pool | PoolConnection, "execute" | "query">;

interface PoolOptions {
  /** Longer than any lock is waited for. Nobody waits for a statement that takes longer. */
  readonly statementTimeoutMs?: number;
  /** How long to wait for a row lock, in whole seconds. */
  readonly lockTimeoutSeconds?: number;
  /** Connections that were not needed for this long are closed, except for a few. */
  readonly idleTimeoutMs?: number;
  /** The server ends a session that is silent for this long, in whole seconds. */
  readonly silenceMaxSeconds?: number;
  /** The same within a transaction, if the server can. Default: no limit of its own. */
  readonly transactionSilenceMaxSeconds?: number;
  /** Default: what the URL says. */
  readonly protocol?: Protocol;
  /** How many callers may wait for a connection; half of them at most for one tenant. */
  readonly waitingMax?: number;
  /** For reads, and for changes that can be repeated: the server may end a statement that takes too long. */
  readonly isForReads?: boolean;
  /** Receives the duration of each statement. */
  readonly metrics?: Metrics;
}

/**
 * For changes. Nothing that a transaction of ours does between two statements takes that long, so its process has
 * stalled or is lost. Shorter than a row lock is waited for: those who wait for the rows get them.
 */
export const stalledAfterSeconds = 2;

const connectTimeoutMaxMs = 5_000;
/** Kept open even when idle, so that the next caller need not wait for a handshake. */
const idleMin = 2;
/** If one connection cannot be made while others work, the server has probably reached its limit. */
const connectPauseMs = 250;
/** Per connection; the least recently used are closed. */
const preparedStatementsMax = 100;

export function openPool(url: string, size: number, options: PoolOptions = {}): Pool {
  const { statementTimeoutMs = 8_000, lockTimeoutSeconds = 3, idleTimeoutMs = 60_000, waitingMax = 1_000 } = options;
  const { protocol = protocolOf(url), isForReads = false, silenceMaxSeconds = 15 } = options;
  // Vitess, to which statements are sent as text, has limits of its own.
  const serverLimits = protocol === "prepared" && {
    silenceMaxSeconds,
    transactionSilenceMaxSeconds: options.transactionSilenceMaxSeconds,
    ...(isForReads && { readTimeoutMs: statementTimeoutMs }),
  };
  const settings: ConnectionSettings = {
    options: {
      ...connectionOptions(url),
      charset: collation,
      timezone: "Z",
      supportBigNumbers: true,
      // Each batch size is a statement of its own, and a server keeps at most 16,382 in total by default.
      maxPreparedStatements: preparedStatementsMax,
    },
    sessionStatements: [...sessionSettings({ lockTimeoutSeconds, ...serverLimits }), ...sessionStatements(url)],
    protocol,
    connectTimeoutMs: Math.min(connectTimeoutMaxMs, statementTimeoutMs),
    statementTimeoutMs,
    onStatement: options.metrics && statementObserver(options.metrics),
  };
  return new Pool(settings, { size, idleTimeoutMs, waitingMax, pingIntervalMs: (silenceMaxSeconds * 1_000) / 3 });
}

interface PoolLimits {
  readonly size: number;
  readonly idleTimeoutMs: number;
  readonly waitingMax: number;
  readonly pingIntervalMs: number;
}

/** A bounded number of connections. */
export class Pool {
  readonly #settings: ConnectionSettings;
  readonly #limits: PoolLimits;
  #size: number;
  readonly #owner: ConnectionOwner;
  /** All that are open, in use or not. */
  readonly #open = new Set<PoolConnection>();
  /** Last in, first out, so that unneeded ones become idle and can be closed. */
  readonly #idle: PoolConnection[] = [];
  /** The lowest number of idle connections since the last check: that many were not needed. */
  #idleLow = 0;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #shares: TenantShares;
  readonly #waiting: ConnectionQueue;
  #opening = 0;
  #connectFault: { readonly error: ConnectionError; readonly atMs: number } | undefined;
  /** Set while the pool is being closed. */
  #onEmpty: (() => void) | undefined;

  constructor(settings: ConnectionSettings, limits: PoolLimits) {
    this.#settings = settings;
    this.#limits = limits;
    this.#size = limits.size;
    this.#shares = new TenantShares(limits.size);
    this.#waiting = new ConnectionQueue(this.#shares);
    this.#owner = {
      released: (connection) => {
        this.#shares.giveBack(connection);
        this.#handOut(connection);
      },
      closed: (connection) => this.#forget(connection),
      // Those in use have their own time limit; the idle ones are probably dead, too, and would each cost a caller that
      // limit.
      stoppedAnswering: () => {
        for (const connection of [...this.#idle]) connection.destroy();
      },
    };
    this.#timers = [
      setInterval(() => this.#closeUnneeded(), limits.idleTimeoutMs).unref(),
      setInterval(() => this.#pingIdle(), limits.pingIntervalMs).unref(),
    ];
  }

  /** For metrics: how many connections there may be. */
  get size(): number {
    return this.#limits.size;
  }

  /** For metrics: connections that are in use or idle, and callers who wait for one. */
  get counts(): Readonly<Record<"used" | "idle" | "waiting", number>> {
    const idle = this.#idle.length;
    return { used: this.#open.size - idle, idle, waiting: this.#waiting.size };
  }

  /** Runs a statement with values on a connection of its own. */
  execute<T extends QueryResult>(sql: string, values?: readonly unknown[]): Answer<T> {
    return this.#run<T>("execute", undefined, sql, values);
  }

  /** Runs a statement as text on a connection of its own. */
  query<T extends QueryResult>(sql: string, values?: readonly unknown[]): Answer<T> {
    return this.#run<T>("query", undefined, sql, values);
  }

  /**
   * The same pool for statements on behalf of a caller: they wait for the turn of its tenant, are recorded in its trace
   * and, if a deadline is given, run only while it waits.
   */
  within(caller: Caller | Pick<Caller, "trace"> = {}): Pick<Pool, "execute" | "query"> {
    const span = caller.trace?.span;
    const waiting = "deadlineMs" in caller ? caller : undefined;
    if (!span && !waiting) return this;
    const send = <T extends QueryResult>(method: "execute" | "query", sql: string, values?: readonly unknown[]) => {
      const answer = this.#run<T>(method, waiting, sql, values);
      if (span) recordStatement(span, sql, answer);
      return answer;
    };
    return {
      execute: (sql, values) => send("execute", sql, values),
      query: (sql, values) => send("query", sql, values),
    };
  }

  /**
   * A connection, to be released or destroyed. Waits for it no longer than the caller would, or than a statement may
   * take.
   */
  getConnection(caller?: Caller): Promise<PoolConnection> {
    const tenant = caller?.tenant;
    return new Promise((resolve, reject) => {
      const idle = this.#takeIdle(tenant);
      if (idle) return resolve(idle);
      if (this.#onEmpty) return reject(new ConnectionError("The pool is closed"));
      if (this.#isQueueFull(tenant)) this.#waiting.rejectCanceled();
      if (this.#isQueueFull(tenant)) return reject(this.#noneFree("Too many wait for a connection to the database"));
      this.#waiting.add({
        tenant,
        isCanceled: caller?.isCanceled ?? (() => false),
        resolve,
        reject,
        waitMs: caller ? Math.max(0, caller.deadlineMs - monotonicMs()) : this.#settings.statementTimeoutMs,
        lateError: () => this.#noneFree("No connection to the database was free in time"),
      });
      this.#openMore();
    });
  }

  /** Replaces every connection once nobody uses it: the next ones may reach another server. */
  renew(): void {
    for (const connection of this.#open) connection.closeOnRelease();
  }

  /**
   * Closes all connections but one, each once nobody uses it. For a process that is about to end: its successor needs
   * them, and together they may exceed what the database allows.
   */
  shrink(): void {
    this.#size = 1;
    while (this.#idle.length > 0 && this.#open.size > this.#size) this.#discard(this.#idle[0] as PoolConnection);
  }

  /** Closes every connection once it is released, at the latest after the statement timeout. */
  async end(): Promise<void> {
    if (this.#onEmpty) return;
    for (const timer of this.#timers) clearInterval(timer);
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    this.#waiting.failAll(new ConnectionError("The pool is closed"));
    for (const connection of this.#idle.splice(0)) connection.quit();
    if (this.#open.size + this.#opening === 0) return;
    const timer = setTimeout(() => {
      for (const connection of this.#open) connection.destroy();
    }, this.#settings.statementTimeoutMs);
    await empty;
    clearTimeout(timer);
  }

  #run<T extends QueryResult>(
    method: "execute" | "query",
    caller: Caller | undefined,
    sql: string,
    values?: readonly unknown[],
  ): Answer<T> {
    const idle = this.#takeIdle(caller?.tenant);
    if (idle) return idle.runAndRelease<T>(method, sql, values);
    return this.getConnection(caller).then((connection) => connection.runAndRelease<T>(method, sql, values));
  }

  /** Whether too many callers wait already: in total, or of this tenant, which leaves room for others. */
  #isQueueFull(tenant: string | undefined): boolean {
    const { waitingMax } = this.#limits;
    const isOne = tenant !== undefined;
    return this.#waiting.size >= waitingMax || (isOne && this.#waiting.sizeOf(tenant) >= waitingMax / 2);
  }

  /** If the last attempt to connect failed, that is the reason. */
  #noneFree(message: string): ConnectionError {
    const fault = this.#connectFault?.error;
    return fault ? new ConnectionError(message, fault) : new NoConnectionFree(message);
  }

  #takeIdle(tenant: string | undefined): PoolConnection | undefined {
    if (tenant !== undefined && this.#shares.isUsedUp(tenant)) return undefined;
    const connection = this.#idle.pop();
    if (this.#idle.length < this.#idleLow) this.#idleLow = this.#idle.length;
    if (connection) this.#shares.take(connection, tenant);
    return connection?.take();
  }

  #handOut(connection: PoolConnection): void {
    if (this.#open.size > this.#size) this.#discard(connection);
    else if (this.#waiting.give(connection)) return;
    else if (this.#onEmpty) connection.quit();
    else this.#idle.push(connection);
  }

  /** Opens a connection for each waiting caller, as far as the size allows. */
  #openMore(): void {
    while (this.#opening < this.#waiting.size && this.#open.size + this.#opening < this.#size) {
      // Until the pause is over, waiting callers are served by the existing connections.
      if (this.#open.size > 0 && monotonicMs() < (this.#connectFault?.atMs ?? -connectPauseMs) + connectPauseMs) return;
      this.#opening += 1;
      void this.#openOne();
    }
  }

  async #openOne(): Promise<void> {
    const { lastNumber } = this.#waiting;
    try {
      const connection = await PoolConnection.open(this.#settings, this.#owner);
      this.#opening -= 1;
      this.#connectFault = undefined;
      this.#open.add(connection);
      this.#handOut(connection);
    } catch (cause) {
      this.#opening -= 1;
      const { message, code } = cause as { message: string; code?: string };
      // If a name has several addresses, the error has one message for each, and none of its own.
      const error = new ConnectionError(`No connection to the database: ${message || code}`, cause);
      this.#connectFault = { error, atMs: monotonicMs() };
      // Callers that came after this attempt began wait for the next one.
      if (this.#open.size === 0) this.#waiting.failAll(error, lastNumber);
      this.#openMore();
      this.#settleEnd();
    }
  }

  #forget(connection: PoolConnection): void {
    if (!this.#open.delete(connection)) return;
    this.#shares.giveBack(connection);
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    // A tenant at its share may have been waiting although there are idle connections.
    const spare = this.#idle.at(-1);
    if (spare && this.#waiting.give(spare)) this.#idle.pop();
    if (this.#idle.length < this.#idleLow) this.#idleLow = this.#idle.length;
    this.#openMore();
    this.#settleEnd();
  }

  /** It is removed at once, so that the next one is not closed in its place. */
  #discard(connection: PoolConnection): void {
    this.#forget(connection);
    connection.quit();
  }

  #closeUnneeded(): void {
    for (const connection of this.#idle.splice(0, this.#idleLow - idleMin)) connection.quit();
    this.#idleLow = this.#idle.length;
  }

  /** Keeps the server from ending idle sessions. */
  #pingIdle(): void {
    for (const connection of this.#idle) connection.ping();
  }

  #settleEnd(): void {
    if (this.#open.size + this.#opening === 0) this.#onEmpty?.();
  }
}
