import { type FieldViolation, invalidRequest } from "../../platform/domain/domain-error.ts";
import type { Executor } from "../../platform/mysql/pool.ts";
import { changeOf, differencesOf } from "../domain/changes.ts";
import {
  checkExpiry,
  checkKeyCreation,
  creationDigest,
  type KeyCreation,
  orderedPermissions,
} from "../domain/key-changes.ts";
import { loggedKey, type NewKey, newApiKey, newManagementKey } from "../domain/keys.ts";
import type { Organization } from "../domain/organizations.ts";
import type { Work } from "./change-organization.ts";
import { findCreatedKey, insertKeyRequest, keyRequestOf, rethrowUnlessCreatedElsewhere } from "./key-requests.ts";
import { insertKey } from "./keys.ts";
import { findMember } from "./members.ts";
import { findWorkspace } from "./workspaces.ts";

/** Creates a key that belongs to `ownUserId` unless the creation names someone else. */
export function createKey(creation: KeyCreation, ownUserId: string): Work<NewKey> {
  checkKeyCreation(creation, new Date());
  return async (connection, organization, now) => {
    const request = keyRequestOf(organization.id, creation, creationDigest(creation));
    const repeated = await findCreatedKey(connection, request, now);
    if (repeated) return { result: repeated, changes: [] };
    checkExpiry(creation.expiresAt, now);
    const workspaceId = await getWorkspaceId(connection, organization, creation);
    const owner = {
      name: creation.name,
      organizationId: organization.id,
      creatorUserId: creation.creatorUserId || ownUserId,
      expiresAt: creation.expiresAt,
      rateLimit: creation.rateLimit,
      ...(request.seeded ? { newSecret: request.seeded } : {}),
    };
    const created =
      workspaceId === undefined
        ? newManagementKey(owner)
        : newApiKey(owner, { workspaceId, permissions: orderedPermissions(creation.permissions) });
    await insertKey(connection, created.key).catch(rethrowUnlessCreatedElsewhere(connection, request, now));
    await insertKeyRequest(connection, request, created.key.hash, now);
    const { key } = created;
    return { result: created, changes: [changeOf("key", "key_created", key, differencesOf({}, loggedKey(key)))] };
  };
}

/**
 * The workspace of the key; a management key has none. Everything in the creation that names something outside the
 * organization is refused, all at once.
 */
async function getWorkspaceId(
  executor: Executor,
  organization: Organization,
  { kind, workspace: name, creatorUserId }: KeyCreation,
): Promise<string | undefined> {
  const violations: FieldViolation[] = [];
  const workspace =
    kind === "api"
      ? await findWorkspace(executor, organization.id, name || organization.defaultWorkspaceId)
      : undefined;
  if (kind === "api" && !workspace) {
    violations.push({ path: "workspace_id", message: "must name a workspace of the organization" });
  }
  if (creatorUserId !== "" && !(await findMember(executor, organization.id, creatorUserId))) {
    violations.push({ path: "creator_user_id", message: "must be a member of the organization" });
  }
  if (violations.length > 0) throw invalidRequest(violations);
  return workspace?.id;
}
