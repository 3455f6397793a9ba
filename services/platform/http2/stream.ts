import type { Field } from "./header-table.ts";
import { errorCodes } from "./protocol.ts";
import { Unsent } from "./unsent.ts";

/** Receives the events of a stream. */
export interface StreamListener {
  /** The headers before or after the message. `isLast`: nothing follows them. */
  onHeaders(fields: readonly Field[], isLast: boolean): void;
  onData(bytes: Buffer): void;
  /** The peer has sent everything. */
  onEnd(): void;
  /** Once, after everything else. The code says why; undefined: the connection has ended. */
  onClose(code: number | undefined): void;
}

const noListener: StreamListener = { onHeaders() {}, onData() {}, onEnd() {}, onClose() {} };

/** The connection, as seen by its streams. */
export interface StreamOwner {
  sendHeaders(stream: Http2Stream, block: Buffer, isLast: boolean): void;
  /** Sends as much of the pending data as the windows allow, and then the end. */
  sendData(stream: Http2Stream): void;
  reset(stream: Http2Stream, code: number): void;
}

/** One message in each direction. */
export class Http2Stream {
  /** 0 while it waits until the peer accepts another stream. */
  id = 0;
  listener: StreamListener;
  /** How much may be sent to the peer, and how much it may send. */
  sendWindow = 0;
  receiveWindow = 0;
  /** How much of the announced length the peer has not sent yet. */
  missingBytes = Number.NaN;
  hasSentAll = false;
  hasReceivedAll = false;
  isClosed = false;
  readonly unsent = new Unsent();
  readonly #owner: StreamOwner;

  constructor(owner: StreamOwner, listener = noListener) {
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

  /** Returns whether it has left; if not, `drained` tells when. */
  data(bytes: Buffer): boolean {
    if (this.isClosed || bytes.length === 0) return true;
    this.unsent.add(bytes);
    this.#owner.sendData(this);
    return this.unsent.bytes === 0;
  }

  /** Sends the last data together with the end. */
  endWith(bytes: Buffer): void {
    if (this.isClosed) return;
    if (bytes.length > 0) this.unsent.add(bytes);
    this.unsent.isEnding = true;
    this.#owner.sendData(this);
  }

  /** Ends the stream after all data. */
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

  /** The peer takes too long to send the rest, or to read it. */
  destroy(): void {
    this.reset(errorCodes.enhanceYourCalm);
  }

  /** For the connection. */
  close(code: number | undefined): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.unsent.drop();
    this.listener.onClose(code);
  }
}
