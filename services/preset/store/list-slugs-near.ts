import { idToBytes } from "../../platform/domain/ids.ts";
import type { Pool, RowDataPacket } from "../../platform/mysql/pool.ts";
import { spellingsNear } from "../domain/similar-slug.ts";

/** On each side, in the order of slugs. */
const neighboursMax = 32;

/**
 * Slugs of active presets that may have been meant by this one. However many presets the workspace has, these are as many
 * look-ups by key, and as many rows that lie beside it. The index is forced: a scan of the workspace would find the same.
 */
export async function listSlugsNear(pool: Pick<Pool, "query">, workspaceId: string, slug: string): Promise<string[]> {
  const workspace = idToBytes(workspaceId);
  const presets = "SELECT slug, status FROM presets FORCE INDEX (PRIMARY) WHERE workspace_id = ?";
  // Not prepared: each number of spellings would be a statement of its own, and is seldom asked for again.
  const [rows] = await pool.query<RowDataPacket[]>(
    `(${presets} AND slug IN (?))
      UNION ALL (${presets} AND slug < ? ORDER BY slug DESC LIMIT ${neighboursMax})
      UNION ALL (${presets} AND slug > ? ORDER BY slug LIMIT ${neighboursMax})`,
    [workspace, spellingsNear(slug), workspace, slug, workspace, slug],
  );
  // Not a condition of the statement: it would walk on through any number that are not active.
  return rows.filter(({ status }) => status === "active").map((row) => row.slug);
}
