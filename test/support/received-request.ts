import type { Socket } from "node:net";

/** A connection, as its requests see it. */
interface Connection {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  isClosed: boolean;
  requestCount: number;
}

/** A request as it arrived, and what became of its connection. */
export class ReceivedRequest {
  readonly requestLine: string;
  /** By lower-case name; the values of a repeated header are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHead: string;
  /** How many requests arrived on its connection before it. */
  readonly earlierOnConnection: number;
  bodyBytes = 0;
  readonly #connection: Connection;
  readonly #bodyChunks: Buffer[] = [];

  constructor(rawHead: string, connection: Connection) {
    this.requestLine = rawHead.split("\r\n")[0] ?? "";
    this.headers = headersOf(rawHead);
    this.rawHead = rawHead;
    this.earlierOnConnection = connection.requestCount++;
    this.#connection = connection;
  }

  get socket(): Socket {
    return this.#connection.socket;
  }

  /** Whether the client has closed the connection, in any way. */
  get isClosed(): boolean {
    return this.#connection.isClosed;
  }

  /** Resolves when the connection is closed. */
  get closed(): Promise<void> {
    return this.#connection.closed;
  }

  get isWhole(): boolean {
    return this.#missingBytes === 0;
  }

  body(): string {
    return Buffer.concat(this.#bodyChunks).toString();
  }

  /** Adds the part that belongs to its body, and returns the rest. */
  add(data: Buffer): Buffer {
    const taken = data.subarray(0, this.#missingBytes);
    this.#bodyChunks.push(taken);
    this.bodyBytes += taken.length;
    return data.subarray(taken.length);
  }

  get #missingBytes(): number {
    return Number(this.headers["content-length"] ?? 0) - this.bodyBytes;
  }
}

interface RequestListener {
  readonly onHead: (request: ReceivedRequest) => void;
  /** Called when all of it has arrived. */
  readonly onEnd: (request: ReceivedRequest) => void;
}

const noBytes = Buffer.alloc(0);
const headEnd = "\r\n\r\n";

/** Splits the data of a connection into requests. */
export class RequestReader {
  readonly #connection: Connection;
  readonly #listener: RequestListener;
  /** The bytes of a request whose head is incomplete. */
  #head = noBytes;
  /** The request whose body is arriving. */
  #request: ReceivedRequest | undefined;

  constructor(socket: Socket, listener: RequestListener) {
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    this.#connection = { socket, closed, isClosed: false, requestCount: 0 };
    this.#listener = listener;
    socket.on("error", () => {});
    socket.on("end", () => {
      this.#connection.isClosed = true;
      socket.destroy();
    });
    socket.on("close", () => {
      this.#connection.isClosed = true;
    });
  }

  read(data: Buffer): void {
    let rest = data;
    do {
      if (!this.#request) {
        this.#head = Buffer.concat([this.#head, rest]);
        const end = this.#head.indexOf(headEnd);
        if (end === -1) return;
        this.#request = new ReceivedRequest(this.#head.toString("latin1", 0, end), this.#connection);
        rest = this.#head.subarray(end + headEnd.length);
        this.#head = noBytes;
        this.#listener.onHead(this.#request);
      }
      const request = this.#request;
      rest = request.add(rest);
      if (!request.isWhole) return;
      this.#request = undefined;
      this.#listener.onEnd(request);
    } while (rest.length > 0);
  }
}

function headersOf(head: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of head.split("\r\n").slice(1)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}
