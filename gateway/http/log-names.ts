import type { FastifyRequest } from "fastify";

/** What lines of the log name a request by. */
export function logNamesOf({ id, exchange }: FastifyRequest): { request_id: string; trace_id: string | undefined } {
  return { request_id: id, trace_id: exchange?.trace?.traceId };
}
