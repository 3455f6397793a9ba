import { idToBytes } from "../../platform/domain/ids.ts";
import type { Pool, RowDataPacket } from "../../platform/mysql/pool.ts";
import { spellingsNear } from "../domain/similar-slug.ts";

/** On each side, in the order of slugs. */
const neighboursMax = 32;

/**
 * Slugs of active presets that may have been meant by this one. However large the workspace, this is a fixed number of
 * lookups by key, plus the neighbouring rows. The index is forced: without it, the server might scan the workspace.
 */
export async function listSlugsNear(pool: Pick<Pool, "query">, workspaceId: string, slug: string): Promise<string[]> {
  const workspace = idToBytes(workspaceId);
  const presets = "SELECT slug, status FROM presets FORCE INDEX (PRIMARY) WHERE workspace_id = ?";
  // Not prepared: each number of spellings would be a statement of its own, and is rarely used again.
  const [rows] = await pool.query<RowDataPacket[]>(
    `(${presets} AND slug IN (?))
      UNION ALL (${presets} AND slug < ? ORDER BY slug DESC LIMIT ${neighboursMax})
      UNION ALL (${presets} AND slug > ? ORDER BY slug LIMIT ${neighboursMax})`,
    [workspace, spellingsNear(slug), workspace, slug, workspace, slug],
  );
  // Not a condition of the statement: it would have to skip any number of presets that are not active.
  return rows.filter(({ status }) => status === "active").map((row) => row.slug);
}
