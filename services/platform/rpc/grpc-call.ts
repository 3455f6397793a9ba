import type { ClientConnection } from "../http2/client-connection.ts";
import { type Field, headerOf } from "../http2/header-table.ts";
import { errorCodes } from "../http2/protocol.ts";
import type { Http2Stream, StreamListener } from "../http2/stream.ts";
import { callEvents } from "./call-events.ts";
import { Code } from "./codes.ts";
import { MessageReader } from "./grpc-messages.ts";
import { responseBytesMax } from "./message-sizes.ts";

/** How a call has ended: as the service said or, if it said nothing, as it appears from here. */
export interface CallEnd {
  /** Undefined: OK. */
  readonly code: Code | undefined;
  readonly message: string;
  /** `google.rpc.Status`, encoded. */
  readonly details?: Buffer;
  /** The service has not started on it, and never will. */
  readonly isRefused?: boolean;
}

export interface CallListener {
  /** Throws if it cannot be decoded. */
  onMessage(bytes: Buffer): void;
  /** Once, after all messages. */
  onEnd(end: CallEnd): void;
}

/** The client's side of one call: sends a message, and reads those that come back. */
export class GrpcCall implements StreamListener {
  readonly #listener: CallListener;
  readonly #reader = new MessageReader(responseBytesMax, this);
  #stream: Http2Stream | undefined;
  #hasEnded = false;

  constructor(listener: CallListener) {
    this.#listener = listener;
  }

  send(connection: ClientConnection, headers: Buffer, frame: Buffer): void {
    this.#stream = connection.request(headers, frame, this);
  }

  /** Tells the service that nobody waits any more. */
  cancel(): void {
    this.#stream?.reset(errorCodes.cancel);
  }

  onHeaders(fields: readonly Field[], isLast: boolean): void {
    const status = headerOf(fields, ":status");
    if (status?.startsWith("1")) return;
    // A response that has only a status carries it in its headers.
    if (headerOf(fields, "grpc-status") !== undefined) {
      this.#end(endFrom(fields));
      // Nothing that follows matters.
      if (!isLast) this.cancel();
    } else if (status !== undefined && !isGrpc(status, fields)) this.#giveUp(endOfHttp(status));
  }

  onData(bytes: Buffer): void {
    if (!this.#hasEnded) this.#reader.read(bytes);
  }

  onEnd(): void {
    // The answer came before the request was sent completely, and perhaps it never will be.
    if (!this.#stream?.hasSentAll) this.cancel();
  }

  onClose(code: number | undefined): void {
    this.#end(lost(code));
  }

  onMessage(bytes: Buffer, isCompressed: boolean): void {
    if (this.#hasEnded) return;
    if (isCompressed) {
      this.#giveUp({ code: Code.Internal, message: "The answer is compressed." });
      return;
    }
    callEvents.answerReceived.publish(undefined);
    try {
      this.#listener.onMessage(bytes);
    } catch {
      // An exception while bytes arrive would end the process.
      this.#giveUp({ code: Code.Internal, message: "The answer cannot be read." });
    }
  }

  onTooLarge(): void {
    this.#giveUp({ code: Code.ResourceExhausted, message: "The answer is too large." });
  }

  #giveUp(end: CallEnd): void {
    this.#end(end);
    this.cancel();
  }

  #end(end: CallEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#listener.onEnd(end);
  }
}

function endFrom(fields: readonly Field[]): CallEnd {
  const code = Number(headerOf(fields, "grpc-status"));
  if (code === 0) return { code: undefined, message: "" };
  const message = decoded(headerOf(fields, "grpc-message") ?? "");
  const details = headerOf(fields, "grpc-status-details-bin");
  return {
    code,
    message,
    ...(details !== undefined && { details: Buffer.from(details, "base64") }),
  };
}

function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}

/** For a stream that was closed without a status. */
function lost(code: number | undefined): CallEnd {
  return {
    code: Code.Unavailable,
    message: "The connection to the service ended before its answer.",
    isRefused: code === errorCodes.refusedStream,
  };
}

function isGrpc(status: string, fields: readonly Field[]): boolean {
  return status === "200" && headerOf(fields, "content-type")?.startsWith("application/grpc") === true;
}

/**
 * Something has answered in place of the service, such as a proxy, or whoever has its address now. So the service is
 * out of reach, whatever the status.
 */
function endOfHttp(status: string): CallEnd {
  return {
    code: Code.Unavailable,
    message: `Something else answered in place of the service: HTTP status ${status}.`,
  };
}
