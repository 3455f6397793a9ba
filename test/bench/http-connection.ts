import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Status and body of an answer. The body is only good until the next answer arrives. */
type OnAnswer = (status: number, body: Buffer) => void;

/** As much of an answer's head as its end depends on. */
interface Head {
  readonly status: number;
  readonly bodyAt: number;
  /** Undefined: in chunks. */
  readonly length: number | undefined;
}

const headEndMark = "\r\n\r\n";
const lineEnd = "\r\n";
const lastChunkMark = "\r\n0\r\n\r\n";
/** `HTTP/1.1 ` comes before the status. */
const statusAt = 9;

/**
 * One keep-alive connection with one request at a time. It knows only as much of HTTP as the servers need, so that the
 * client leaves the processors to them.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #pieces: Buffer[] = [];
  #head: Head | undefined;
  #bytes = 0;
  /** The last characters of what has come. */
  #tail = "";
  #onAnswer: OnAnswer | undefined;
  #onFault: ((reason: string) => void) | undefined;
  #onBegun: (() => void) | undefined;
  /** Of the last answer. */
  firstByteAtMs = 0;
  /** How many pieces it came in. */
  reads = 0;
  isBroken = false;

  private constructor(socket: Socket) {
    this.#socket = socket.setNoDelay();
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("error", (error) => this.#fail(error.message));
    socket.on("close", () => this.#fail("the server closed the connection"));
  }

  static async open(port: number): Promise<HttpConnection> {
    const socket = connect({ host: "127.0.0.1", port });
    await once(socket, "connect");
    return new HttpConnection(socket);
  }

  send(request: string, onAnswer: OnAnswer, onFault: (reason: string) => void): void {
    this.#onAnswer = onAnswer;
    this.#onFault = onFault;
    this.reads = 0;
    this.#socket.write(request, "latin1");
  }

  /** Sends a request whose answer is left to go on; what comes of it later is dropped. Settles with its first byte. */
  begin(request: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onBegun = resolve;
      const onEnd = (status: number, body: Buffer): void => {
        this.#fail(`an answer with the status ${status} that was to go on: ${body.toString("utf8", 0, 300)}`);
      };
      this.send(request, onEnd, (reason) => reject(new Error(reason)));
    });
  }

  close(): void {
    this.#onFault = undefined;
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
  }

  #fail(reason: string): void {
    this.isBroken = true;
    this.#onFault?.(reason);
  }

  #receive(chunk: Buffer): void {
    if (this.#pieces.length === 0) this.firstByteAtMs = performance.now();
    this.reads += 1;
    this.#pieces.push(chunk);
    this.#bytes += chunk.length;
    this.#head ??= this.#readHead();
    const head = this.#head;
    if (!head) return;
    const isChunked = head.length === undefined;
    if (isChunked) {
      const from = Math.max(0, chunk.length - lastChunkMark.length);
      this.#tail = (this.#tail + chunk.toString("latin1", from)).slice(-lastChunkMark.length);
    }
    const isWhole = isChunked ? this.#tail === lastChunkMark : this.#bytes >= head.bodyAt + (head.length ?? 0);
    if (isWhole) this.#end(head);
    else if (this.#onBegun) this.#begun(head);
  }

  #readHead(): Head | undefined {
    const bytes = this.#joined();
    const headEnd = bytes.indexOf(headEndMark);
    if (headEnd < 0) return undefined;
    const head = bytes.toString("latin1", 0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined && !/\r\ntransfer-encoding: *chunked/i.test(head)) {
      this.#fail(`an answer without content-length: ${head}`);
      return undefined;
    }
    return {
      status: Number(head.slice(statusAt, statusAt + 3)),
      bodyAt: headEnd + headEndMark.length,
      length: length === undefined ? undefined : Number(length),
    };
  }

  #begun({ status }: Head): void {
    this.#pieces.length = 0;
    if (status === 200) this.#onBegun?.();
  }

  #end({ status, bodyAt, length }: Head): void {
    const bytes = this.#joined();
    this.#pieces.length = 0;
    this.#bytes = 0;
    this.#tail = "";
    this.#head = undefined;
    const body = length === undefined ? unchunked(bytes, bodyAt) : bytes.subarray(bodyAt, bodyAt + length);
    this.#onAnswer?.(status, body);
  }

  #joined(): Buffer {
    return this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces);
  }
}

/** The body of an answer that came in chunks. */
function unchunked(bytes: Buffer, bodyAt: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = bodyAt; ; ) {
    const sizeEnd = bytes.indexOf(lineEnd, at);
    const size = Number.parseInt(bytes.toString("latin1", at, sizeEnd), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    const from = sizeEnd + lineEnd.length;
    parts.push(bytes.subarray(from, from + size));
    at = from + size + lineEnd.length;
  }
}
