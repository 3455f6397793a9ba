import { deadlineExceeded, isOfKind } from "../../platform/domain/domain-error.ts";
import type { Caller } from "../../platform/mysql/caller.ts";
import { isDuplicateKey, WrittenElsewhere } from "../../platform/mysql/errors.ts";
import type { Pool, PoolConnection } from "../../platform/mysql/pool.ts";
import { inTransaction, retryTransient } from "../../platform/mysql/transaction.ts";
import { hasGivenUp } from "../../platform/time/deadline.ts";
import { keyInvalid, ticketInvalid } from "../domain/errors.ts";
import { getPrincipal, hashKey } from "../domain/keys.ts";
import type { Session, SessionKey } from "../domain/sessions.ts";
import { getSession } from "./get-session.ts";
import { findKeyScope } from "./key-scopes.ts";
import { deleteOldSessions, hasSession, insertSession, takeTicket } from "./sessions.ts";

/** The credentials to sign in with. */
export interface SignIn {
  readonly kind: "key" | "ticket";
  readonly secret: string;
}

/** Begins the session of this token. If it has already begun it is found again, so that a retry is possible. */
export function createSession(pool: Pool, signIn: SignIn, token: string, caller: Caller): Promise<Session> {
  const tokenHash = hashKey(token);
  const begin = async (connection: PoolConnection, sessionKey: SessionKey, now: Date): Promise<void> => {
    await insertSession(connection, tokenHash, sessionKey, now).catch((error: unknown) => {
      throw isDuplicateKey(error) ? new WrittenElsewhere(error) : error;
    });
    await deleteOldSessions(connection, sessionKey.keyId, now);
  };
  const attempt = async (connection: PoolConnection): Promise<Session> => {
    const now = new Date();
    if (!(await hasSession(connection, tokenHash))) {
      const sessionKey = await findSessionKey(connection, signIn, now);
      if (sessionKey) await begin(connection, sessionKey, now);
      // The ticket may have been used for this very session since we looked.
      else if (!(await hasSession(connection, tokenHash))) throw ticketInvalid();
    }
    // Its key may no longer work, or have access to nothing: then nothing of this is stored.
    const session = await getSession(connection, tokenHash, now).catch((error: unknown) => {
      if (!isOfKind(error, "unauthenticated")) throw error;
      throw signIn.kind === "ticket" ? ticketInvalid() : keyInvalid();
    });
    if (hasGivenUp(caller)) throw deadlineExceeded();
    return session;
  };
  return retryTransient(caller.deadlineMs, () => inTransaction(pool, attempt, caller));
}

/** Undefined for a ticket that is not valid, or no longer. */
async function findSessionKey(
  connection: PoolConnection,
  { kind, secret }: SignIn,
  now: Date,
): Promise<SessionKey | undefined> {
  const hash = hashKey(secret);
  if (kind === "ticket") return takeTicket(connection, hash, now);
  const scope = await findKeyScope(connection, { hash, workspaceId: undefined });
  return { keyId: getPrincipal(scope, undefined, now).keyId, keyHash: hash };
}
