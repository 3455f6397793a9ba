import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { Page } from "../../services/platform/domain/page.ts";

/** As much of a page as one RPC carries. */
export interface ListPart<Item> {
  readonly items: readonly Item[];
  readonly totalCount: number;
}

/**
 * The items of a page that one RPC may not carry, part by part, as they are asked for: together they may be hundreds of
 * megabytes. How many there are is said by the first part. Ends where there are no more, also where fewer are left than
 * that: what changes meanwhile may come twice or not at all, as between two pages.
 */
export async function* listParts<Item>(
  page: Page,
  first: ListPart<Item>,
  list: (rest: Page, lastCount: number) => Promise<ListPart<Item>>,
): AsyncGenerator<readonly Item[]> {
  let [{ offset, limit }, { items }] = [page, first];
  for (;;) {
    yield items;
    const count = items.length;
    offset += count;
    limit -= count;
    if (count === 0 || limit <= 0 || offset >= first.totalCount) return;
    ({ items } = await list({ offset, limit }, count));
  }
}

/** Sends JSON as it comes. Where it cannot be had to its end, the status has been sent, and the connection is cut. */
export function sendParts(reply: FastifyReply, parts: AsyncIterable<string>): FastifyReply {
  // Fastify would read the stream of a HEAD to its end, for nothing.
  return reply.type("application/json").send(Readable.from(reply.request.method === "HEAD" ? [] : parts));
}
