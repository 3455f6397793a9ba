import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Status and body of an answer. The body is only good until the next answer arrives. */
export type OnAnswer = (status: number, body: Buffer) => void;

const headEndMark = "\r\n\r\n";
/** `HTTP/1.1 ` comes before the status. */
const statusAt = 9;

/**
 * One keep-alive connection with one request at a time. It knows only as much of HTTP as the two servers need, so that
 * the client leaves the processors to them.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #received: Buffer | undefined;
  #onAnswer: OnAnswer | undefined;
  #onFault: ((reason: string) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket.setNoDelay();
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("error", (error) => this.#onFault?.(error.message));
    socket.on("close", () => this.#onFault?.("the server closed the connection"));
  }

  static async open(port: number): Promise<HttpConnection> {
    const socket = connect({ host: "127.0.0.1", port });
    await once(socket, "connect");
    return new HttpConnection(socket);
  }

  send(request: string, onAnswer: OnAnswer, onFault: (reason: string) => void): void {
    this.#onAnswer = onAnswer;
    this.#onFault = onFault;
    this.#socket.write(request, "latin1");
  }

  close(): void {
    this.#onFault = undefined;
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    const bytes = this.#received ? Buffer.concat([this.#received, chunk]) : chunk;
    this.#received = bytes;
    const headEnd = bytes.indexOf(headEndMark);
    if (headEnd < 0) return;
    const head = bytes.toString("latin1", 0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.#onFault?.(`an answer without content-length: ${head}`);
      return;
    }
    const bodyAt = headEnd + headEndMark.length;
    const end = bodyAt + Number(length);
    if (bytes.length < end) return;
    this.#received = undefined;
    this.#onAnswer?.(Number(head.slice(statusAt, statusAt + 3)), bytes.subarray(bodyAt, end));
  }
}
