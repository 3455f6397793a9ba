import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { Page } from "../../services/platform/domain/page.ts";

/** The part of a page that one RPC carries. */
export interface ListPart<Item> {
  readonly items: readonly Item[];
  readonly totalCount: number;
}

/**
 * The items of a page that is too large for one RPC, part by part, on demand: together they may be hundreds of
 * megabytes. The first part says how many there are. Also ends if fewer turn out to be left: what is changed meanwhile
 * may come twice or not at all, as between two pages.
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

/** Sends JSON as it comes. If a part fails, the status has already been sent, so the connection is cut. */
export function sendParts(reply: FastifyReply, parts: AsyncIterable<string>): FastifyReply {
  // Fastify would read the stream of a HEAD to its end, for nothing.
  return reply.type("application/json").send(Readable.from(reply.request.method === "HEAD" ? [] : parts));
}
