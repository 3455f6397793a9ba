import { once } from "node:events";
import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { StatusSchema } from "../../../proto/gen/google/rpc/status_pb.ts";
import type { DomainError } from "../domain/domain-error.ts";
import { monotonicMs } from "../process/clock.ts";
import type { CallBytes, CallHold } from "./call-bytes.ts";
import type { IncomingCall } from "./call-context.ts";
import { toRpcError, toStatusMessage } from "./errors.ts";
import { readMessage } from "./field-count.ts";
import { encode, framed, MessageReader } from "./grpc-messages.ts";
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

const ok: OutgoingHttpHeaders = { "grpc-status": "0" };
const answerHeaders = { ":status": 200, "content-type": "application/grpc" };

/** The server's side of one call: reads a message, has it answered, and tells what became of it. */
export class GrpcServerCall implements IncomingCall {
  readonly rpcSystem = "grpc";
  readonly hold: CallHold;
  readonly deadlineMs: number | undefined;
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #method: ServedMethod;
  readonly #bytes: CallBytes;
  readonly #reader = new MessageReader(requestBytesMax, this);
  /** Of a stream. */
  readonly #canceled: AbortController | undefined;
  #receivedBytes = 0;
  #message: Buffer | undefined;
  #refusal: DomainError | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the method was told of it. */
  #isHandled = false;
  /** Whether the caller has all of the answer, or has gone. */
  #isOver = false;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, method: ServedMethod, bytes: CallBytes) {
    this.#stream = stream;
    this.#headers = headers;
    this.#method = method;
    this.#bytes = bytes;
    this.hold = bytes.open(stream.session ?? stream, stream);
    if (method.kind === "stream") this.#canceled = new AbortController();
    const timeoutMs = this.#readTimeout();
    if (timeoutMs !== undefined) {
      this.deadlineMs = monotonicMs() + timeoutMs;
      this.#timer = setTimeout(() => this.#runOut(), timeoutMs);
    }
    if ((headers["grpc-encoding"] ?? "identity") !== "identity") this.#refusal ??= unsupportedRequest();
    stream.on("data", (chunk: Buffer) => this.#receive(chunk));
    stream.on("end", () => this.#receivedAll());
    // Told by its close. But an error that nobody listens to would end the process.
    stream.on("error", () => {});
    stream.on("close", () => this.#closed());
  }

  get signal(): AbortSignal | undefined {
    return this.#canceled?.signal;
  }

  readonly header = (name: string): string | undefined => this.#headers[name]?.toString();

  /** A stream is closed before it says so. */
  readonly isCanceled = (): boolean => this.#isOver || this.#stream.closed || this.#stream.destroyed;

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
    const text = this.#headers["grpc-timeout"];
    if (text === undefined) return undefined;
    const { value, unit } = /^(?<value>\d{1,8})(?<unit>[HMSmun])$/.exec(String(text))?.groups ?? {};
    const unitMs = unit && msByUnit.get(unit);
    if (unitMs) return Math.min(timeoutMaxMs, Math.ceil(Number(value) * unitMs));
    this.#refusal = invalidTimeout("grpc-timeout");
    return undefined;
  }

  #receive(chunk: Buffer): void {
    this.#receivedBytes += chunk.length;
    this.hold.received(chunk.length);
    // Who sends on after too large a message has had the answer to that.
    const isEndless = this.#receivedBytes > requestBytesMax + envelopesBytesMax;
    if (isEndless || this.#bytes.isFlooded) this.#stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    else if (!this.#isHandled) this.#reader.read(chunk);
  }

  #receivedAll(): void {
    if (this.#isHandled || this.#isOver) return;
    if (!this.#message || this.#reader.isInside) this.#refusal ??= unsupportedRequest();
    if (this.hold.isRefused && !this.#method.isProbe) this.#refusal ??= overloaded();
    this.#handle();
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
    return readMessage(descriptor.input, message);
  };

  #answer({ message, encoded, notEncoded }: Answer): void {
    let frame: Buffer;
    try {
      frame = this.#frameOf(message);
      encoded();
    } catch (thrown) {
      this.#fail(notEncoded(thrown));
      return;
    }
    if (this.isCanceled()) return;
    this.hold.answered(frame.length);
    this.#end(ok, frame);
  }

  async #answerEach(messages: AsyncIterable<Message>): Promise<void> {
    try {
      for await (const message of messages) {
        const frame = this.#frameOf(message);
        if (this.isCanceled()) return;
        if (!this.#send(frame)) await this.#drained();
      }
      if (!this.isCanceled()) this.#end(ok);
    } catch (thrown) {
      this.#fail(thrown instanceof ConnectError ? thrown : toRpcError(thrown));
    }
  }

  #frameOf(message: Message): Buffer {
    const bytes = encode(this.#method.descriptor.output, message);
    if (bytes.length > responseBytesMax) throw answerTooLarge();
    return framed(bytes);
  }

  #send(frame: Buffer): boolean {
    this.hold.answered(frame.length);
    this.#respond();
    return this.#stream.write(frame);
  }

  async #drained(): Promise<void> {
    try {
      await once(this.#stream, "drain", this.signal && { signal: this.signal });
    } catch {
      // The caller has gone.
    }
  }

  #fail(error: ConnectError): void {
    if (!this.isCanceled()) this.#end(statusOf(error));
  }

  #respond(): void {
    if (!this.#stream.headersSent) this.#stream.respond(answerHeaders, { waitForTrailers: true });
  }

  #end(status: OutgoingHttpHeaders, lastFrame?: Buffer): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    const stream = this.#stream;
    if (!stream.headersSent && !lastFrame) {
      stream.respond({ ...answerHeaders, ...status }, { endStream: true });
      return;
    }
    this.#respond();
    stream.once("wantTrailers", () => stream.sendTrailers(status));
    stream.end(lastFrame);
  }

  #runOut(): void {
    if (this.#isOver) return;
    if (!this.#isHandled) this.#method.refused(Code.DeadlineExceeded, this);
    this.#isHandled = true;
    this.#fail(new ConnectError("Deadline exceeded", Code.DeadlineExceeded));
    this.#canceled?.abort();
  }

  #closed(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#canceled?.abort();
    if (this.#isHandled) return;
    this.#isHandled = true;
    const isTooMuch = this.#stream.rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM;
    this.#method.refused(isTooMuch ? Code.ResourceExhausted : Code.Canceled, this);
  }
}

/** Answers a call that no method takes. */
export function refuseCall(stream: ServerHttp2Stream, code: Code, message: string): void {
  stream.on("error", () => {});
  stream.respond({ ...answerHeaders, ...statusOf(new ConnectError(message, code)) }, { endStream: true });
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

function statusOf(error: ConnectError): OutgoingHttpHeaders {
  const status: OutgoingHttpHeaders = {
    "grpc-status": String(error.code),
    "grpc-message": encodeURI(error.rawMessage.toWellFormed()),
  };
  if (error.code === Code.Unimplemented) status["grpc-accept-encoding"] = "identity";
  if (error.details.length > 0) {
    status["grpc-status-details-bin"] = encode(StatusSchema, toStatusMessage(error)).toString("base64");
  }
  return status;
}
