import type { Field } from "./header-table.ts";
import { errorCodes } from "./protocol.ts";
import { Unsent } from "./unsent.ts";

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
  readonly unsent = new Unsent();
  readonly #owner: StreamOwner;

  constructor(owner: StreamOwner, listener = nobody) {
    this.#owner = owner;
    this.listener = listener;
  }

  /** Bytes that were written and have not left yet. */
  get writableLength(): number {
    return this.unsent.bytes;
  }

  headers(block: Buffer, isLast = false): void {
    if (!this.isClosed) this.#owner.sendHeaders(this, block, isLast);
  }

  /** Returns whether it has left; where it has not, `drained` says when. */
  data(bytes: Buffer): boolean {
    if (this.isClosed || bytes.length === 0) return true;
    this.unsent.add(bytes);
    this.#owner.sendData(this);
    return this.unsent.bytes === 0;
  }

  /** Sends the last data, and with it the end. */
  endWith(bytes: Buffer): void {
    if (this.isClosed) return;
    if (bytes.length > 0) this.unsent.add(bytes);
    this.unsent.isEnding = true;
    this.#owner.sendData(this);
  }

  /** Ends what is sent, after all data. */
  end(trailers: Buffer): void {
    if (this.isClosed) return;
    this.unsent.isEnding = true;
    this.unsent.trailers = trailers;
    this.#owner.sendData(this);
  }

  /** Waits until all data has left, or never will. */
  drained(): Promise<void> {
    return this.unsent.drained();
  }

  reset(code: number): void {
    if (!this.isClosed) this.#owner.reset(this, code);
  }

  destroy(): void {
    this.reset(errorCodes.cancel);
  }

  /** For the connection. */
  close(code: number | undefined): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.unsent.drop();
    this.listener.onClose(code);
  }
}
