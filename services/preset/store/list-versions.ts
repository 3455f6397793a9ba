import { idToBytes } from "../../platform/domain/ids.ts";
import type { Page } from "../../platform/domain/page.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import type { PresetVersion } from "../domain/preset.ts";
import { type VersionRow, versionColumns, versionFromRow } from "./preset-rows.ts";

/** A page, and how many versions there are in all. */
export interface VersionPage {
  readonly versions: readonly PresetVersion[];
  readonly totalCount: number;
}

type Row = RowDataPacket & { readonly latest_version: number } & (VersionRow | { readonly version_id: null });

/** Including overhead, a page of this size fits into the 4 MB that a gRPC client accepts by default. */
const pageBytesMax = 3 * 1024 * 1024;

/**
 * Undefined if there is no such preset. Versions have no gaps, so an offset is a version number: every page costs the
 * same, and the count is in the preset's row. A page ends early if it would be too large, but is never empty because of
 * that.
 */
export async function listVersions(
  executor: Executor,
  workspaceId: string,
  slug: string,
  { offset, limit }: Page,
): Promise<VersionPage | undefined> {
  const preset = [idToBytes(workspaceId), slug];
  const [rows] = await executor.execute<Row[]>(
    `SELECT p.latest_version, ${versionColumns} FROM presets p
      LEFT JOIN (
        SELECT v.workspace_id, v.preset_id, v.version,
            SUM(LENGTH(v.config) + COALESCE(LENGTH(v.system_prompt), 0)) OVER (ORDER BY v.version) AS bytes
          FROM presets p JOIN preset_versions v ON v.workspace_id = p.workspace_id AND v.preset_id = p.id
          WHERE p.workspace_id = ? AND p.slug = ? AND v.version BETWEEN ? AND ?
      ) page ON page.workspace_id = p.workspace_id AND page.preset_id = p.id AND (page.bytes <= ? OR page.version = ?)
      LEFT JOIN preset_versions v
        ON v.workspace_id = page.workspace_id AND v.preset_id = page.preset_id AND v.version = page.version
      WHERE p.workspace_id = ? AND p.slug = ? ORDER BY v.version`,
    [...preset, offset + 1, offset + limit, pageBytesMax, offset + 1, ...preset],
  );
  const [first] = rows;
  if (!first) return undefined;
  const versions = rows.filter((row): row is Row & VersionRow => row.version_id !== null).map(versionFromRow);
  return { versions, totalCount: first.latest_version };
}
