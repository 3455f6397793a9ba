import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { AccessService } from "../../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import type { OpenContext } from "../../platform/rpc/call-context.ts";
import type { Implementation } from "../../platform/rpc/service.ts";
import { type AccessToken, mintAccessToken, mintAccessTokens, tokenContent } from "../domain/access-token.ts";
import { workspaceNeverExisted } from "../domain/errors.ts";
import { checkExchanges } from "../domain/exchanges.ts";
import { getPrincipal, type KeyScope, scopeExpiresAt } from "../domain/keys.ts";
import { getSessionPrincipal } from "../domain/sessions.ts";
import type { SigningKeys } from "../domain/signing-keys.ts";
import { findKeyScopes, type PresentedKey } from "../store/key-scopes.ts";
import type { LastUseRecorder } from "../store/last-use-recorder.ts";
import { findWorkspaceState } from "../store/workspaces.ts";
import { fromExchangeKeyRequest, fromWorkspaceId, toExchangeKeyResponse } from "./access-mapper.ts";

interface Parts {
  readonly pool: Pool;
  readonly keyUse: LastUseRecorder;
  readonly sessionUse: LastUseRecorder;
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

  const findScopes = (presented: readonly PresentedKey[], context: OpenContext) =>
    retryTransient(context.deadlineMs, () => findKeyScopes(pool.within(context), presented));

  /** The grant of a key; throws if it is not valid. */
  const grant = ({ hash, isSession, workspaceId }: PresentedKey, scope: KeyScope | undefined) => {
    const now = new Date();
    const principal = (isSession ? getSessionPrincipal : getPrincipal)(scope, workspaceId, now);
    const content = tokenContent(principal, { now, ttlSeconds, keyExpiresAt: scope && scopeExpiresAt(scope) });
    keyUse.record(principal.keyId, now);
    if (isSession) sessionUse.record(hash.toString("hex"), now);
    return { content, principal, rateLimit: scope?.key.rateLimit };
  };

  return {
    async exchangeKey(request, context) {
      const presented = fromExchangeKeyRequest(request);
      const scopes = await findScopes([presented], context);
      const { content, principal, rateLimit } = grant(presented, scopes.get(presented));
      return toExchangeKeyResponse(mintAccessToken(content, signingKey), principal, rateLimit);
    },

    async batchExchangeKeys({ requests }, context) {
      checkExchanges(requests);
      const presented = requests.map((request) => attempt(() => fromExchangeKeyRequest(request)));
      const scopes = await findScopes(successesOf(presented), context);
      const grants = presented.map((each) =>
        "error" in each ? each : attempt(() => grant(each.value, scopes.get(each.value))),
      );
      const contents = successesOf(grants).map(({ content }) => content);
      const tokens = mintAccessTokens(contents, signingKey);
      const outcomes = grants.map((each, index) => {
        if ("error" in each)
          return { outcome: { case: "error" as const, value: context.partFailed(each.error, index) } };
        const { content, principal, rateLimit } = each.value;
        const value = toExchangeKeyResponse(tokens.get(content) as AccessToken, principal, rateLimit);
        return { outcome: { case: "response" as const, value } };
      });
      return { outcomes };
    },

    async getKeySet() {
      return { jwksJson, currentTime: timestampNow() };
    },

    async getWorkspaceState({ workspaceId }, context) {
      const id = fromWorkspaceId(workspaceId);
      const state = await retryTransient(context.deadlineMs, () => findWorkspaceState(pool.within(context), id));
      if (!state) throw workspaceNeverExisted();
      return state;
    },
  };
}

/** The intermediate result of one part of a batch: its failure affects no other. */
type Attempt<T> = { readonly value: T } | { readonly error: unknown };

function attempt<T>(work: () => T): Attempt<T> {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

function successesOf<T>(attempts: readonly Attempt<T>[]): T[] {
  return attempts.flatMap((each) => ("error" in each ? [] : [each.value]));
}
