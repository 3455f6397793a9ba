import type { Static } from "typebox";
import { Type } from "../../json/schema-builder.ts";

const dayMs = 24 * 60 * 60 * 1000;

function milliseconds() {
  return Type.Optional(Type.Integer({ minimum: 1, maximum: dayMs }));
}

/** As the file has them. */
export const timeoutsSchema = Type.Object(
  {
    connect_ms: milliseconds(),
    first_byte_ms: milliseconds(),
    first_byte_streamed_ms: milliseconds(),
    between_chunks_ms: milliseconds(),
    total_ms: milliseconds(),
    client_read_ms: milliseconds(),
  },
  { additionalProperties: false },
);

/** The time limits of a call to an upstream, by phase. */
export interface UpstreamTimeouts {
  readonly connectMs: number;
  /** From the request to the head of its answer: for one that is not streamed, and for one that is. */
  readonly firstByteMs: number;
  readonly firstByteStreamedMs: number;
  readonly betweenChunksMs: number;
  /** All of it, with retries. */
  readonly totalMs: number;
  /** How long a client may take to read any part of what it was sent. */
  readonly clientReadMs: number;
}

const minuteMs = 60_000;

export const defaultTimeouts: UpstreamTimeouts = {
  connectMs: 5_000,
  // An answer that is not streamed begins when all of it is generated.
  firstByteMs: 10 * minuteMs,
  firstByteStreamedMs: 2 * minuteMs,
  betweenChunksMs: 5 * minuteMs,
  totalMs: 30 * minuteMs,
  clientReadMs: minuteMs,
};

export function timeoutsFrom(
  given: Static<typeof timeoutsSchema> | undefined,
  defaults: UpstreamTimeouts,
): UpstreamTimeouts {
  return {
    connectMs: given?.connect_ms ?? defaults.connectMs,
    firstByteMs: given?.first_byte_ms ?? defaults.firstByteMs,
    firstByteStreamedMs: given?.first_byte_streamed_ms ?? defaults.firstByteStreamedMs,
    betweenChunksMs: given?.between_chunks_ms ?? defaults.betweenChunksMs,
    totalMs: given?.total_ms ?? defaults.totalMs,
    clientReadMs: given?.client_read_ms ?? defaults.clientReadMs,
  };
}
