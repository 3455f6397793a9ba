import { idToBytes } from "../../platform/ids.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import type { Page } from "../../platform/page.ts";
import type { PresetVersion } from "../domain/preset.ts";
import { type VersionRow, versionColumns, versionFromRow } from "./preset-rows.ts";

/** A page, and how many versions there are in all. */
export interface VersionPage {
  readonly versions: readonly PresetVersion[];
  readonly totalCount: number;
}

type Row = RowDataPacket & { readonly latest_version: number } & (VersionRow | { readonly version_id: null });

/**
 * Undefined where there is no such preset. Versions have no gaps, so an offset is a version number: every page costs
 * the same, and the count stands in the preset's row.
 */
export async function listVersions(
  executor: Executor,
  workspaceId: string,
  slug: string,
  { offset, limit }: Page,
): Promise<VersionPage | undefined> {
  const [rows] = await executor.execute<Row[]>(
    `SELECT p.latest_version, ${versionColumns} FROM presets p
      LEFT JOIN preset_versions v ON v.workspace_id = p.workspace_id AND v.preset_id = p.id AND v.version BETWEEN ? AND ?
      WHERE p.workspace_id = ? AND p.slug = ? ORDER BY v.version`,
    [offset + 1, offset + limit, idToBytes(workspaceId), slug],
  );
  const [first] = rows;
  if (!first) return undefined;
  const versions = rows.filter((row): row is Row & VersionRow => row.version_id !== null).map(versionFromRow);
  return { versions, totalCount: first.latest_version };
}
