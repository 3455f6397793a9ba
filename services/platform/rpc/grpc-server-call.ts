import type { DescMessage, Message, MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { StatusSchema } from "../../../proto/gen/google/rpc/status_pb.ts";
import type { DomainError } from "../domain/domain-error.ts";
import { encodeHeaders } from "../http2/header-encoder.ts";
import { type Field, headerBytes, headerOf } from "../http2/header-table.ts";
import { errorCodes } from "../http2/protocol.ts";
import type { Http2Stream, StreamListener } from "../http2/stream.ts";
import { monotonicMs } from "../process/clock.ts";
import { writeMessage } from "../protobuf/messages.ts";
import type { CallBytes, CallHold } from "./call-bytes.ts";
import type { IncomingCall } from "./call-context.ts";
import { callMoments } from "./call-moments.ts";
import { Code } from "./codes.ts";
import { toRpcError, toStatusMessage } from "./errors.ts";
import { readRequest } from "./field-count.ts";
import { frameOf, MessageReader, prefixBytes } from "./grpc-messages.ts";
import { requestBytesMax, responseBytesMax } from "./message-sizes.ts";
import {
  answerTooLarge,
  invalidTimeout,
  overloaded,
  requestTooLarge,
  unreadableRequest,
  unsupportedRequest,
} from "./refusals.ts";
import type { Answer, ServedMethod } from "./service.ts";

/** Room for the length and the flags of the messages. */
const envelopesBytesMax = 1024;

const answerHeaders = [":status", "200", "content-type", "application/grpc"];
const head = encodeHeaders(answerHeaders);
const ok = encodeHeaders(["grpc-status", "0"]);

/** The server's side of one call: reads a message, has it answered, and tells what became of it. */
export class GrpcServerCall implements IncomingCall, StreamListener {
  readonly rpcSystem = "grpc";
  readonly hold: CallHold;
  readonly deadlineMs: number | undefined;
  readonly #stream: Http2Stream;
  readonly #fields: readonly Field[];
  readonly #method: ServedMethod;
  readonly #bytes: CallBytes;
  readonly #reader = new MessageReader(requestBytesMax, this);
  /** Of a method that answers with a stream, which nobody might read any more. */
  readonly #canceled: AbortController | undefined;
  #receivedBytes = 0;
  #message: Buffer | undefined;
  #refusal: DomainError | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the method was told of it. */
  #isHandled = false;
  #hasResponded = false;
  /** Whether the caller has all of the answer, or has gone. */
  #isOver = false;

  constructor(
    connection: object,
    stream: Http2Stream,
    fields: readonly Field[],
    method: ServedMethod,
    bytes: CallBytes,
  ) {
    this.#stream = stream;
    this.#fields = fields;
    this.#method = method;
    this.#bytes = bytes;
    this.hold = bytes.open(connection, stream);
    if (method.kind === "stream") this.#canceled = new AbortController();
    const timeoutMs = this.#readTimeout();
    if (timeoutMs !== undefined) {
      this.deadlineMs = monotonicMs() + timeoutMs;
      this.#timer = setTimeout(() => this.#runOut(), timeoutMs);
    }
    if ((this.header("grpc-encoding") ?? "identity") !== "identity") this.#refusal ??= unsupportedRequest();
  }

  get signal(): AbortSignal | undefined {
    return this.#canceled?.signal;
  }

  header(name: string): string | undefined {
    return headerOf(this.#fields, name);
  }

  begin(): void {
    callMoments.received.publish(undefined);
    this.#stream.listener = this;
    // Kept for as long as the call is, which may never go on.
    this.hold.received(headerBytes(this.#fields));
    if (this.#bytes.isFlooded) this.#stream.reset(errorCodes.enhanceYourCalm);
  }

  readonly isCanceled = (): boolean => this.#isOver || this.#stream.isClosed;

  onHeaders(): void {}

  onData(chunk: Buffer): void {
    this.#receivedBytes += chunk.length;
    this.hold.received(chunk.length);
    // Who sends on after too large a message has had the answer to that.
    const isEndless = this.#receivedBytes > requestBytesMax + envelopesBytesMax;
    if (isEndless || this.#bytes.isFlooded) this.#stream.reset(errorCodes.enhanceYourCalm);
    else if (!this.#isHandled) this.#reader.read(chunk);
  }

  onEnd(): void {
    if (this.#isHandled || this.#isOver) return;
    if (!this.#message || this.#reader.isInside) this.#refusal ??= unsupportedRequest();
    if (this.hold.isRefused && !this.#method.isProbe) this.#refusal ??= overloaded();
    this.#handle();
  }

  onClose(code: number | undefined): void {
    this.#isOver = true;
    this.hold.release();
    clearTimeout(this.#timer);
    this.#canceled?.abort();
    if (this.#isHandled) return;
    this.#isHandled = true;
    this.#method.refused(code === errorCodes.enhanceYourCalm ? Code.ResourceExhausted : Code.Canceled, this);
  }

  onMessage(bytes: Buffer, isCompressed: boolean): void {
    if (this.#message) this.#refusal ??= unsupportedRequest();
    if (isCompressed) this.#refusal ??= unreadableRequest(this.#method.descriptor.input);
    this.#message = bytes;
  }

  onTooLarge(): void {
    this.#refusal ??= requestTooLarge(this.#method.requestBytesMax);
    this.#handle();
  }

  #readTimeout(): number | undefined {
    const text = this.header("grpc-timeout");
    if (text === undefined) return undefined;
    const { value, unit } = /^(?<value>\d{1,8})(?<unit>[HMSmun])$/.exec(text)?.groups ?? {};
    const unitMs = unit && msByUnit.get(unit);
    if (unitMs) return Math.min(timeoutMaxMs, Math.ceil(Number(value) * unitMs));
    this.#refusal = invalidTimeout("grpc-timeout");
    return undefined;
  }

  #handle(): void {
    this.#isHandled = true;
    if (this.#method.kind === "unary") {
      this.#method.handle(this.#read, this).then(
        (answer) => this.#answer(answer),
        (error: ConnectError) => this.#fail(error),
      );
    } else void this.#answerEach(this.#method.handle(this.#read, this));
  }

  readonly #read = (): Message => {
    const { descriptor, requestBytesMax } = this.#method;
    const message = this.#message ?? Buffer.alloc(0);
    // Decoded, it is larger than it was.
    this.#message = undefined;
    if (this.#refusal) throw this.#refusal;
    if (message.length > requestBytesMax) throw requestTooLarge(requestBytesMax);
    return readRequest(descriptor.input, message);
  };

  #answer({ message, encoded, notEncoded }: Answer): void {
    let frame: Buffer;
    try {
      frame = this.#frameOf(message);
    } catch (thrown) {
      this.#fail(notEncoded(thrown));
      return;
    }
    if (!this.isCanceled()) {
      this.hold.answered(frame.length);
      this.#end(ok, frame);
    }
    // Behind the answer, which leaves before that: log and counts need not keep its caller waiting.
    queueMicrotask(encoded);
  }

  async #answerEach(messages: AsyncIterable<MessageInitShape<DescMessage>>): Promise<void> {
    try {
      for await (const message of messages) {
        const frame = this.#frameOf(message);
        if (this.isCanceled()) return;
        if (!this.#send(frame)) await this.#stream.drained();
      }
      if (!this.isCanceled()) this.#end(ok);
    } catch (thrown) {
      this.#fail(thrown instanceof ConnectError ? thrown : toRpcError(thrown));
    }
  }

  #frameOf(message: MessageInitShape<DescMessage>): Buffer {
    const frame = frameOf(this.#method.descriptor.output, message);
    if (frame.length - prefixBytes > responseBytesMax) throw answerTooLarge();
    return frame;
  }

  #send(frame: Buffer): boolean {
    this.hold.answered(frame.length);
    this.#respond();
    return this.#stream.data(frame);
  }

  #fail(error: ConnectError): void {
    if (this.isCanceled()) return;
    if (this.#hasResponded) {
      this.#end(encodeHeaders(statusOf(error)));
      return;
    }
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#stream.headers(encodeHeaders([...answerHeaders, ...statusOf(error)]), true);
  }

  #respond(): void {
    if (!this.#hasResponded) this.#stream.headers(head);
    this.#hasResponded = true;
  }

  #end(status: Buffer, lastFrame?: Buffer): void {
    callMoments.answered.publish(undefined);
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#respond();
    if (lastFrame) this.#stream.data(lastFrame);
    this.#stream.end(status);
  }

  #runOut(): void {
    if (this.#isOver) return;
    if (!this.#isHandled) this.#method.refused(Code.DeadlineExceeded, this);
    this.#isHandled = true;
    this.#fail(new ConnectError("Deadline exceeded", Code.DeadlineExceeded));
    this.#canceled?.abort();
  }
}

/** Answers a call that no method takes. */
export function refuseCall(stream: Http2Stream, code: Code, message: string): void {
  stream.headers(encodeHeaders([...answerHeaders, ...statusOf(new ConnectError(message, code))]), true);
}

const msByUnit = new Map([
  ["H", 3_600_000],
  ["M", 60_000],
  ["S", 1_000],
  ["m", 1],
  ["u", 0.001],
  ["n", 0.000_001],
]);

/** No call takes as long, and timers cannot count much further. */
const timeoutMaxMs = 24 * 3_600_000;

function statusOf(error: ConnectError): string[] {
  const status = ["grpc-status", String(error.code), "grpc-message", encodeURI(error.rawMessage.toWellFormed())];
  if (error.code === Code.Unimplemented) status.push("grpc-accept-encoding", "identity");
  if (error.details.length > 0) {
    status.push("grpc-status-details-bin", writeMessage(StatusSchema, toStatusMessage(error)).toString("base64"));
  }
  return status;
}
