import type { FastifyRequest } from "fastify";

/** The ids that identify a request in log lines. */
export function logIdsOf({ id, exchange }: FastifyRequest): { request_id: string; trace_id: string | undefined } {
  return { request_id: id, trace_id: exchange?.trace?.traceId };
}
