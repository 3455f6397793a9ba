import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { nextTurn } from "../../services/platform/time/next-turn.ts";

/** A connection that sends bytes as they are, which no HTTP client does. */
export class RawConnection {
  readonly #socket: Socket;
  #received = "";
  #wasReset = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => {
      this.#received += chunk.toString("latin1");
    });
    // A reset is as good an end as any other.
    socket.on("error", ({ code }: NodeJS.ErrnoException) => {
      this.#wasReset = code === "ECONNRESET";
    });
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const connection = new RawConnection(socket);
    await once(socket, "connect");
    return connection;
  }

  /** Everything received so far. */
  get received(): string {
    return this.#received;
  }

  get statuses(): number[] {
    return [...this.#received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
  }

  /** Whether the other side has closed. */
  get isClosed(): boolean {
    return this.#socket.closed || this.#socket.readableEnded;
  }

  /** Whether the other side has closed in a way that no complete answer ends with. */
  get wasReset(): boolean {
    return this.#wasReset;
  }

  send(text: string): void {
    this.#socket.write(text);
  }

  /** Sends a text, and resolves when the other side has taken it, or has gone. */
  async sent(text: string): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write(text, () => resolve()));
  }

  /** Waits for this many answers. Returns how much of them, at the most, came in one turn of the event loop: 1 is all. */
  async largestShareInOneTurn(answers: number): Promise<number> {
    let bytesMax = 0;
    let before = 0;
    while (this.statuses.length < answers) {
      await nextTurn();
      bytesMax = Math.max(bytesMax, this.#received.length - before);
      before = this.#received.length;
    }
    return bytesMax / this.#received.length;
  }

  /** Stops reading. */
  pause(): void {
    this.#socket.pause();
  }

  /** Closes this side, but keeps reading. */
  halfClose(): void {
    this.#socket.end();
  }

  /** Closes both sides. */
  hangUp(): void {
    this.#socket.destroy();
  }

  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Waits until the other side closes, and returns everything received. */
  async closed(): Promise<string> {
    if (!this.isClosed) {
      await Promise.race([once(this.#socket, "end"), once(this.#socket, "close")]);
    }
    this.#socket.destroy();
    return this.#received;
  }
}

/** The body of the last response received. */
export function lastBody(received: string) {
  return JSON.parse(received.slice(received.lastIndexOf("\r\n\r\n") + 4));
}
