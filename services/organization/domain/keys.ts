import { createHash, createHmac, randomBytes } from "node:crypto";
import { keyFromBytes } from "../../platform/auth/key-format.ts";
import { type KeyKind, knownPermissions, type Permission, type Principal } from "../../platform/auth/principal.ts";
import { isId, newId } from "../../platform/domain/ids.ts";
import type { LoggedFields } from "./changes.ts";
import { keyInvalid, workspaceNotFound } from "./errors.ts";
import { type SessionTimes, sessionEnd } from "./session-times.ts";

export const keyKinds: readonly KeyKind[] = ["api", "management"];
const managementPermissions = knownPermissions.filter((permission) => permission !== "inference");

/** A key as it is stored. The secret is not: only its hash is. */
export interface Key {
  readonly id: string;
  /** SHA-256 of the secret, in hexadecimal digits. */
  readonly hash: string;
  /** The truncated secret. */
  readonly label: string;
  readonly name: string;
  readonly kind: KeyKind;
  /** Empty for a management key, which has all of its kind. */
  readonly permissions: readonly Permission[];
  readonly organizationId: string;
  /** Undefined for a management key, which can use every workspace of its organization. */
  readonly workspaceId: string | undefined;
  readonly creatorUserId: string;
  readonly disabled: boolean;
  readonly createdAt: Date;
  /** Undefined until the first change. */
  readonly updatedAt: Date | undefined;
  readonly expiresAt: Date | undefined;
  /** Until when the secret before the last rotation works. */
  readonly previousExpiresAt: Date | undefined;
  readonly revokedAt: Date | undefined;
  readonly lastUsedAt: Date | undefined;
  /** Undefined if the key has none of its own. */
  readonly rateLimit: KeyRateLimit | undefined;
}

/** How often a key may be used, at each gateway. */
export interface KeyRateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** A key, and its organization and workspace as far as they still exist. */
export interface KeyScope {
  readonly key: Key;
  /** Undefined if the organization is gone. */
  readonly organizationId: string | undefined;
  /**
   * The key's own workspace, else the requested one, else the default one. Undefined if it was deleted or belongs to
   * another organization.
   */
  readonly workspaceId: string | undefined;
  /** When the presented secret stops working although the key does not: it was rotated, and is in its grace period. */
  readonly secretExpiresAt: Date | undefined;
  /** The session through which the key is used; undefined if its secret itself was presented. */
  readonly session?: SessionTimes | undefined;
}

type KeyStatus = "active" | "disabled" | "revoked" | "expired";

/** A new secret, and what is stored of it. */
export interface NewSecret {
  readonly secret: string;
  readonly hash: string;
  readonly label: string;
}

/** A key to be stored, and its secret, which is shown once and then lost. */
export interface NewKey {
  readonly key: Key;
  readonly secret: string;
}

type KeyOwner = Pick<Key, "name" | "organizationId" | "creatorUserId" | "expiresAt"> &
  Partial<Pick<Key, "rateLimit">> & {
    /** Default: a random one. */
    readonly newSecret?: NewSecret;
  };

export function newApiKey(
  owner: KeyOwner,
  scope: { readonly workspaceId: string; readonly permissions: readonly Permission[] },
): NewKey {
  return newKey({ ...owner, ...scope, kind: "api" });
}

export function newManagementKey(owner: KeyOwner): NewKey {
  return newKey({ ...owner, kind: "management", permissions: [], workspaceId: undefined });
}

function newKey({
  newSecret: { secret, hash, label } = newSecret(),
  ...parts
}: KeyOwner & Pick<Key, "kind" | "permissions" | "workspaceId">): NewKey {
  const { rateLimit } = parts;
  const never = { updatedAt: undefined, revokedAt: undefined, lastUsedAt: undefined, previousExpiresAt: undefined };
  const fresh = { disabled: false, createdAt: new Date(), ...never };
  return { key: { id: newId(), hash, label, ...parts, ...fresh, rateLimit }, secret };
}

/**
 * The secret that a request with this seed creates, whenever it is executed. Nobody can choose a seed to get a given
 * secret.
 */
export function seededSecret(seed: Uint8Array, organizationId: string, requestId: string): NewSecret {
  return newSecret(createHmac("sha256", seed).update(`setpoint key\n${organizationId}\n${requestId}`).digest());
}

export function newSecret(bytes = randomBytes(32)): NewSecret {
  const secret = keyFromBytes(bytes);
  return { secret, hash: hashKey(secret).toString("hex"), label: `${secret.slice(0, 12)}…${secret.slice(-3)}` };
}

export function hashKey(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

const hashPattern = /^[0-9a-f]{64}$/i;

/** Whether a text can be the hash or id of a key. */
export function isKeyName(text: string): boolean {
  return isId(text) || hashPattern.test(text);
}

export function permissionsOf(key: Pick<Key, "kind" | "permissions">): readonly Permission[] {
  return key.kind === "management" ? managementPermissions : key.permissions;
}

/** What the change log shows of a key. */
export function loggedKey(key: Key): LoggedFields {
  return {
    name: key.name,
    kind: key.kind,
    permissions: permissionsOf(key),
    workspace_id: key.workspaceId ?? null,
    creator_user_id: key.creatorUserId,
    disabled: key.disabled,
    expires_at: key.expiresAt?.toISOString() ?? null,
    rate_limit: key.rateLimit?.perSecond ?? null,
    rate_burst: key.rateLimit?.burst ?? null,
    label: key.label,
    previous_expires_at: key.previousExpiresAt?.toISOString() ?? null,
  };
}

export function keyStatus(key: Pick<Key, "disabled" | "expiresAt" | "revokedAt">, now: Date): KeyStatus {
  if (key.revokedAt) return "revoked";
  if (key.expiresAt && key.expiresAt <= now) return "expired";
  return key.disabled ? "disabled" : "active";
}

/** Which keys of a list work now. */
export function workingKeys(keys: readonly Key[], now: Date): Key[] {
  return keys.filter((key) => keyStatus(key, now) === "active");
}

/** When a presented key stops working: by its own expiry, at the end of its grace period, or with its session. */
export function scopeExpiresAt({ key, secretExpiresAt, session }: KeyScope): Date | undefined {
  const ends = [key.expiresAt, secretExpiresAt, session && sessionEnd(session)].filter((end) => end !== undefined);
  return ends.length === 0 ? undefined : new Date(Math.min(...ends.map(Number)));
}

export function isWorking(scope: KeyScope, now: Date): boolean {
  return keyStatus({ ...scope.key, expiresAt: scopeExpiresAt(scope) }, now) === "active";
}

/**
 * The principal of a key. A requested workspace must be one that it can use; without one, a deleted workspace is left
 * empty.
 */
export function getPrincipal(
  scope: KeyScope | undefined,
  requestedWorkspaceId: string | undefined,
  now: Date,
): Principal {
  if (!scope || !isWorking(scope, now)) throw keyInvalid();
  const { key, organizationId, workspaceId } = scope;
  if (requestedWorkspaceId !== undefined && requestedWorkspaceId !== workspaceId) throw workspaceNotFound();
  return {
    keyId: key.id,
    keyKind: key.kind,
    userId: key.creatorUserId,
    organizationId,
    workspaceId,
    permissions: permissionsOf(key),
  };
}
