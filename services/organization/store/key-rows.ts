import type { KeyKind, Permission } from "../../platform/auth/principal.ts";
import { idFromBytes } from "../../platform/domain/ids.ts";
import type { RowDataPacket } from "../../platform/mysql/pool.ts";
import type { Key } from "../domain/keys.ts";

/** The columns of `api_keys` that a Key is made of, under the names that keyFromRow reads. */
export const keyColumns = `k.id, k.key_hash, k.label, k.name, k.kind, k.permissions, k.organization_id, k.workspace_id,
  k.creator_user_id, k.disabled, k.created_at, k.updated_at, k.expires_at, k.previous_expires_at, k.revoked_at, k.last_used_at,
  k.rate_limit, k.rate_burst`;

export interface KeyRow extends RowDataPacket {
  readonly id: Buffer;
  readonly key_hash: Buffer;
  readonly label: string | null;
  readonly name: string;
  readonly kind: KeyKind;
  readonly permissions: string;
  readonly organization_id: Buffer;
  readonly workspace_id: Buffer | null;
  readonly creator_user_id: string;
  readonly disabled: number;
  readonly created_at: Date;
  readonly updated_at: Date | null;
  readonly expires_at: Date | null;
  readonly previous_expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
  readonly rate_limit: number | null;
  readonly rate_burst: number | null;
}

/** For a key whose secret was created before labels were stored. */
const unknownLabel = "sk-sp-v1-…";

export function keyFromRow(row: KeyRow): Key {
  return {
    id: idFromBytes(row.id),
    hash: row.key_hash.toString("hex"),
    label: row.label ?? unknownLabel,
    name: row.name,
    kind: row.kind,
    permissions: row.permissions.split(",").filter(Boolean) as Permission[],
    organizationId: idFromBytes(row.organization_id),
    workspaceId: row.workspace_id ? idFromBytes(row.workspace_id) : undefined,
    creatorUserId: row.creator_user_id,
    disabled: row.disabled !== 0,
    createdAt: row.created_at,
    updatedAt: row.updated_at ?? undefined,
    expiresAt: row.expires_at ?? undefined,
    previousExpiresAt: row.previous_expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    rateLimit:
      row.rate_limit === null ? undefined : { perSecond: row.rate_limit, burst: row.rate_burst ?? row.rate_limit },
  };
}
