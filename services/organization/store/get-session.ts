import type { Executor } from "../../platform/mysql/pool.ts";
import { sessionInvalid } from "../domain/errors.ts";
import { expiresAtIfUsedNow, getSessionPrincipal, type Session } from "../domain/sessions.ts";
import { findKeyScope } from "./key-scopes.ts";
import { findMember } from "./members.ts";
import { findOrganization } from "./organizations.ts";
import { findWorkspace, listWorkspaces } from "./workspaces.ts";

/** As many as a person can choose from at a glance; there is a list of all. */
const workspacesMax = 100;

/** Who is signed in; throws if the session has ended. */
export async function getSession(executor: Executor, tokenHash: Buffer, now: Date): Promise<Session> {
  const scope = await findKeyScope(executor, { hash: tokenHash, isSession: true, workspaceId: undefined });
  const principal = getSessionPrincipal(scope, undefined, now);
  const organizationId = principal.organizationId ?? "";
  const organization = await findOrganization(executor, organizationId);
  // It was deleted between the two statements.
  if (!scope || !organization) throw sessionInvalid();
  const member = await findMember(executor, organizationId, principal.userId);
  const own = scope.key.workspaceId && (await findWorkspace(executor, organizationId, scope.key.workspaceId));
  const workspaces = own ? [own] : await listWorkspaces(executor, organizationId, { offset: 0, limit: workspacesMax });
  return {
    principal: { ...principal, workspaceId: scope.key.workspaceId },
    key: scope.key,
    organization,
    member,
    workspaces,
    expiresAt: expiresAtIfUsedNow(scope, now),
  };
}
