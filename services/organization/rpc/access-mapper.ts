import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  KeyKind as KeyKindMessage,
  type PrincipalSchema,
} from "../../../proto/gen/setpoint/organization/v1/access_pb.ts";
import type {
  ExchangeKeyRequest,
  ExchangeKeyResponseSchema,
} from "../../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { isKey, isSecret } from "../../platform/auth/key-format.ts";
import type { KeyKind, Principal } from "../../platform/auth/principal.ts";
import { invalidRequest } from "../../platform/domain/domain-error.ts";
import { isId } from "../../platform/domain/ids.ts";
import { int32Max } from "../../platform/domain/limits.ts";
import type { AccessToken } from "../domain/access-token.ts";
import { keyInvalid } from "../domain/errors.ts";
import { hashKey, type KeyRateLimit } from "../domain/keys.ts";
import type { PresentedKey } from "../store/key-scopes.ts";

export const kindMessages: Readonly<Record<KeyKind, KeyKindMessage>> = {
  api: KeyKindMessage.API,
  management: KeyKindMessage.MANAGEMENT,
};

export function fromExchangeKeyRequest({ key, workspaceId }: ExchangeKeyRequest): PresentedKey {
  const isSession = isSecret("session", key);
  if (!isSession && !isKey(key)) throw keyInvalid();
  const presented = { hash: hashKey(key), isSession };
  return { ...presented, workspaceId: workspaceId === "" ? undefined : fromWorkspaceId(workspaceId) };
}

export function fromWorkspaceId(workspaceId: string): string {
  if (!isId(workspaceId)) throw invalidRequest([{ path: "workspace_id", message: "must be a UUID" }]);
  // Ids are compared as text, and a UUID may be written in upper case.
  return workspaceId.toLowerCase();
}

export function toExchangeKeyResponse(
  token: AccessToken,
  principal: Principal,
  rateLimit: KeyRateLimit | undefined,
): MessageInitShape<typeof ExchangeKeyResponseSchema> {
  return {
    accessToken: token.text,
    expireTime: timestampFromDate(token.expiresAt),
    expiresInSeconds: token.lifeSeconds,
    principal: toPrincipalMessage(principal),
    ...toRateLimitField(rateLimit),
    ...(token.keyLifeSeconds !== undefined && { keyExpiresInSeconds: Math.min(token.keyLifeSeconds, int32Max) }),
  };
}

/** No field where there is no limit. */
export function toRateLimitField(rateLimit: KeyRateLimit | undefined) {
  return rateLimit ? { rateLimit: { requestsPerSecond: rateLimit.perSecond, burst: rateLimit.burst } } : {};
}

export function toPrincipalMessage(principal: Principal): MessageInitShape<typeof PrincipalSchema> {
  return {
    keyId: principal.keyId,
    keyKind: kindMessages[principal.keyKind],
    userId: principal.userId,
    organizationId: principal.organizationId ?? "",
    workspaceId: principal.workspaceId ?? "",
    permissions: [...principal.permissions],
  };
}
