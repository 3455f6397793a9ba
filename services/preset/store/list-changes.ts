import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Page } from "../../platform/domain/page.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import type { ChangeAction, PresetChange } from "../domain/change.ts";

/** A page, and how many changes there are in all. */
export interface ChangePage {
  readonly changes: readonly PresetChange[];
  readonly totalCount: number;
}

export interface ChangeRow extends RowDataPacket {
  readonly revision: number;
  readonly action: ChangeAction;
  readonly user_id: string;
  readonly key_id: Buffer;
  readonly fields: string;
  readonly created_at: Date;
}

interface CountedRow extends RowDataPacket {
  readonly total_count: number;
}

/** If the page is empty, a single row with only the count. */
type PageRow = CountedRow & (ChangeRow | { readonly revision: null });

/** Newest first; undefined if there is no such preset. Revisions have no gaps, so every page costs the same. */
export async function listChanges(
  executor: Executor,
  workspaceId: string,
  slug: string,
  { offset, limit }: Page,
): Promise<ChangePage | undefined> {
  const [rows] = await executor.execute<PageRow[]>(
    `SELECT p.revision AS total_count, c.revision, c.action, c.user_id, c.key_id, c.fields, c.created_at FROM presets p
      LEFT JOIN preset_changes c ON c.workspace_id = p.workspace_id AND c.preset_id = p.id
        AND c.revision BETWEEN p.revision - ? AND p.revision - ?
      WHERE p.workspace_id = ? AND p.slug = ? ORDER BY c.revision DESC`,
    [offset + limit - 1, offset, idToBytes(workspaceId), slug],
  );
  const [first] = rows;
  if (!first) return undefined;
  const changes = rows.filter((row): row is CountedRow & ChangeRow => row.revision !== null).map(changeFromRow);
  return { changes, totalCount: first.total_count };
}

export function changeFromRow(row: ChangeRow): PresetChange {
  return {
    revision: row.revision,
    action: row.action,
    actor: { userId: row.user_id, keyId: idFromBytes(row.key_id) },
    fields: JSON.parse(row.fields),
    createdAt: row.created_at,
  };
}
