import { request } from "./request.ts";
import type { ListPage } from "./types.ts";

/** Nobody picks from a longer list. */
export const listedMax = 1_000;

interface Listed<T> {
  readonly items: readonly T[];
  /** Whether there are more than these. */
  readonly isCutShort: boolean;
}

/** The items of all pages of a list, up to `listedMax`. */
export async function listAll<T>(path: string, filter: Readonly<Record<string, string>> = {}): Promise<Listed<T>> {
  const items: T[] = [];
  for (let offset = 0; offset < listedMax; offset += 100) {
    const page = new URLSearchParams({ ...filter, limit: "100", offset: String(offset) });
    const { json } = await request<ListPage<T>>(`${path}?${page}`);
    items.push(...json.data);
    if (offset + 100 >= json.total_count) return { items, isCutShort: false };
  }
  return { items, isCutShort: true };
}
