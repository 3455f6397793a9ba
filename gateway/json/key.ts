import type { FastifyReply } from "fastify";
import { KeyKind } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import type { Key } from "../../proto/gen/setpoint/organization/v1/key_pb.ts";
import type { GetCurrentKeyResponse } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import type { RateLimit } from "../limits/token-buckets.ts";
import { namer } from "./enum-names.ts";
import { sendData } from "./send.ts";
import { isoTime } from "./time.ts";

/** The public name of each kind. */
export const kindByName = { api: KeyKind.API, management: KeyKind.MANAGEMENT } as const;

const kindNameOf = namer(kindByName);

/** Spending is not metered: nothing is used up, and nothing is limited. */
export const spending = {
  limit: null,
  limit_remaining: null,
  limit_reset: null,
  include_byok_in_limit: false,
  usage: 0,
  usage_daily: 0,
  usage_weekly: 0,
  usage_monthly: 0,
  byok_usage: 0,
  byok_usage_daily: 0,
  byok_usage_weekly: 0,
  byok_usage_monthly: 0,
};

export function keyJson(key: Key): string {
  return JSON.stringify({
    id: key.id,
    hash: key.hash,
    name: key.name,
    label: key.label,
    kind: kindNameOf(key.kind),
    permissions: key.permissions,
    workspace_id: key.workspaceId,
    disabled: key.disabled,
    creator_user_id: key.creatorUserId,
    created_at: isoTime(key.createTime),
    updated_at: isoTime(key.updateTime),
    last_used_at: isoTime(key.lastUseTime),
    expires_at: isoTime(key.expireTime),
    previous_expires_at: isoTime(key.previousExpireTime),
    external_user: null,
    ...spending,
  });
}

/** A key as its holder sees it. The rate limit is that of the gateway that is asked. */
export function currentKeyJson({ key, principal }: GetCurrentKeyResponse, rateLimit: RateLimit | undefined): string {
  if (!key || !principal) throw new Error("GetCurrentKey answered without a key or principal");
  const isManagement = principal.keyKind === KeyKind.MANAGEMENT;
  return JSON.stringify({
    label: key.label,
    creator_user_id: key.creatorUserId,
    expires_at: isoTime(key.expireTime),
    organization_id: principal.organizationId || null,
    workspace_id: principal.workspaceId || null,
    is_management_key: isManagement,
    is_provisioning_key: isManagement,
    is_free_tier: false,
    allowed_data_regions: ["global"],
    free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
    rate_limit: rateLimit
      ? { requests: rateLimit.perSecond, interval: "1s", note: `${rateLimit.burst} may come at once.` }
      : { requests: -1, interval: "1s", note: "There is no limit." },
    ...spending,
  });
}

export function sendKey(reply: FastifyReply, key: Key | undefined): FastifyReply {
  return sendData(reply, keyJson(present(key)));
}

interface CreatedKey {
  readonly key?: Key | undefined;
  readonly secret: string;
}

/** The only answer that contains a secret: no cache on the way may keep it. */
export function sendSecret(reply: FastifyReply, { key, secret }: CreatedKey): FastifyReply {
  const json = `{"data":${keyJson(present(key))},"key":${JSON.stringify(secret)}}`;
  return reply.status(201).header("cache-control", "no-store").type("application/json").send(json);
}

function present(key: Key | undefined): Key {
  if (!key) throw new Error("The organization service answered without a key");
  return key;
}
