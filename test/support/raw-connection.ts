import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A connection that sends bytes as they are, which no HTTP client would. */
export class RawConnection {
  readonly #socket: Socket;
  #received = "";

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => {
      this.#received += chunk.toString("latin1");
    });
    // A reset is as good an end as any other.
    socket.on("error", () => {});
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const connection = new RawConnection(socket);
    await once(socket, "connect");
    return connection;
  }

  /** All that was received so far. */
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

  send(text: string): void {
    this.#socket.write(text);
  }

  /** Sends when the other side has taken what was sent before, or returns when it has gone. */
  async sent(text: string): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write(text, () => resolve()));
  }

  /** Stops to read. */
  pause(): void {
    this.#socket.pause();
  }

  /** Closes this side and goes on reading. */
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

  /** Waits until the other side closes, and returns all that was received. */
  async closed(): Promise<string> {
    if (!this.isClosed) {
      await Promise.race([once(this.#socket, "end"), once(this.#socket, "close")]);
    }
    this.#socket.destroy();
    return this.#received;
  }
}

/** The body of the last answer in what was received. */
export function lastBody(received: string) {
  return JSON.parse(received.slice(received.lastIndexOf("\r\n\r\n") + 4));
}
