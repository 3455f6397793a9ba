import { KeyKind } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import type { Session } from "../../proto/gen/setpoint/organization/v1/session_pb.ts";
import { bodyReader } from "../json/body-reader.ts";
import { Type } from "../json/schema-builder.ts";
import { isoTime } from "../json/time.ts";

const readBody = bodyReader(
  Type.Object(
    { key: Type.Optional(Type.String()), ticket: Type.Optional(Type.String()) },
    { additionalProperties: false },
  ),
  ({ key, ticket }) =>
    (key === undefined) === (ticket === undefined) ? [{ path: "", message: "must have a key or a ticket" }] : [],
);

/**
 * The credentials in the body of POST /console/session. A key is often pasted with a space or a line break beside it.
 */
export function signInFrom(body: string | undefined) {
  const { key, ticket } = readBody(body);
  return key === undefined
    ? ({ case: "ticket", value: ticket ?? "" } as const)
    : ({ case: "key", value: key.trim() } as const);
}

/** Who is signed in, as the console shows it. */
export function sessionJson(session: Session | undefined): string {
  if (!session?.principal) throw new Error("The organization service answered without a session or principal");
  const { principal } = session;
  return JSON.stringify({
    user_id: principal.userId,
    name: [session.firstName, session.lastName].filter(Boolean).join(" ") || null,
    email: session.email ?? null,
    organization: { id: principal.organizationId, name: session.organizationName },
    key: {
      id: principal.keyId,
      name: session.keyName,
      label: session.keyLabel,
      kind: principal.keyKind === KeyKind.MANAGEMENT ? "management" : "api",
      permissions: principal.permissions,
    },
    workspace_id: principal.workspaceId || null,
    workspaces: session.workspaces.map(({ id, slug, name }) => ({ id, slug, name })),
    expires_at: isoTime(session.expireTime),
  });
}
