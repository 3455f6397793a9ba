import { type ContextValues, createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { CallReservation } from "./call-bytes.ts";
import type { Answer } from "./service.ts";

/** What the call holds in memory. */
export const reservationKey = createContextKey<CallReservation | undefined>(undefined);

/** What a unary method has answered. Whether that could be encoded is known only after Connect. */
export const answerKey = createContextKey<(Answer & { readonly context: HandlerContext }) | undefined>(undefined);

/** The flag of an envelope that ends an answer of gRPC-Web. */
const trailersFlag = 0x80;

/**
 * Follows a response on its way to the socket: counts the memory that it holds, and reports the outcome of the answer.
 */
export function followAnswer(response: UniversalServerResponse, values: ContextValues): UniversalServerResponse {
  const reservation = values.get(reservationKey);
  const answer = values.get(answerKey);
  if (!response.body) return response;
  return { ...response, body: chunksOf(response.body) };

  async function* chunksOf(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    let isFirst = true;
    for await (const chunk of body) {
      if (isFirst) reportOutcome(chunk);
      isFirst = false;
      reservation?.answered(chunk.length);
      yield chunk;
    }
    if (isFirst) reportOutcome(undefined);
  }

  /**
   * Connect signals the outcome by the status. In the other protocols a message comes first, or nothing but the
   * trailers.
   */
  function reportOutcome(first: Uint8Array | undefined): void {
    if (!answer) return;
    const { context, encoded, notEncoded } = answer;
    const isConnect = context.protocolName === "connect";
    const isEncoded = isConnect ? response.status === 200 : first && ((first[0] ?? 0) & trailersFlag) === 0;
    if (isEncoded) encoded();
    else notEncoded(isConnect ? context.signal.reason : new Error("The answer could not be encoded"));
  }
}
