import { type ContextValues, createContextKey, type HandlerContext } from "@connectrpc/connect";
import { invalidRequest } from "../domain/domain-error.ts";
import { isPlainTransfer } from "../http/transfer-encoding.ts";
import { findOutline } from "../json/json-outline.ts";
import { longTextLength } from "../json/json-text.ts";
import { nextTurn } from "../time/next-turn.ts";
import type { CallReservation } from "./call-bytes.ts";
import { reservationKey } from "./connect-answers.ts";
import { fieldsMax, readRequest } from "./field-count.ts";
import { overloaded, requestTooLarge, unsupportedRequest } from "./refusals.ts";

// Connect decodes anything within its size limit. So a body is read here first, and refused if decoding it would
// block the event loop.

/** A call that Connect has not handed over to a method of ours yet. */
export interface PendingCall {
  readonly context: HandlerContext;
  /** The largest message that its method takes. */
  readonly bytesMax: number;
}

export const pendingKey = createContextKey<PendingCall | undefined>(undefined);

/** Room for a config and a system prompt of a mebibyte each, with every character escaped, and the rest. */
const jsonBytesMax = 4.25 * 1024 * 1024;

/** Longer than the name of any field. Connect quotes unknown names in its error, even though that is not sent. */
const keyLengthMax = 256;

/** The envelope before a message in every protocol except unary Connect: a byte of flags, and the length. */
const envelopeBytes = 5;

export type Chunks = AsyncIterator<Uint8Array>;

/** Ends a call that there is no room for, before or while its body is read. */
export function checkRoom(reservation: CallReservation | undefined): void {
  if (reservation?.isRefused) throw overloaded();
}

/**
 * The body in one piece, once it is checked. Not reading it to the end does not close it, so that the rest can be
 * discarded.
 */
export async function* wholeBody(chunks: Chunks, values: ContextValues): AsyncIterable<Uint8Array> {
  const pending = values.get(pendingKey);
  if (!pending) throw new Error("The body was read before the request gate");
  if (!isPlainTransfer(pending.context.requestHeader.get("transfer-encoding"))) throw unsupportedRequest();
  const body = new CheckedBody(pending);
  const reservation = values.get(reservationKey);
  for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next()) {
    reservation?.received(chunk.value.length);
    checkRoom(reservation);
    body.add(chunk.value);
  }
  const bytes = body.end();
  // Checking it took a while, and so will decoding it.
  if (bytes.length > longTextLength) await nextTurn();
  yield bytes;
}

/** The largest message that is decoded for a call. */
export function messageBytesMax({ context, bytesMax }: PendingCall): number {
  return isJson(context) ? Math.min(jsonBytesMax, bytesMax) : bytesMax;
}

function isJson({ requestHeader }: HandlerContext): boolean {
  return /[/+]json/i.test(requestHeader.get("content-type") ?? "");
}

class CheckedBody {
  readonly #call: HandlerContext;
  readonly #isEnveloped: boolean;
  readonly #bytesMax: number;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(pending: PendingCall) {
    const { protocolName, method } = pending.context;
    this.#call = pending.context;
    this.#isEnveloped = protocolName !== "connect" || method.methodKind !== "unary";
    this.#bytesMax = messageBytesMax(pending);
  }

  add(chunk: Uint8Array): void {
    this.#length += chunk.length;
    const bytesMax = this.#isEnveloped ? envelopeBytes + this.#bytesMax : this.#bytesMax;
    if (this.#length > bytesMax) throw requestTooLarge(this.#bytesMax);
    this.#chunks.push(chunk);
  }

  end(): Uint8Array {
    const body = Buffer.concat(this.#chunks, this.#length);
    this.#chunks.length = 0;
    const message = this.#isEnveloped ? this.#messageIn(body) : body;
    if (isJson(this.#call)) checkJson(message);
    // The library reads a field as its type has it, whatever its tag says: where the two differ, it would find others
    // than were counted.
    else readRequest(this.#call.method.input, message);
    return body;
  }

  /** An incomplete message is left to Connect to refuse. More than one is refused here: there may be a million. */
  #messageIn(body: Buffer): Buffer {
    if (body.length < envelopeBytes) return body.subarray(body.length);
    const length = body.readUInt32BE(1);
    if (length > this.#bytesMax) throw requestTooLarge(this.#bytesMax);
    if (body.length > envelopeBytes + length) throw unsupportedRequest();
    return body.subarray(envelopeBytes);
  }
}

/** The cost of parsing depends on the number of keys and values more than on the length. */
function checkJson(bytes: Buffer): void {
  const outline = findOutline(bytes.toString(), fieldsMax);
  const message = typeof outline === "string" ? outline : `must not hold a key of more than ${keyLengthMax} characters`;
  if (typeof outline === "string" || outline.keyLengthMax > keyLengthMax) throw invalidRequest([{ path: "", message }]);
}
