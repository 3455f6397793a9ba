import type { FastifyReply } from "fastify";

/** A signal that is aborted when the caller hangs up before they are answered. */
export function untilGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once("close", () => {
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}
