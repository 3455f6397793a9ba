import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { KeyKind as KeyKindMessage } from "../../../proto/gen/setpoint/organization/v1/access_pb.ts";
import type { KeySchema } from "../../../proto/gen/setpoint/organization/v1/key_pb.ts";
import type {
  CreateKeyRequest,
  RotateKeyRequest,
  UpdateKeyRequest,
} from "../../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import type { KeyKind } from "../../platform/auth/principal.ts";
import { invalidRequest } from "../../platform/domain/domain-error.ts";
import { fieldsOfMask } from "../../platform/rpc/field-mask.ts";
import type { KeyCreation, KeyRotation, KeyUpdate } from "../domain/key-changes.ts";
import { type Key, permissionsOf } from "../domain/keys.ts";
import { kindMessages, toRateLimitField } from "./access-mapper.ts";

const kindsByMessage = new Map<KeyKindMessage, KeyKind>([
  [KeyKindMessage.UNSPECIFIED, "api"],
  [KeyKindMessage.API, "api"],
  [KeyKindMessage.MANAGEMENT, "management"],
]);

/** A management key is shown in the default workspace of its organization. */
export function toKeyMessage(key: Key, defaultWorkspaceId: string): MessageInitShape<typeof KeySchema> {
  return {
    id: key.id,
    hash: key.hash,
    name: key.name,
    label: key.label,
    kind: kindMessages[key.kind],
    permissions: [...permissionsOf(key)],
    workspaceId: key.workspaceId ?? defaultWorkspaceId,
    disabled: key.disabled,
    creatorUserId: key.creatorUserId,
    createTime: timestampFromDate(key.createdAt),
    updateTime: key.updatedAt && timestampFromDate(key.updatedAt),
    lastUseTime: key.lastUsedAt && timestampFromDate(key.lastUsedAt),
    expireTime: key.expiresAt && timestampFromDate(key.expiresAt),
    previousExpireTime: isInFuture(key.previousExpiresAt) ? timestampFromDate(key.previousExpiresAt) : undefined,
    ...toRateLimitField(key.rateLimit),
  };
}

export function fromCreateKeyRequest(request: CreateKeyRequest): KeyCreation {
  const kind = kindsByMessage.get(request.kind);
  if (!kind) throw invalidRequest([{ path: "kind", message: "must be a known kind" }]);
  return {
    name: request.name,
    kind,
    workspace: request.workspaceId,
    creatorUserId: request.creatorUserId,
    expiresAt: request.expireTime && fromTimestamp(request.expireTime),
    permissions: request.permissions,
    requestId: request.requestId,
    secretSeed: request.secretSeed,
  };
}

/** Reads only the fields that the mask names. */
export function fromUpdateKeyRequest(request: UpdateKeyRequest): KeyUpdate {
  return fieldsOfMask<KeyUpdate>(
    request.updateMask,
    {
      name: () => ({ name: request.name }),
      disabled: () => ({ disabled: request.disabled }),
      expire_time: () => ({ expiresAt: request.expireTime ? fromTimestamp(request.expireTime) : null }),
      permissions: () => ({ permissions: request.permissions }),
    },
    { mayBeEmpty: true },
  );
}

export function fromRotateKeyRequest({ key, graceSeconds, requestId, secretSeed }: RotateKeyRequest): KeyRotation {
  return { key, graceSeconds, requestId, secretSeed };
}

function isInFuture(time: Date | undefined): time is Date {
  return time !== undefined && time.getTime() > Date.now();
}

/** A timestamp beyond the range of dates becomes one that the rules refuse, because it is not in the future. */
function fromTimestamp(timestamp: Timestamp): Date {
  const date = timestampDate(timestamp);
  return Number.isNaN(date.getTime()) ? new Date(0) : date;
}
