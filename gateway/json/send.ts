import type { FastifyReply } from "fastify";
import { pageJson } from "./page.ts";

/** Answers with `{"data": …}`, around what is already JSON. */
export function sendData(reply: FastifyReply, json: string): FastifyReply {
  return reply.type("application/json").send(`{"data":${json}}`);
}

/** Answers with one page of a list, whose items are already JSON. */
export function sendPage(reply: FastifyReply, items: readonly string[], totalCount: number): FastifyReply {
  return reply.type("application/json").send(pageJson(items, totalCount));
}
