import { type buildConnector, Client, type Dispatcher, Pool } from "undici";
import { readOptions, SocketReader } from "./socket-reader.ts";

/** What is told of the connection that its request goes over. */
export interface ConnectionListener {
  /** May come again: a request that waits is handed on where a connection fails to open. */
  onConnectionChosen(connection: Connection): void;
}

/** A client that is not there for this long may have gone; most servers close their side after a minute. */
const idleMs = 30_000;

interface ConnectionOptions {
  readonly connect: buildConnector.connector;
}

/** One connection to an upstream, which knows whether it was used before, and how it ended. */
export class Connection extends Client {
  readonly #socket: { isBroken: boolean; reader?: SocketReader };
  #requests = 0;

  constructor(origin: URL, options: ConnectionOptions) {
    const state: { isBroken: boolean; reader?: SocketReader } = { isBroken: false };
    super(origin, {
      ...options,
      connect: (target, callback) =>
        options.connect(target, (...result) => {
          state.isBroken = false;
          if (result[1]) state.reader = new SocketReader(result[1]);
          // Heard of before undici does, which takes a reset for the end of an answer that has no length.
          result[1]?.once("error", () => {
            state.isBroken = true;
          });
          callback(...result);
        }),
    });
    this.#socket = state;
    this.on("connect", () => {
      this.#requests = 0;
    });
  }

  /** Whether it was reset, or failed in another way, and not just closed. */
  get isBroken(): boolean {
    return this.#socket.isBroken;
  }

  /** Whether anything has come since the last request was sent on it. */
  get isHeard(): boolean {
    return this.#socket.reader?.isHeard ?? false;
  }

  /** How many requests were sent on it before this one, which is sent now. */
  countRequest(): number {
    this.#socket.reader?.expectAnswer();
    return this.#requests++;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    (handler as Dispatcher.DispatchHandler & ConnectionListener).onConnectionChosen(this);
    return super.dispatch(options, handler);
  }
}

/** The open connections to one upstream, and how many requests are under way on them. */
export class Connections {
  readonly #origin: string;
  readonly #connectMs: number;
  #pool: Pool;
  inFlight = 0;

  constructor(origin: string, connectMs: number) {
    this.#origin = origin;
    this.#connectMs = connectMs;
    this.#pool = this.#open();
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler & ConnectionListener): void {
    const isRetired = this.#pool.closed;
    if (isRetired) this.#pool = this.#open();
    this.#pool.dispatch(options, handler);
    if (isRetired) this.retire();
  }

  /** What is idle is closed. Requests under way end as they would, and are also sent again as they would. */
  retire(): void {
    void this.#pool.close();
  }

  async destroy(): Promise<void> {
    await this.#pool.destroy();
  }

  #open(): Pool {
    return new Pool(this.#origin, {
      // A stream that breaks must not take others with it, and backpressure is that of its own socket.
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: idleMs,
      connect: { timeout: this.#connectMs, onread: readOptions },
      // Both are counted by the call itself.
      headersTimeout: 0,
      bodyTimeout: 0,
      factory: (url, options) => new Connection(url, options as ConnectionOptions),
    });
  }
}
