import type { Field } from "./header-table.ts";
import { errorCodes } from "./protocol.ts";

/** What a stream tells the one who uses it. */
export interface StreamListener {
  /** Of the message, or after it. `isLast`: nothing follows them. */
  onHeaders(fields: readonly Field[], isLast: boolean): void;
  onData(bytes: Buffer): void;
  /** The peer has sent all that it will. */
  onEnd(): void;
  /** Once, after everything else. The code says why; undefined: the connection has ended. */
  onClose(code: number | undefined): void;
}

const nobody: StreamListener = { onHeaders() {}, onData() {}, onEnd() {}, onClose() {} };

/** The connection, as its streams see it. */
export interface StreamOwner {
  sendHeaders(stream: Http2Stream, block: Buffer, isLast: boolean): void;
  /** Sends what the windows allow of the data that waits, and then the end. */
  sendData(stream: Http2Stream): void;
  reset(stream: Http2Stream, code: number): void;
}

/** One message in each direction. */
export class Http2Stream {
  /** 0: it waits until the peer takes another one. */
  id = 0;
  listener: StreamListener;
  /** How much may be sent to the peer, and how much it may send. */
  sendWindow = 0;
  receiveWindow = 0;
  /** As much as the peer has announced and not sent. */
  missingBytes = Number.NaN;
  hasSentAll = false;
  hasReceivedAll = false;
  isClosed = false;
  readonly #owner: StreamOwner;
  /** What waits for the windows, or for the socket. */
  readonly waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Sent after all data; undefined: the last data is the end. */
  trailers: Buffer | undefined;
  isEnding = false;
  #onDrained: (() => void) | undefined;

  constructor(owner: StreamOwner, listener = nobody) {
    this.#owner = owner;
    this.listener = listener;
  }

  /** Bytes that were written and have not left yet. */
  get writableLength(): number {
    return this.#waitingBytes;
  }

  headers(block: Buffer, isLast = false): void {
    if (!this.isClosed) this.#owner.sendHeaders(this, block, isLast);
  }

  /** Returns whether it has left; where it has not, `drained` says when. */
  data(bytes: Buffer): boolean {
    if (this.isClosed || bytes.length === 0) return true;
    this.#add(bytes);
    this.#owner.sendData(this);
    return this.#waitingBytes === 0;
  }

  /** Sends the last data, and with it the end. */
  endWith(bytes: Buffer): void {
    if (this.isClosed) return;
    if (bytes.length > 0) this.#add(bytes);
    this.isEnding = true;
    this.#owner.sendData(this);
  }

  /** Ends what is sent, after all data. */
  end(trailers: Buffer): void {
    if (this.isClosed) return;
    this.isEnding = true;
    this.trailers = trailers;
    this.#owner.sendData(this);
  }

  /** Waits until all data has left, or never will. */
  drained(): Promise<void> {
    if (this.#waitingBytes === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onDrained = resolve;
    });
  }

  reset(code: number): void {
    if (!this.isClosed) this.#owner.reset(this, code);
  }

  destroy(): void {
    this.reset(errorCodes.cancel);
  }

  /** For the connection: takes so much of what waits, and at most one piece. */
  take(bytesMax: number): Buffer {
    const [first] = this.waiting as [Buffer];
    if (first.length <= bytesMax) this.waiting.shift();
    else this.waiting[0] = first.subarray(bytesMax);
    const taken = first.length <= bytesMax ? first : first.subarray(0, bytesMax);
    this.#waitingBytes -= taken.length;
    if (this.#waitingBytes === 0) this.#tellDrained();
    return taken;
  }

  /** For the connection. */
  close(code: number | undefined): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.waiting.length = 0;
    this.#waitingBytes = 0;
    this.#tellDrained();
    this.listener.onClose(code);
  }

  #add(bytes: Buffer): void {
    this.waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #tellDrained(): void {
    this.#onDrained?.();
    this.#onDrained = undefined;
  }
}
