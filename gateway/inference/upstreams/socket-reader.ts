import type { OnReadOpts, Socket } from "node:net";

/** All sockets are read into this one; what has come is copied before anything else can. */
const buffer = Buffer.allocUnsafeSlow(64 * 1024);

/** For the connections of undici, each of which gets a reader when it is open. Node calls it as a method of the socket. */
export const readOptions: OnReadOpts = {
  buffer,
  callback(this: unknown, count: number): boolean {
    const socket = this as Socket;
    const bytes = Buffer.allocUnsafe(count);
    buffer.copy(bytes, 0, 0, count);
    return readers.get(socket)?.receive(bytes) ?? socket.push(bytes);
  },
};

const readers = new WeakMap<Socket, SocketReader>();

const interimStart = "HTTP/1.1 1";
/** Another protocol would begin behind it: no answer, and nobody asks for it. */
const switching = "HTTP/1.1 101";
const headEnd = "\r\n\r\n";
/** As much as a head may have. */
const headBytesMax = 16 * 1024;

/**
 * Hands undici what comes from a socket at once and without the machinery of a stream, which costs more than all else
 * that is done for a small piece of an answer. It also takes out interim answers. Nobody asks for `100 Continue` here,
 * but some servers send it whenever there is a body, and undici would break off.
 */
export class SocketReader {
  readonly #socket: Socket;
  readonly #readStream: Socket["read"];
  /** What undici has not read yet. */
  #pending: Buffer | undefined;
  /** Nothing has come of the answer itself yet. */
  #isAtStart = false;
  /** The beginning of what may be an interim answer. */
  #start: Buffer | undefined;
  #isHeard = false;
  #isStopped = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#readStream = socket.read.bind(socket);
    socket.read = (size?: number): Buffer | null => this.#read(size);
    socket.unshift = (bytes: Buffer): void => {
      if (bytes.length > 0) this.#pending = bytes;
    };
    readers.set(socket, this);
  }

  /** What comes next is the answer to a request. */
  expectAnswer(): void {
    this.#isAtStart = true;
    this.#isHeard = false;
  }

  /** Whether anything has come since then. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  /** Whether more may come at once. */
  receive(bytes: Buffer): boolean {
    this.#pending = this.#isAtStart ? this.#withoutInterim(bytes) : bytes;
    if (this.#pending === undefined) return true;
    this.#socket.emit("readable");
    // It is asked for once the client has taken what came before it.
    this.#isStopped = this.#pending !== undefined;
    return !this.#isStopped;
  }

  #read(size: number | undefined): Buffer | null {
    // Node itself asks for nothing, to have the socket read, or the end told.
    if (size === 0) return this.#readStream(0);
    const bytes = this.#pending;
    if (bytes === undefined) {
      if (!this.#isStopped) return null;
      this.#isStopped = false;
      return this.#readStream();
    }
    this.#pending = undefined;
    return bytes;
  }

  #withoutInterim(bytes: Buffer): Buffer | undefined {
    this.#isHeard = true;
    let rest = this.#start ? Buffer.concat([this.#start, bytes]) : bytes;
    this.#start = undefined;
    while (mayBeInterim(rest)) {
      const end = rest.indexOf(headEnd);
      if (end >= 0) {
        rest = rest.subarray(end + headEnd.length);
      } else if (rest.length <= headBytesMax) {
        this.#start = rest;
        return undefined;
      } else {
        // It is undici's to refuse.
        break;
      }
    }
    this.#isAtStart = false;
    return rest;
  }
}

/** An interim answer, as far as it has come. */
function mayBeInterim(bytes: Buffer): boolean {
  const start = bytes.toString("latin1", 0, switching.length);
  return interimStart.startsWith(start.slice(0, interimStart.length)) && start !== switching;
}
