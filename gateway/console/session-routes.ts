import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Session } from "../../proto/gen/setpoint/organization/v1/session_pb.ts";
import type { Access } from "../auth/access.ts";
import type { KeyChanges } from "../auth/key-changes.ts";
import type { SessionCookie } from "../auth/session-cookie.ts";
import type { IsChanged } from "../auth/unsettled-changes.ts";
import type { Clients } from "../clients/clients.ts";
import { sendData } from "../json/send.ts";
import { sessionJson, signInFrom } from "./session-json.ts";

const url = "/console/session";
/** Many times the size of a key or a ticket. */
const bodyLimit = 1_024;

/** Who is signed in to the console: with a key, which is exchanged for a session and not needed again. */
export function sessionRoutes(
  app: FastifyInstance,
  access: Access,
  keyChanges: KeyChanges,
  { sessions }: Clients,
  cookie: SessionCookie,
): void {
  const onRequest = access.withSession();

  app.get(url, { onRequest }, async (request, reply) => {
    const token = cookie.tokenOf(request) ?? "";
    const { session } = await request.caller.call((options) => sessions.getSession({ token }, options));
    return send(reply, session);
  });

  app.post<{ Body: string | undefined }>(
    url,
    {
      bodyLimit,
      // Before the body is read. A page of another origin must not sign anybody in, not even as somebody else.
      onRequest: async (request) => cookie.requireOwnRequest(request),
    },
    async (request, reply) => {
      const credential = signInFrom(request.body);
      // An existing cookie has no effect: the token is always a new one, derived from these bytes.
      const creation = { credential, secretSeed: randomBytes(32) };
      const { token, session } = await access.withSecret(request, reply, credential, (options) =>
        sessions.createSession(creation, options),
      );
      return send(reply.status(201).header("set-cookie", cookie.setCookieHeader(request, token)), session);
    },
  );

  app.delete(url, { onRequest }, async (request, reply) => {
    const { caller } = request;
    const token = cookie.tokenOf(request) ?? "";
    // Its key stays as it is, with the other sessions.
    const isEnded: IsChanged = (_principal, secret) => secret === token;
    const change = caller.call((options) => sessions.deleteSession({ token }, options));
    await keyChanges.watch(caller.principal, change, () => isEnded, isEnded);
    return reply
      .status(204)
      .headers({ "cache-control": "no-store", "set-cookie": cookie.clearCookieHeader(request) })
      .send();
  });
}

function send(reply: FastifyReply, session: Session | undefined): FastifyReply {
  return sendData(reply.header("cache-control", "no-store"), sessionJson(session));
}
