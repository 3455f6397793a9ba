import { timestampNow } from "@bufbuild/protobuf/wkt";
import type {
  AccessService,
  ExchangeKeyRequest,
} from "../../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import type { OpenContext } from "../../platform/rpc/call-context.ts";
import type { Implementation } from "../../platform/rpc/service.ts";
import { mintAccessTokens, tokenContent } from "../domain/access-token.ts";
import { checkExchanges } from "../domain/exchanges.ts";
import { getPrincipal, type KeyScope, scopeExpiresAt } from "../domain/keys.ts";
import { getSessionPrincipal } from "../domain/sessions.ts";
import type { SigningKeys } from "../domain/signing-keys.ts";
import { findKeyScopes } from "../store/key-scopes.ts";
import type { UseRecorder } from "../store/use-recorder.ts";
import { fromExchangeKeyRequest, type KeyExchange, toExchangeKeyResponse } from "./access-mapper.ts";

interface Parts {
  readonly pool: Pool;
  readonly keyUse: UseRecorder;
  readonly sessionUse: UseRecorder;
  readonly signingKeys: SigningKeys;
  readonly ttlSeconds: number;
}

export function accessService({
  pool,
  keyUse,
  sessionUse,
  signingKeys,
  ttlSeconds,
}: Parts): Implementation<typeof AccessService, OpenContext> {
  const [signingKey] = signingKeys;
  const jwksJson = JSON.stringify({ keys: signingKeys.map(({ jwk }) => jwk) });

  const findScopes = (exchanges: readonly KeyExchange[], { deadlineMs, trace }: OpenContext) =>
    retryTransient(deadlineMs, () => findKeyScopes(pool.within(trace), exchanges));

  /** What the key is good for, or throws why it is not. */
  const grant = ({ hash, isSession, workspaceId }: KeyExchange, scope: KeyScope | undefined) => {
    const now = new Date();
    const principal = (isSession ? getSessionPrincipal : getPrincipal)(scope, workspaceId, now);
    const content = tokenContent(principal, { now, ttlSeconds, keyExpiresAt: scope && scopeExpiresAt(scope) });
    keyUse.record(principal.keyId, now);
    if (isSession) sessionUse.record(hash.toString("hex"), now);
    return { content, principal, rateLimit: scope?.key.rateLimit };
  };

  const answerAll = (grants: readonly ReturnType<typeof grant>[]) => {
    const contents = grants.map(({ content }) => content);
    const tokens = mintAccessTokens(contents, signingKey);
    return tokens.map((token, index) => {
      const { principal, rateLimit } = grants[index] as (typeof grants)[number];
      return toExchangeKeyResponse(token, principal, rateLimit);
    });
  };

  return {
    async exchangeKey(request, context) {
      const exchange = fromExchangeKeyRequest(request);
      const [scope] = await findScopes([exchange], context);
      return answerAll([grant(exchange, scope)])[0] as Answer;
    },

    async batchExchangeKeys({ requests }, context) {
      checkExchanges(requests);
      const parts = requests.map(readPart);
      const exchanges = parts.flatMap(({ exchange }) => exchange ?? []);
      const scopes = exchanges.length > 0 ? await findScopes(exchanges, context) : [];
      const scopeOf = new Map(exchanges.map((exchange, index) => [exchange, scopes[index]]));
      const granted: ReturnType<typeof grant>[] = [];
      const results = parts.map(({ exchange, refusal }, index) => {
        try {
          if (!exchange) throw refusal;
          return { place: granted.push(grant(exchange, scopeOf.get(exchange))) - 1 };
        } catch (error) {
          return { outcome: { case: "error" as const, value: context.partFailed(error, index) } };
        }
      });
      const answers = answerAll(granted);
      const outcomes = results.map((result) =>
        "outcome" in result
          ? result
          : { outcome: { case: "response" as const, value: answers[result.place] as Answer } },
      );
      return { outcomes };
    },

    async getKeySet() {
      return { jwksJson, currentTime: timestampNow() };
    },
  };
}

type Answer = ReturnType<typeof toExchangeKeyResponse>;

/** What is asked for, or why it is no exchange at all. */
function readPart(request: ExchangeKeyRequest): { readonly exchange?: KeyExchange; readonly refusal?: unknown } {
  try {
    return { exchange: fromExchangeKeyRequest(request) };
  } catch (refusal) {
    return { refusal };
  }
}
