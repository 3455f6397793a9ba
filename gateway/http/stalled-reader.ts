import type { FastifyReply } from "fastify";

/** A reader who takes nothing for this long is not waited for. */
const stalledAfterMs = 30_000;

/** Cuts off an answer of several parts whose reader has stopped reading. */
export function cutOffWhenStalled({ raw }: FastifyReply): void {
  raw.setTimeout(stalledAfterMs, () => raw.destroy());
}
