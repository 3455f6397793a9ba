import { createHash, randomBytes } from "node:crypto";
import { keyFromBytes } from "../../platform/auth/key-format.ts";
import type { KeyKind, Permission, Principal } from "../../platform/auth/principal.ts";
import { newId } from "../../platform/domain/ids.ts";
import { keyInvalid, workspaceNotFound } from "./errors.ts";

export const keyKinds: readonly KeyKind[] = ["api", "management"];
export const permissions: readonly Permission[] = ["presets:read", "presets:write"];

/** A key as it is stored. The secret is not: only its hash is, and no answer needs that. */
export interface Key {
  readonly id: string;
  readonly name: string;
  readonly kind: KeyKind;
  /** Empty for a management key, which has all. */
  readonly permissions: readonly Permission[];
  readonly organizationId: string;
  /** Undefined for a management key, which reaches every workspace of its organization. */
  readonly workspaceId: string | undefined;
  readonly creatorUserId: string;
  readonly disabled: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date | undefined;
  readonly revokedAt: Date | undefined;
  readonly lastUsedAt: Date | undefined;
  /** Undefined where the key has none of its own. */
  readonly rateLimit: KeyRateLimit | undefined;
}

/** How often a key may be used, at each gateway. */
export interface KeyRateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** A key and what of its organization and workspace is still there. */
export interface KeyScope {
  readonly key: Key;
  /** Undefined where the organization is gone. */
  readonly organizationId: string | undefined;
  /** The key's own workspace, else the requested one, else the default one. Undefined where that is gone or foreign. */
  readonly workspaceId: string | undefined;
}

type KeyStatus = "active" | "disabled" | "revoked" | "expired";

/** A key to be stored, and its secret, which is shown once and then lost. */
export interface NewKey {
  readonly key: Key;
  readonly keyHash: Buffer;
  readonly secret: string;
}

type KeyOwner = Pick<Key, "name" | "organizationId" | "creatorUserId" | "expiresAt"> & Partial<Pick<Key, "rateLimit">>;

export function newApiKey(
  owner: KeyOwner,
  scope: { readonly workspaceId: string; readonly permissions: readonly Permission[] },
): NewKey {
  return newKey({ ...owner, ...scope, kind: "api" });
}

export function newManagementKey(owner: KeyOwner): NewKey {
  return newKey({ ...owner, kind: "management", permissions: [], workspaceId: undefined });
}

function newKey(parts: KeyOwner & Pick<Key, "kind" | "permissions" | "workspaceId">): NewKey {
  const secret = keyFromBytes(randomBytes(32));
  const { rateLimit } = parts;
  const fresh = { disabled: false, createdAt: new Date(), revokedAt: undefined, lastUsedAt: undefined };
  return { key: { id: newId(), ...parts, ...fresh, rateLimit }, keyHash: hashKey(secret), secret };
}

export function hashKey(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

export function keyStatus(key: Pick<Key, "disabled" | "expiresAt" | "revokedAt">, now: Date): KeyStatus {
  if (key.revokedAt) return "revoked";
  // Access tokens end on whole seconds, so a key must have one left to be worth a token.
  if (key.expiresAt && wholeSeconds(key.expiresAt) <= wholeSeconds(now)) return "expired";
  return key.disabled ? "disabled" : "active";
}

/** Whom a key speaks for. A requested workspace must be one that it reaches; without one, gone is simply gone. */
export function getPrincipal(
  scope: KeyScope | undefined,
  requestedWorkspaceId: string | undefined,
  now: Date,
): Principal {
  if (!scope || keyStatus(scope.key, now) !== "active") throw keyInvalid();
  const { key, organizationId, workspaceId } = scope;
  if (requestedWorkspaceId !== undefined && requestedWorkspaceId !== workspaceId) throw workspaceNotFound();
  return {
    keyId: key.id,
    keyKind: key.kind,
    userId: key.creatorUserId,
    organizationId,
    workspaceId,
    permissions: key.kind === "management" ? permissions : key.permissions,
  };
}

export function wholeSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
