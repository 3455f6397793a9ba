import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { StatusSchema } from "../../../proto/gen/google/rpc/status_pb.ts";
import { encodeHeaders } from "../http2/header-encoder.ts";
import type { Http2Stream } from "../http2/stream.ts";
import { writeMessage } from "../protobuf/messages.ts";
import type { CallReservation } from "./call-bytes.ts";
import { callEvents } from "./call-events.ts";
import { Code } from "./codes.ts";
import { toStatusMessage } from "./errors.ts";
import { frameOf, prefixBytes } from "./grpc-messages.ts";
import { responseBytesMax } from "./message-sizes.ts";
import { answerTooLarge } from "./refusals.ts";

const headers = [":status", "200", "content-type", "application/grpc"];
const head = encodeHeaders(headers);
const ok = encodeHeaders(["grpc-status", "0"]);

/** What a call is answered with: headers, messages, and a status in the end. */
export class GrpcAnswer {
  readonly #stream: Http2Stream;
  readonly #reservation: CallReservation;
  #hasBegun = false;

  constructor(stream: Http2Stream, reservation: CallReservation) {
    this.#stream = stream;
    this.#reservation = reservation;
  }

  /** One of several messages. Waits until it has left. */
  async send(frame: Buffer): Promise<void> {
    if (!this.#add(frame)) await this.#stream.drained();
  }

  /** The call succeeded, and this is its last message. */
  end(lastFrame?: Buffer): void {
    callEvents.answered.publish(undefined);
    if (lastFrame) this.#add(lastFrame);
    else this.#begin();
    this.#stream.end(ok);
  }

  fail(error: ConnectError): void {
    if (this.#hasBegun) {
      callEvents.answered.publish(undefined);
      this.#stream.end(encodeHeaders(statusOf(error)));
    } else failCall(this.#stream, error);
  }

  #begin(): void {
    if (!this.#hasBegun) this.#stream.headers(head);
    this.#hasBegun = true;
  }

  #add(frame: Buffer): boolean {
    this.#reservation.answered(frame.length);
    this.#begin();
    return this.#stream.data(frame);
  }
}

/** A message of an answer in wire format. Throws if it cannot be encoded. */
export function answerFrame(descriptor: DescMessage, message: MessageInitShape<DescMessage>): Buffer {
  const frame = frameOf(descriptor, message);
  if (frame.length - prefixBytes > responseBytesMax) throw answerTooLarge();
  return frame;
}

/** Answers with an error only. */
export function failCall(stream: Http2Stream, error: ConnectError): void {
  stream.headers(encodeHeaders([...headers, ...statusOf(error)]), true);
}

function statusOf(error: ConnectError): string[] {
  const status = ["grpc-status", String(error.code), "grpc-message", encodeURI(error.rawMessage.toWellFormed())];
  if (error.code === Code.Unimplemented) status.push("grpc-accept-encoding", "identity");
  if (error.details.length > 0) {
    status.push("grpc-status-details-bin", writeMessage(StatusSchema, toStatusMessage(error)).toString("base64"));
  }
  return status;
}
