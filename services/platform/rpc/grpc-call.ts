import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from "node:http2";
import { Code } from "@connectrpc/connect";
import { MessageReader } from "./grpc-messages.ts";
import { responseBytesMax } from "./message-sizes.ts";

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
  /** Throws where it is no message. */
  onMessage(bytes: Buffer): void;
  /** Once, after all messages. */
  onEnd(end: CallEnd): void;
}

/** The client's side of one call: sends a message, and reads those that come back. */
export class GrpcCall {
  readonly #stream: ClientHttp2Stream;
  readonly #listener: CallListener;
  #hasEnded = false;

  constructor(stream: ClientHttp2Stream, frame: Buffer, listener: CallListener) {
    this.#stream = stream;
    this.#listener = listener;
    stream.on("response", (headers) => this.#readHeaders(headers));
    const reader = new MessageReader(responseBytesMax, this);
    stream.on("data", (chunk: Buffer) => reader.read(chunk));
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

  onMessage(bytes: Buffer, isCompressed: boolean): void {
    if (this.#hasEnded) return;
    if (isCompressed) {
      this.#giveUp({ code: Code.Internal, message: "The answer is compressed." });
      return;
    }
    try {
      this.#listener.onMessage(bytes);
    } catch {
      // What is thrown where bytes arrive would end the process.
      this.#giveUp({ code: Code.Internal, message: "The answer cannot be read." });
    }
  }

  onTooLarge(): void {
    this.#giveUp({ code: Code.ResourceExhausted, message: "The answer is too large." });
  }

  #readHeaders(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    // Where there is nothing but a status, it comes at once.
    if (headers["grpc-status"] !== undefined) this.#end(endFrom(headers));
    else if (headers[":status"] !== 200) this.#giveUp(endOfHttp(headers[":status"]));
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
