import { request } from "./request.ts";
import type { ListPage } from "./types.ts";

/** The items of all pages of a list, up to a thousand: nobody chooses among more. */
export async function listAll<T>(path: string): Promise<readonly T[]> {
  const found: T[] = [];
  for (let offset = 0; offset < 1_000; offset += 100) {
    const { json } = await request<ListPage<T>>(`${path}?limit=100&offset=${offset}`);
    found.push(...json.data);
    if (offset + 100 >= json.total_count) break;
  }
  return found;
}
