import { connect, type Socket } from "node:net";
import {
  type Connection,
  type ConnectionOptions,
  createConnection,
  type FieldPacket,
  type QueryResult,
  type RowDataPacket,
} from "mysql2";
import { lookUpForSocket } from "../network/name-lookup.ts";
import type { Span } from "../observe/trace.ts";
import { monotonicMs } from "../time/clock.ts";
import { CommandClock } from "./command-clock.ts";
import type { Protocol } from "./database-url.ts";
import { withoutValues } from "./error-text.ts";
import {
  behindCluster,
  ConnectionError,
  isConnectionLost,
  isReadLockTimeout,
  isReprepareNeeded,
  isUnknownVariable,
} from "./errors.ts";
import { recordStatement } from "./statement-spans.ts";

export interface ConnectionSettings {
  readonly options: ConnectionOptions;
  /** Sent before anything else, each by itself. */
  readonly sessionStatements: readonly string[];
  /**
   * How statements with values are sent: prepared, or as text with the values escaped by mysql2. To a Galera node,
   * always as text.
   */
  readonly protocol: Protocol;
  /** For all of connecting: the socket, the handshake and the session statements. */
  readonly connectTimeoutMs: number;
  /** For a single statement, from its preparation to its last row. */
  readonly statementTimeoutMs: number;
  readonly onStatement: OnStatement | undefined;
}

/** Called with how long each statement took, and why it failed if it did. */
export type OnStatement = (sql: string, ms: number, error: unknown) => void;

/** Receives the events of a connection. */
export interface ConnectionOwner {
  /** Nobody uses it any more, and it is in its initial state. */
  released(connection: PoolConnection): void;
  /** It cannot be used any more. */
  closed(connection: PoolConnection): void;
  /** The server did not answer a statement in time. */
  stoppedAnswering(): void;
}

type OnAnswer = (error: Error | null, rows: unknown, fields: FieldPacket[]) => void;
type Send = (sql: string, values: readonly unknown[] | undefined, onAnswer: OnAnswer) => unknown;

/** The part of mysql2's connection that is used. Its own types ask for mutable values. */
type Core = Pick<Connection, "on" | "end" | "ping" | "unprepare"> & Readonly<Record<Method, Send>>;

type Method = "execute" | "query";
export type Answer<T> = Promise<[T, FieldPacket[]]>;

/** A statement with its values. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** How long the server may take to close a connection after a quit. */
const quitTimeoutMs = 1_000;

/**
 * A connection of mysql2 on a socket of our own. mysql2 itself limits neither the preparation of a statement nor
 * connecting as a whole, and closes a socket only gracefully: a server that vanished silently would keep it for many
 * minutes. Here everything that is waited for has a time limit, and is cut off after it.
 */
export class PoolConnection {
  readonly #socket: Socket;
  readonly #core: Core;
  readonly #owner: ConnectionOwner;
  readonly protocol: Protocol;
  /** How a statement with values is sent: prepared, or as text. */
  #execute: Method;
  /** How to fail each command that is not answered yet. Not a Set, for the reason that `TransientMap` gives. */
  readonly #unanswered: ((error: Error) => void)[] = [];
  readonly #onStatement: OnStatement | undefined;
  readonly #clock = new CommandClock(
    () => this.#unanswered.length > 0,
    () => this.#onTimeout(),
  );
  #timeoutMs: number;
  /** Opening has a single time limit, so that a slow server does not get one for each step. */
  #isOpening = true;
  #isClosed = false;
  /** Whoever uses it may continue, but nobody gets it afterwards. */
  #isClosedOnRelease = false;
  #isInUse = true;
  /** The transaction that statements are recorded under, until the connection is given back. */
  span: Span | undefined;

  /** Never throws: if it cannot be opened, the session statements fail. */
  constructor({ options, connectTimeoutMs, protocol, onStatement }: ConnectionSettings, owner: ConnectionOwner) {
    this.#owner = owner;
    this.protocol = protocol;
    this.#execute = protocol === "prepared" ? "execute" : "query";
    this.#timeoutMs = connectTimeoutMs;
    this.#onStatement = onStatement;
    let socket: Socket | undefined;
    const stream = ({ config }: { config: { host: string; port: number; socketPath?: string } }) => {
      const { socketPath, host, port } = config;
      socket = socketPath ? connect(socketPath) : connect({ host, port, lookup: lookUpForSocket });
      return socket.setNoDelay(true).setKeepAlive(true, 10_000);
    };
    // The limit that mysql2 has for connecting would only interfere with ours.
    this.#core = createConnection({ ...options, stream, connectTimeout: 0 }) as unknown as Core;
    this.#socket = socket as unknown as Socket;
    this.#core.on("error", (error) => this.#close(error));
    this.#socket.on("close", () => this.#close(new ConnectionError("The database closed the connection")));
  }

  /** A connection that is ready for its first statement. */
  static async open(settings: ConnectionSettings, owner: ConnectionOwner): Promise<PoolConnection> {
    const connection = new PoolConnection(settings, owner);
    const openedAtMs = monotonicMs();
    try {
      await Promise.all([
        settings.protocol === "text"
          ? connection.#refuseMultiShardTransactions()
          : connection.#avoidPreparingOnGalera(),
        ...settings.sessionStatements.map((statement) => connection.query(statement)),
      ]);
      connection.#timeoutMs = settings.statementTimeoutMs;
      connection.#isOpening = false;
      return connection;
    } catch (error) {
      connection.destroy();
      // While the database is down there are no statements, so none could be counted as failed.
      settings.onStatement?.("CONNECT", monotonicMs() - openedAtMs, error);
      throw error;
    }
  }

  /** Runs a statement with values, by the protocol of the connection. */
  execute<T extends QueryResult>(sql: string, values?: readonly unknown[]): Answer<T> {
    return this.#sendRecorded<T>("execute", sql, values);
  }

  /** Runs statements in order, up to the first that fails. */
  async executeAll(statements: readonly Statement[]): Promise<void> {
    for (const { sql, values } of statements) await this.execute(sql, values);
  }

  /** Runs a statement as text. */
  query<T extends QueryResult>(sql: string, values?: readonly unknown[]): Answer<T> {
    return this.#sendRecorded<T>("query", sql, values);
  }

  /** Runs a statement that is all the connection was taken for, and gives the connection back before it resolves. */
  runAndRelease<T>(method: Method, sql: string, values: readonly unknown[] | undefined): Answer<T> {
    return this.#send<T>(method, sql, values, true);
  }

  #sendRecorded<T>(method: Method, sql: string, values: readonly unknown[] | undefined): Answer<T> {
    const answer = this.#send<T>(method, sql, values, false);
    if (this.span) recordStatement(this.span, sql, answer);
    return answer;
  }

  #send<T>(method: Method, sql: string, values: readonly unknown[] | undefined, thenRelease: boolean): Answer<T> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new ConnectionError("The connection is closed"));
      // Session statements wait for the handshake, which is not the time of a statement.
      const onStatement = this.#isOpening ? undefined : this.#onStatement;
      const sentAtMs = onStatement ? monotonicMs() : 0;
      const fail = (error: Error): void => {
        onStatement?.(sql, monotonicMs() - sentAtMs, error);
        reject(error);
      };
      let isRetried = false;
      const onAnswer: OnAnswer = (cause, rows, fields) => {
        const error = cause && thenRelease && isReadLockTimeout(cause, sql) ? behindCluster() : cause;
        if (error && !isRetried && isReprepareNeeded(error)) {
          isRetried = true;
          this.#core.unprepare(sql);
          this.#core.execute(sql, values, onAnswer);
          return;
        }
        // The caller has already been told if the connection was cut off, or an earlier step of the command failed.
        if (!this.#forget(fail)) return;
        if (this.#unanswered.length > 0 && !this.#isOpening) this.#clock.restart(this.#timeoutMs);
        if (error && isConnectionLost(error)) this.#isClosedOnRelease = true;
        if (thenRelease) this.release();
        if (error) return fail(withoutValues(error, sql));
        onStatement?.(sql, monotonicMs() - sentAtMs, undefined);
        resolve([rows as T, fields]);
      };
      if (this.#unanswered.length === 0) this.#clock.restart(this.#timeoutMs);
      this.#unanswered.push(fail);
      try {
        this.#core[method === "execute" ? this.#execute : method](sql, values, onAnswer);
      } catch (error) {
        onAnswer(error as Error, undefined, []);
      }
    });
  }

  /** Keeps the session alive. Whoever takes the connection meanwhile waits for the answer first. */
  ping(): void {
    const fail = () => {};
    if (this.#unanswered.length === 0) this.#clock.restart(this.#timeoutMs);
    this.#unanswered.push(fail);
    this.#core.ping((error) => {
      if (!this.#forget(fail)) return;
      if (this.#unanswered.length > 0) this.#clock.restart(this.#timeoutMs);
      if (error) this.closeOnRelease();
    });
  }

  /** For a command that has its answer. False if it was already failed. */
  #forget(fail: (error: Error) => void): boolean {
    const index = this.#unanswered.indexOf(fail);
    if (index === -1) return false;
    this.#unanswered.splice(index, 1);
    return true;
  }

  /** Gives the connection back, or closes it if it cannot be used again. */
  release(): void {
    if (!this.#isInUse) return;
    this.#isInUse = false;
    this.span = undefined;
    // The next user must not receive the answer to a command that is still running.
    if (this.#isClosedOnRelease || this.#unanswered.length > 0) this.destroy();
    else if (!this.#isClosed) this.#owner.released(this);
  }

  destroy(): void {
    this.#close(new ConnectionError("The connection was given up"));
  }

  /** Quits and closes. */
  quit(): void {
    this.#isInUse = false;
    this.#core.end();
    setTimeout(() => this.#socket.destroy(), quitTimeoutMs).unref();
  }

  /** For the owner, when it hands the connection out again. */
  take(): this {
    this.#isInUse = true;
    return this;
  }

  /** For the owner: closes it once nobody uses it. */
  closeOnRelease(): void {
    this.#isClosedOnRelease = true;
    if (!this.#isInUse) this.destroy();
  }

  /**
   * Makes Vitess refuse a transaction over two shards, which by default it may commit in part. Other servers do not
   * know the variable.
   */
  async #refuseMultiShardTransactions(): Promise<void> {
    await this.query("SET SESSION transaction_mode = 'SINGLE'").catch((error: unknown) => {
      if (!isUnknownVariable(error)) throw error;
    });
  }

  /**
   * A node that aborts a transaction while one of its statements is being prepared does not report it: what follows
   * would be stored by itself, and what came before would be lost. For a statement sent as text, it does report it.
   */
  async #avoidPreparingOnGalera(): Promise<void> {
    try {
      const [rows] = await this.query<RowDataPacket[]>("SELECT @@wsrep_on AS isNode");
      if (rows[0]?.isNode) this.#execute = "query";
    } catch (error) {
      if (!isUnknownVariable(error)) throw error;
    }
  }

  #close(error: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#clock.stop();
    this.#socket.destroy();
    for (const fail of this.#unanswered.splice(0)) fail(error);
    this.#owner.closed(this);
  }

  /** Stops waiting for the server. */
  #onTimeout(): void {
    // First, so that closing this one does not hand a waiting caller one of the others.
    if (!this.#isOpening) this.#owner.stoppedAnswering();
    this.#close(new ConnectionError(`The database did not answer within ${this.#timeoutMs} ms`));
  }
}
