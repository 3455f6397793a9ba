import { DomainError } from "../../platform/domain/domain-error.ts";

/** The same error whatever is wrong with a key, so that it reveals nothing about existing keys. */
export function keyInvalid(): DomainError {
  return new DomainError("unauthenticated", {
    reason: "KEY_INVALID",
    message: "This key is not valid. Check the key or create a new one.",
  });
}

/** The same whether a session has ended or never existed. */
export function sessionInvalid(): DomainError {
  return new DomainError("unauthenticated", {
    reason: "SESSION_INVALID",
    message: "This session has ended. Sign in again.",
  });
}

/** The same whether a ticket was used, is too old, or never existed. */
export function ticketInvalid(): DomainError {
  return new DomainError("unauthenticated", {
    reason: "TICKET_INVALID",
    message:
      "This link no longer works: it signs in once, within five minutes. Create a new one, or sign in with a key.",
  });
}

export function workspaceNotFound(): DomainError {
  return new DomainError("not_found", {
    reason: "WORKSPACE_NOT_FOUND",
    message:
      "This key has no access to a workspace with this id. Check the id, or leave it out to use the key's own workspace.",
  });
}

export function workspaceNeverExisted(): DomainError {
  return new DomainError("not_found", {
    reason: "WORKSPACE_NOT_FOUND",
    message: "No organization has, or had, a workspace with this id. Check the id.",
  });
}

/** The same for a key that was deleted, never existed or belongs to another organization. */
export function keyNotFound(): DomainError {
  return new DomainError("not_found", {
    reason: "KEY_NOT_FOUND",
    message: "There is no such key in this organization. List the keys to see which there are.",
  });
}

/** The same for a workspace that was deleted, never existed or belongs to another organization. */
export function workspaceNotInOrganization(): DomainError {
  return new DomainError("not_found", {
    reason: "WORKSPACE_NOT_FOUND",
    message: "There is no such workspace in this organization. List the workspaces to see which there are.",
  });
}

/** The same for a user who never existed, and one of other organizations. */
export function memberNotFound(): DomainError {
  return new DomainError("not_found", {
    reason: "MEMBER_NOT_FOUND",
    message: "There is no such member in this organization. List the members to see who they are.",
  });
}

export function lastManagementKey(): DomainError {
  return new DomainError("failed_precondition", {
    reason: "LAST_MANAGEMENT_KEY",
    message:
      "This is the organization's last working management key, or the one that expires last. First create another one that lasts as long.",
  });
}

/** For the removal of a member with all keys: another key of the same member would go with them. */
export function lastManagementKeyOfMember(): DomainError {
  return new DomainError("failed_precondition", {
    reason: "LAST_MANAGEMENT_KEY",
    message:
      "This member owns the organization's last working management key, or the one that expires last. First create one for another member (creator_user_id) that lasts as long.",
  });
}

export function keyOwnerNotMember(): DomainError {
  return new DomainError("failed_precondition", {
    reason: "KEY_OF_NO_MEMBER",
    message: "The member who owns this key has left the organization. Create another key for a current member.",
  });
}

export function keyWorkspaceDeleted(): DomainError {
  return new DomainError("failed_precondition", {
    reason: "KEY_OF_NO_WORKSPACE",
    message: "The workspace of this key was deleted. Create another key for a workspace that exists.",
  });
}

export function lastAdmin(): DomainError {
  return new DomainError("failed_precondition", {
    reason: "LAST_ADMIN",
    message: "This member is the last admin of the organization. Make someone else an admin first.",
  });
}

/** After a rotation with a grace period, the secret that is in use would not survive another rotation. */
export function keyAlreadyCreated(hash: string, hasGrace: boolean): DomainError {
  const help = hasGrace
    ? "Use the secret that was shown. If it is lost, do not rotate the key again, which would end the secret that is in use: create another key, and delete this one."
    : "Use the secret that was shown, or rotate the key with a new idempotency key.";
  return new DomainError("already_exists", {
    reason: "KEY_ALREADY_MADE",
    message: `This request has already made the key with the hash ${hash}, and a secret is shown only once. ${help}`,
    metadata: { hash },
  });
}

export function slugTaken(slug: string): DomainError {
  return new DomainError("already_exists", {
    reason: "SLUG_TAKEN",
    message: `Another workspace of the organization has the slug ${slug}. Choose another one.`,
    violations: [{ path: "slug", message: "is taken by another workspace of the organization" }],
  });
}

export function workspaceIsDefault(message: string): DomainError {
  return new DomainError("failed_precondition", {
    reason: "WORKSPACE_IS_DEFAULT",
    message,
    violations: [{ path: "workspace", message: "must not be the default one" }],
  });
}

export function workspaceHasKeys(keys: readonly NamedKey[]): DomainError {
  return new DomainError("failed_precondition", {
    reason: "WORKSPACE_HAS_KEYS",
    message: `Keys of this workspace still work: ${namesOf(keys)}. Disable or delete them first.`,
    violations: [{ path: "workspace", message: "must have no keys that still work" }],
  });
}

export function memberHasKeys(keys: readonly NamedKey[]): DomainError {
  return new DomainError("failed_precondition", {
    reason: "MEMBER_HAS_KEYS",
    message: `Keys of this member still work: ${namesOf(keys)}. Disable or delete them first, or have them disabled with it (disable_keys).`,
  });
}

/**
 * Not `memberHasKeys`: only the keys of one workspace count, and only leaving it is refused. Names each user who has
 * such a key.
 */
export function workspaceMemberHasKeys(
  userIds: readonly string[],
  keys: readonly (NamedKey & { readonly creatorUserId: string })[],
): DomainError {
  const violations = userIds.flatMap((userId, index) =>
    keys.some(({ creatorUserId }) => creatorUserId === userId)
      ? [{ path: `user_ids[${index}]`, message: "must be nobody whose keys of the workspace still work" }]
      : [],
  );
  const whose = violations.length > 1 ? "these members" : "this member";
  return new DomainError("failed_precondition", {
    reason: "WORKSPACE_MEMBER_HAS_KEYS",
    message: `Keys of ${whose} still work: ${namesOf(keys)}. Disable or delete them first.`,
    violations,
  });
}

export function memberExists(email: string): DomainError {
  return new DomainError("already_exists", {
    reason: "MEMBER_EXISTS",
    message: `${email} is a member of this organization already. Change the member instead.`,
  });
}

interface NamedKey {
  readonly id: string;
  readonly name: string;
}

const namedMax = 5;
const nameShownMax = 40;

/** Some keys by name and id. Error messages are sent in a header, so not all, and long names are truncated. */
function namesOf(keys: readonly NamedKey[]): string {
  const shown = keys.slice(0, namedMax).map(({ id, name }) => {
    const letters = [...name];
    return `"${letters.length > nameShownMax ? `${letters.slice(0, nameShownMax).join("")}…` : name}" (${id})`;
  });
  return keys.length > namedMax ? `${shown.join(", ")} and ${keys.length - namedMax} more` : shown.join(", ");
}
