import type { SessionService } from "../../../proto/gen/setpoint/organization/v1/session_service_pb.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import type { OpenContext } from "../../platform/rpc/call-context.ts";
import type { Implementation } from "../../platform/rpc/service.ts";
import { newSessionToken } from "../domain/sessions.ts";
import { createSession } from "../store/create-session.ts";
import { getSession } from "../store/get-session.ts";
import { deleteSession } from "../store/sessions.ts";
import { fromCreateSessionRequest, fromSessionToken, toSessionMessage } from "./session-mapper.ts";

export function sessionService(pool: Pool): Implementation<typeof SessionService, OpenContext> {
  return {
    async createSession(request, context) {
      const signIn = fromCreateSessionRequest(request);
      const token = newSessionToken(request.secretSeed);
      return { token, session: toSessionMessage(await createSession(pool, signIn, token, context)) };
    },

    async getSession(request, context) {
      const tokenHash = fromSessionToken(request);
      const session = await retryTransient(context.deadlineMs, () =>
        getSession(pool.within(context), tokenHash, new Date()),
      );
      return { session: toSessionMessage(session) };
    },

    async deleteSession(request, { deadlineMs, trace }) {
      const tokenHash = fromSessionToken(request);
      await retryTransient(deadlineMs, () => deleteSession(pool.within({ trace }), tokenHash));
      return {};
    },
  };
}
