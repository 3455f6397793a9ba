import { idFromBytes } from "../../platform/domain/ids.ts";
import type { RowDataPacket } from "../../platform/mysql/pool.ts";
import type { Dialect, Preset, PresetStatus, PresetVersion } from "../domain/preset.ts";

/** The columns of `presets` that a Preset is made of, under the names that presetFromRow reads. */
export const presetColumns = `p.id, p.workspace_id, p.slug, p.name, p.description, p.status, p.status_updated_at,
  p.creator_user_id, p.created_at, p.updated_at, p.latest_version, p.designated_version, p.designated_version_id,
  p.revision`;

export interface PresetRow extends RowDataPacket {
  readonly id: Buffer;
  readonly workspace_id: Buffer;
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: PresetStatus;
  readonly status_updated_at: Date | null;
  readonly creator_user_id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly latest_version: number;
  readonly designated_version: number;
  readonly designated_version_id: Buffer;
  readonly revision: number;
}

export function presetFromRow(row: PresetRow): Preset {
  return {
    id: idFromBytes(row.id),
    workspaceId: idFromBytes(row.workspace_id),
    slug: row.slug,
    name: row.name,
    description: row.description ?? undefined,
    status: row.status,
    statusUpdatedAt: row.status_updated_at ?? undefined,
    creatorUserId: row.creator_user_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    latestVersion: row.latest_version,
    designatedNumber: row.designated_version,
    designatedVersionId: idFromBytes(row.designated_version_id),
    revision: row.revision,
  };
}

/** The columns of `preset_versions` that a PresetVersion is made of, under the names that versionFromRow reads. */
export const versionColumns = `v.id AS version_id, v.preset_id, v.version, v.config, v.system_prompt, v.dialect,
  v.creator_id, v.created_at AS version_created_at`;

export interface VersionRow extends RowDataPacket {
  readonly version_id: Buffer;
  readonly preset_id: Buffer;
  readonly version: number;
  readonly config: string;
  readonly system_prompt: string | null;
  readonly dialect: Dialect | null;
  readonly creator_id: string;
  readonly version_created_at: Date;
}

export function versionFromRow(row: VersionRow): PresetVersion {
  return {
    id: idFromBytes(row.version_id),
    presetId: idFromBytes(row.preset_id),
    version: row.version,
    configJson: row.config,
    systemPrompt: row.system_prompt ?? undefined,
    dialect: row.dialect ?? undefined,
    creatorId: row.creator_id,
    createdAt: row.version_created_at,
  };
}
