import { timestampNow } from "@bufbuild/protobuf/wkt";
import type {
  AccessService,
  ExchangeKeyRequest,
} from "../../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import type { OpenContext } from "../../platform/rpc/call-context.ts";
import type { Implementation } from "../../platform/rpc/service.ts";
import { mintAccessToken } from "../domain/access-token.ts";
import { checkExchanges } from "../domain/exchanges.ts";
import { getPrincipal, hashKey, type KeyScope, scopeExpiresAt } from "../domain/keys.ts";
import type { SigningKeys } from "../domain/signing-keys.ts";
import { findKeyScopes } from "../store/key-scopes.ts";
import type { KeyUseRecorder } from "../store/key-use.ts";
import { fromExchangeKeyRequest, type KeyExchange, toExchangeKeyResponse } from "./access-mapper.ts";

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

  const findScopes = (exchanges: readonly KeyExchange[], { deadlineMs }: OpenContext) => {
    const shown = exchanges.map(({ secret, workspaceId }) => ({ keyHash: hashKey(secret), workspaceId }));
    return retryTransient(deadlineMs, () => findKeyScopes(pool, shown));
  };

  const answer = ({ workspaceId }: KeyExchange, scope: KeyScope | undefined) => {
    const now = new Date();
    const principal = getPrincipal(scope, workspaceId, now);
    const keyExpiresAt = scope && scopeExpiresAt(scope);
    const token = mintAccessToken(principal, signingKey, { now, ttlSeconds, keyExpiresAt });
    keyUse.record(principal.keyId, now);
    return toExchangeKeyResponse(token, principal, scope?.key.rateLimit);
  };

  return {
    async exchangeKey(request, context) {
      const exchange = fromExchangeKeyRequest(request);
      const [scope] = await findScopes([exchange], context);
      return answer(exchange, scope);
    },

    async batchExchangeKeys({ requests }, context) {
      checkExchanges(requests);
      const parts = requests.map(readPart);
      const exchanges = parts.flatMap(({ exchange }) => exchange ?? []);
      const scopes = exchanges.length > 0 ? await findScopes(exchanges, context) : [];
      const scopeOf = new Map(exchanges.map((exchange, index) => [exchange, scopes[index]]));
      const outcomes = parts.map(({ exchange, refusal }, index) => {
        try {
          if (!exchange) throw refusal;
          return { outcome: { case: "response" as const, value: answer(exchange, scopeOf.get(exchange)) } };
        } catch (error) {
          return { outcome: { case: "error" as const, value: context.partFailed(error, index) } };
        }
      });
      return { outcomes };
    },

    async getKeySet() {
      return { jwksJson, currentTime: timestampNow() };
    },
  };
}

/** What is asked for, or why it is no exchange at all. */
function readPart(request: ExchangeKeyRequest): { readonly exchange?: KeyExchange; readonly refusal?: unknown } {
  try {
    return { exchange: fromExchangeKeyRequest(request) };
  } catch (refusal) {
    return { refusal };
  }
}
