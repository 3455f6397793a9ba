import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { type Field, headerBytes, headerOf } from "../http2/header-table.ts";
import { errorCodes } from "../http2/protocol.ts";
import type { Http2Stream, StreamListener } from "../http2/stream.ts";
import { monotonicMs } from "../time/clock.ts";
import type { CallBytes, CallReservation } from "./call-bytes.ts";
import type { IncomingCall } from "./call-context.ts";
import { callEvents } from "./call-events.ts";
import { Code } from "./codes.ts";
import { toRpcError } from "./errors.ts";
import { answerFrame, GrpcAnswer } from "./grpc-answer.ts";
import { GrpcRequest } from "./grpc-request.ts";
import { timeoutMsFrom } from "./grpc-timeout.ts";
import { invalidTimeout, overloaded, unsupportedRequest } from "./refusals.ts";
import type { Answer, ServedMethod } from "./service.ts";

/** A caller's clock starts before ours, so it gives up this much earlier. */
const headStartMs = 10;

/**
 * More than a call takes in memory beside its headers and messages. Beginning one costs its caller a dozen bytes, and
 * thousands may be open on a connection without ever continuing.
 */
const overheadBytes = 2_048;

/** The server's side of one call: reads a message, runs the method, and reports the outcome. */
export class GrpcServerCall implements IncomingCall, StreamListener {
  readonly rpcSystem = "grpc";
  readonly reservation: CallReservation;
  readonly deadlineMs: number | undefined;
  earlyEnd: Code | undefined;
  readonly #stream: Http2Stream;
  readonly #fields: readonly Field[];
  readonly #method: ServedMethod;
  readonly #bytes: CallBytes;
  readonly #request: GrpcRequest;
  readonly #answer: GrpcAnswer;
  /** For a streaming method, whose answer nobody may be reading any more. */
  readonly #canceled: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** "working" once the request is read; "over" once the caller has received everything, or has gone. */
  #phase: "reading" | "working" | "over" = "reading";

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
    this.reservation = bytes.open(connection, stream);
    this.#request = new GrpcRequest(method);
    this.#answer = new GrpcAnswer(stream, this.reservation);
    if (method.kind === "stream") this.#canceled = new AbortController();
    const timeout = this.header("grpc-timeout");
    const timeoutMs = timeout === undefined ? undefined : timeoutMsFrom(timeout);
    if (timeoutMs !== undefined) {
      this.deadlineMs = monotonicMs() + timeoutMs;
      this.#timer = setTimeout(() => this.#onDeadline(), timeoutMs);
    } else if (timeout !== undefined) this.#request.refuse(invalidTimeout("grpc-timeout"));
    if ((this.header("grpc-encoding") ?? "identity") !== "identity") this.#request.refuse(unsupportedRequest());
  }

  get signal(): AbortSignal | undefined {
    return this.#canceled?.signal;
  }

  header(name: string): string | undefined {
    return headerOf(this.#fields, name);
  }

  begin(): void {
    callEvents.received.publish(undefined);
    this.#stream.listener = this;
    // Held as long as the call, which may never continue.
    this.reservation.begun(overheadBytes + headerBytes(this.#fields));
    if (this.#bytes.isFlooded) this.#stream.reset(errorCodes.enhanceYourCalm);
  }

  readonly isCanceled = (): boolean => this.#phase === "over";

  onHeaders(): void {}

  onData(chunk: Buffer): void {
    this.reservation.received(chunk.length);
    this.#request.count(chunk.length);
    // A caller that keeps sending although there was no room, or its message was too large, has already been answered.
    if (this.#request.isEndless || this.#bytes.isFlooded) this.#stream.reset(errorCodes.enhanceYourCalm);
    else if (this.#phase === "reading") {
      if (this.#isRefused) this.#request.refuse(overloaded());
      this.#request.add(chunk);
      // Requests arrive side by side: if a refused one kept what it holds until it is complete, all others would be refused.
      if (this.#isRefused || this.#request.isTooLarge) this.#handle();
    }
  }

  onEnd(): void {
    if (this.#phase !== "reading") return;
    this.#request.end();
    if (this.#isRefused) this.#request.refuse(overloaded());
    this.#handle();
  }

  onClose(code: number | undefined): void {
    const phase = this.#phase;
    this.#phase = "over";
    this.reservation.release();
    clearTimeout(this.#timer);
    if (phase === "reading") this.#method.refused(this.#endOf(code), this);
    if (phase === "working") this.earlyEnd = this.#endOf(code);
    this.#canceled?.abort();
  }

  /** Whether there was no room for it. */
  get #isRefused(): boolean {
    return this.reservation.isRefused && !this.#method.isProbe;
  }

  #handle(): void {
    this.#phase = "working";
    this.reservation.arrived();
    if (this.#method.kind === "unary") {
      this.#method.handle(this.#request.read, this).then(
        (answer) => this.#succeed(answer),
        (error: ConnectError) => this.#fail(error),
      );
    } else void this.#answerEach(this.#method.handle(this.#request.read, this));
  }

  #succeed({ message, encoded, notEncoded }: Answer): void {
    let frame: Buffer;
    try {
      frame = answerFrame(this.#method.descriptor.output, message);
    } catch (thrown) {
      this.#fail(notEncoded(thrown));
      return;
    }
    if (this.#tryToEnd()) this.#answer.end(frame);
    // After the answer is sent: the caller need not wait for log and metrics.
    queueMicrotask(encoded);
  }

  async #answerEach(messages: AsyncGenerator<MessageInitShape<DescMessage>>): Promise<void> {
    try {
      for await (const message of messages) {
        let frame: Buffer;
        try {
          frame = answerFrame(this.#method.descriptor.output, message);
        } catch (thrown) {
          // As if the method had thrown it, so that it is logged.
          await messages.throw(thrown);
          throw thrown;
        }
        if (this.isCanceled()) return;
        await this.#answer.send(frame);
      }
      if (this.#tryToEnd()) this.#answer.end();
    } catch (thrown) {
      this.#fail(thrown instanceof ConnectError ? thrown : toRpcError(thrown));
    }
  }

  #fail(error: ConnectError): void {
    if (this.#tryToEnd()) this.#answer.fail(error);
  }

  #onDeadline(): void {
    if (this.#phase === "reading") this.#method.refused(Code.DeadlineExceeded, this);
    this.earlyEnd = Code.DeadlineExceeded;
    this.#fail(new ConnectError("Deadline exceeded", Code.DeadlineExceeded));
    this.#canceled?.abort();
  }

  /** For a stream that was closed before it was answered. */
  #endOf(code: number | undefined): Code {
    if (code === errorCodes.enhanceYourCalm) return Code.ResourceExhausted;
    const isOutOfTime = this.deadlineMs !== undefined && monotonicMs() > this.deadlineMs - headStartMs;
    return code === errorCodes.cancel && isOutOfTime ? Code.DeadlineExceeded : Code.Canceled;
  }

  /** Ends the call; returns whether the caller is still there. */
  #tryToEnd(): boolean {
    if (this.#phase === "over") return false;
    this.#phase = "over";
    clearTimeout(this.#timer);
    return true;
  }
}
