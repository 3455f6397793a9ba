import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { SessionSchema } from "../../../proto/gen/setpoint/organization/v1/session_pb.ts";
import type { CreateSessionRequest } from "../../../proto/gen/setpoint/organization/v1/session_service_pb.ts";
import { isSecret } from "../../platform/auth/key-format.ts";
import { invalidRequest } from "../../platform/domain/domain-error.ts";
import { keyInvalid, sessionInvalid, ticketInvalid } from "../domain/errors.ts";
import { hashKey } from "../domain/keys.ts";
import type { Session } from "../domain/sessions.ts";
import type { SignIn } from "../store/create-session.ts";
import { toPrincipalMessage } from "./access-mapper.ts";

export function fromCreateSessionRequest({ credential }: CreateSessionRequest): SignIn {
  const { case: kind, value: secret } = credential;
  if (kind === undefined) throw invalidRequest([{ path: "credential", message: "must be a key or a ticket" }]);
  if (!isSecret(kind, secret)) throw kind === "ticket" ? ticketInvalid() : keyInvalid();
  return { kind, secret };
}

/** The hash by which the session of a token is found. */
export function fromSessionToken({ token }: { readonly token: string }): Buffer {
  if (!isSecret("session", token)) throw sessionInvalid();
  return hashKey(token);
}

export function toSessionMessage(session: Session): MessageInitShape<typeof SessionSchema> {
  const { principal, key, organization, member, workspaces, expiresAt } = session;
  return {
    principal: toPrincipalMessage(principal),
    keyName: key.name,
    keyLabel: key.label,
    organizationName: organization.name,
    email: member?.email,
    firstName: member?.firstName,
    lastName: member?.lastName,
    workspaces: workspaces.map(({ id, slug, name }) => ({ id, slug, name })),
    expireTime: timestampFromDate(expiresAt),
  };
}
