import { request } from "./request.ts";
import type { ListPage } from "./types.ts";

/** Nobody picks from a longer list. */
export const listedMax = 1_000;

/** The items of all pages of a list, up to `listedMax`. */
export async function listAll<T>(path: string, filter: Readonly<Record<string, string>> = {}): Promise<readonly T[]> {
  const found: T[] = [];
  for (let offset = 0; offset < listedMax; offset += 100) {
    const page = new URLSearchParams({ ...filter, limit: "100", offset: String(offset) });
    const { json } = await request<ListPage<T>>(`${path}?${page}`);
    found.push(...json.data);
    if (offset + 100 >= json.total_count) break;
  }
  return found;
}
