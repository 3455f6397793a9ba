import { DomainError } from "../domain/domain-error.ts";

export type KeyKind = "api" | "management";

/** The permissions that this release knows. */
export const knownPermissions = ["presets:read", "presets:write", "inference"] as const;
export type Permission = (typeof knownPermissions)[number];

/** Who an access token acts for, and what it may do. */
export interface Principal {
  readonly keyId: string;
  readonly keyKind: KeyKind;
  /** The creator of the key; what the key creates is theirs. */
  readonly userId: string;
  /** Undefined if the organization is gone. */
  readonly organizationId: string | undefined;
  /** Undefined if the workspace is gone. */
  readonly workspaceId: string | undefined;
  readonly permissions: readonly Permission[];
}

/** One of them is enough. */
export function requirePermission(
  principal: { readonly permissions: readonly string[] },
  ...oneOf: readonly [Permission, ...Permission[]]
): void {
  if (oneOf.some((permission) => principal.permissions.includes(permission))) return;
  throw new DomainError("permission_denied", {
    reason: "PERMISSION_MISSING",
    message: `This key does not have the permission ${oneOf.join(" or ")}. Use a key that has it.`,
  });
}

/** Without its kind, because the gateway's callers get another one. */
export const managementKeyRefusal = {
  reason: "MANAGEMENT_KEY_REQUIRED",
  message: "This operation needs a management key; an API key cannot do it.",
};

export function requireManagementKey(principal: Principal): void {
  if (principal.keyKind === "management") return;
  throw new DomainError("permission_denied", managementKeyRefusal);
}

/** The workspace that the principal acts in. */
export function requireWorkspace(principal: Pick<Principal, "workspaceId">): string {
  if (principal.workspaceId !== undefined) return principal.workspaceId;
  throw new DomainError("not_found", {
    reason: "WORKSPACE_NOT_FOUND",
    message: "The workspace of this key no longer exists. Use a key of another workspace.",
  });
}

export function requireOrganization(principal: Principal): string {
  if (principal.organizationId !== undefined) return principal.organizationId;
  throw organizationNotFound();
}

/** Deleted before or after the key was exchanged. */
export function organizationNotFound(): DomainError {
  return new DomainError("not_found", {
    reason: "ORGANIZATION_NOT_FOUND",
    message: "The organization of this key no longer exists. Use a key of another organization.",
  });
}
