import type { Message } from "@bufbuild/protobuf";
import type { DomainError } from "../domain/domain-error.ts";
import { readRequest } from "./field-count.ts";
import { MessageReader } from "./grpc-messages.ts";
import { requestBytesMax } from "./message-sizes.ts";
import { requestTooLarge, unreadableRequest, unsupportedRequest } from "./refusals.ts";
import type { ServedMethod } from "./service.ts";

/** Room for the length and the flags of the messages. */
const envelopesBytesMax = 1024;

/** The one message of a call, which arrives in pieces; or the reason why there is none. */
export class GrpcRequest {
  readonly #method: ServedMethod;
  readonly #reader = new MessageReader(requestBytesMax, this);
  #receivedBytes = 0;
  #message: Buffer | undefined;
  #refusal: DomainError | undefined;
  #isTooLarge = false;

  constructor(method: ServedMethod) {
    this.#method = method;
  }

  /** Whether it announces more than the maximum: then nothing more of it is read. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  /** Whether more has arrived than any valid request has. */
  get isEndless(): boolean {
    return this.#receivedBytes > requestBytesMax + envelopesBytesMax;
  }

  /** Records why there is no message, unless there is a reason already. */
  refuse(refusal: DomainError): void {
    this.#refusal ??= refusal;
  }

  /** Counts everything that arrives, even if it is no longer read. */
  count(bytes: number): void {
    this.#receivedBytes += bytes;
  }

  add(chunk: Buffer): void {
    // What follows a refusal may be millions of messages.
    if (!this.#refusal) this.#reader.read(chunk);
  }

  /** Nothing more will arrive. */
  end(): void {
    if (!this.#message || this.#reader.isInside) this.refuse(unsupportedRequest());
  }

  /** The message; throws the reason if there is none. */
  readonly read = (): Message => {
    const { descriptor, requestBytesMax } = this.#method;
    const message = this.#message ?? Buffer.alloc(0);
    // Not kept beside the decoded message, which is larger.
    this.#message = undefined;
    if (this.#refusal) throw this.#refusal;
    if (message.length > requestBytesMax) throw requestTooLarge(requestBytesMax);
    return readRequest(descriptor.input, message);
  };

  onMessage(bytes: Buffer, isCompressed: boolean): void {
    // There may be thousands in a chunk, and making an error takes long.
    if (this.#refusal) return;
    if (this.#message) this.refuse(unsupportedRequest());
    if (isCompressed) this.refuse(unreadableRequest(this.#method.descriptor.input));
    this.#message = bytes;
  }

  onTooLarge(): void {
    this.refuse(requestTooLarge(this.#method.requestBytesMax));
    this.#isTooLarge = true;
  }
}
