import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { AccessService } from "../../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import type { OpenContext } from "../../platform/rpc/call-context.ts";
import type { Implementation } from "../../platform/rpc/service.ts";
import { mintAccessToken } from "../domain/access-token.ts";
import { getPrincipal, hashKey } from "../domain/keys.ts";
import type { SigningKeys } from "../domain/signing-keys.ts";
import type { KeyUseRecorder } from "../store/key-use.ts";
import { findKeyScope } from "../store/keys.ts";
import { fromExchangeKeyRequest, toExchangeKeyResponse } from "./access-mapper.ts";

interface Parts {
  readonly pool: Pool;
  readonly keyUse: KeyUseRecorder;
  readonly signingKeys: SigningKeys;
  readonly ttlSeconds: number;
}

export function accessService({
  pool,
  keyUse,
  signingKeys,
  ttlSeconds,
}: Parts): Implementation<typeof AccessService, OpenContext> {
  const [signingKey] = signingKeys;
  const jwksJson = JSON.stringify({ keys: signingKeys.map(({ jwk }) => jwk) });
  return {
    async exchangeKey(request, { deadlineMs }) {
      const { secret, workspaceId } = fromExchangeKeyRequest(request);
      const keyHash = hashKey(secret);
      const scope = await retryTransient(deadlineMs, () => findKeyScope(pool, keyHash, workspaceId));
      const now = new Date();
      const principal = getPrincipal(scope, workspaceId, now);
      const token = mintAccessToken(principal, signingKey, { now, ttlSeconds, keyExpiresAt: scope?.key.expiresAt });
      keyUse.record(principal.keyId, now);
      return toExchangeKeyResponse(token, principal, scope?.key.rateLimit);
    },

    async getKeySet() {
      return { jwksJson, currentTime: timestampNow() };
    },
  };
}
