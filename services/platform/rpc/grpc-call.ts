import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from "node:http2";
import { Code } from "@connectrpc/connect";
import { responseBytesMax } from "./grpc-definition.ts";

/** How a call has ended, as the service said it or, where it said nothing, as it looks from here. */
export interface CallEnd {
  /** Undefined: OK. */
  readonly code: Code | undefined;
  readonly message: string;
  /** `google.rpc.Status`, encoded. */
  readonly details?: Buffer;
  /** The service has not begun with it, and never will. */
  readonly isRefused?: boolean;
}

export interface CallListener {
  onMessage(bytes: Buffer): void;
  /** Once, after all messages. */
  onEnd(end: CallEnd): void;
}

/** Whether it is compressed, and how long it is. */
const prefixBytes = 5;

/** A message as it goes over the wire. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, prefixBytes);
  return frame;
}

/** The client's side of one call: sends a message, and reads those that come back. */
export class GrpcCall {
  readonly #stream: ClientHttp2Stream;
  readonly #listener: CallListener;
  #parts: Buffer[] = [];
  #byteCount = 0;
  /** Of the message that is being read, once its beginning is there. */
  #messageBytes: number | undefined;
  #hasEnded = false;

  constructor(stream: ClientHttp2Stream, frame: Buffer, listener: CallListener) {
    this.#stream = stream;
    this.#listener = listener;
    stream.on("response", (headers) => this.#readHeaders(headers));
    stream.on("data", (chunk: Buffer) => this.#read(chunk));
    stream.on("trailers", (trailers) => this.#end(endFrom(trailers)));
    // Told by its close. But an error that nobody listens to would end the process.
    stream.on("error", () => {});
    stream.on("close", () => this.#end(lost(stream.rstCode)));
    stream.end(frame);
  }

  /** The service is told that nobody waits any more. */
  cancel(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #readHeaders(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    // Where there is nothing but a status, it comes at once.
    if (headers["grpc-status"] !== undefined) this.#end(endFrom(headers));
    else if (headers[":status"] !== 200) this.#giveUp(endOfHttp(headers[":status"]));
  }

  #read(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#byteCount += chunk.length;
    while (!this.#hasEnded && this.#byteCount >= prefixBytes + (this.#messageBytes ?? 0)) {
      const bytes = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
      this.#parts = [bytes];
      if (this.#messageBytes === undefined) this.#readPrefix(bytes);
      else this.#readMessage(bytes, this.#messageBytes);
    }
  }

  #readPrefix(bytes: Buffer): void {
    this.#messageBytes = bytes.readUInt32BE(1);
    if (bytes[0] !== 0) this.#giveUp({ code: Code.Internal, message: "The answer is compressed." });
    if (this.#messageBytes > responseBytesMax) {
      this.#giveUp({ code: Code.ResourceExhausted, message: "The answer is too large." });
    }
  }

  #readMessage(bytes: Buffer, messageBytes: number): void {
    const end = prefixBytes + messageBytes;
    this.#messageBytes = undefined;
    this.#byteCount = bytes.length - end;
    this.#parts = this.#byteCount > 0 ? [bytes.subarray(end)] : [];
    this.#listener.onMessage(bytes.subarray(prefixBytes, end));
  }

  #giveUp(end: CallEnd): void {
    this.cancel();
    this.#end(end);
  }

  #end(end: CallEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#listener.onEnd(end);
  }
}

function endFrom(headers: IncomingHttpHeaders): CallEnd {
  const code = Number(headers["grpc-status"]);
  if (code === 0) return { code: undefined, message: "" };
  const message = decoded(String(headers["grpc-message"] ?? ""));
  const details = headers["grpc-status-details-bin"];
  return {
    code: code in Code ? code : Code.Unknown,
    message,
    ...(typeof details === "string" && { details: Buffer.from(details, "base64") }),
  };
}

function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}

/** Of a stream that was closed without a status. */
function lost(rstCode: number): CallEnd {
  return {
    code: Code.Unavailable,
    message: "The connection to the service ended before its answer.",
    isRefused: rstCode === constants.NGHTTP2_REFUSED_STREAM,
  };
}

const unavailableStatuses: readonly unknown[] = [429, 502, 503, 504];

/** What stands between us and the service has answered in its place. */
function endOfHttp(status: number | undefined): CallEnd {
  const code = unavailableStatuses.includes(status) ? Code.Unavailable : Code.Unknown;
  return { code, message: `Something else answered in place of the service: HTTP status ${status}.` };
}
