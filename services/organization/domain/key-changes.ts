import { createHash } from "node:crypto";
import { type KeyKind, knownPermissions, type Permission } from "../../platform/auth/principal.ts";
import { type FieldViolation, invalidRequest } from "../../platform/domain/domain-error.ts";
import { graceSecondsMax } from "../../platform/domain/limits.ts";
import { requestIdViolations } from "../../platform/domain/text-violations.ts";
import { lastManagementKey } from "./errors.ts";
import { futureViolations, nameViolations } from "./field-rules.ts";
import { type Key, type KeyRateLimit, keyStatus, type NewSecret, permissionsOf, workingKeys } from "./keys.ts";

/** A key that a caller wants. */
export interface KeyCreation {
  readonly name: string;
  readonly kind: KeyKind;
  /** Id or slug; empty: the default workspace. */
  readonly workspace: string;
  /** Empty: the caller. */
  readonly creatorUserId: string;
  readonly expiresAt: Date | undefined;
  /** Empty: all that the kind may have. */
  readonly permissions: readonly string[];
  /** Absent: none of its own. */
  readonly rateLimit?: KeyRateLimit | undefined;
  /** Empty: a retry creates another key. */
  readonly requestId: string;
  readonly secretSeed?: SecretSeed;
}

/** The seed of the secret, so that whoever has it gets the same answer to a retry. Absent or empty: none. */
type SecretSeed = Uint8Array | undefined;

/** The changes that a caller wants to make to a key. A field that is absent stays as it is. */
export interface KeyUpdate {
  readonly name?: string;
  readonly disabled?: boolean;
  /** Null removes it. */
  readonly expiresAt?: Date | null;
  readonly permissions?: readonly string[];
}

export interface KeyRotation {
  /** Hash or id. */
  readonly key: string;
  readonly graceSeconds: number;
  readonly requestId: string;
  readonly secretSeed?: SecretSeed;
}

const seedBytes = 32;
/** Fewer than this many different bytes among 32 random ones occur less than once in 10^12 times. */
const seedBytesDifferentMin = 16;

/**
 * Throws if the creation breaks a rule that can be checked without the organization; all violations at once. An expiry
 * that is over is named among others, but does not throw alone: see `checkExpiry`.
 */
export function checkKeyCreation(creation: KeyCreation, now: Date): void {
  const expired = expiryViolations(creation.expiresAt, now);
  const violations = [
    ...nameViolations("name", creation.name),
    ...requestIdViolations(creation.requestId),
    ...seedViolations(creation),
    ...expired,
  ];
  if (creation.permissions.length > 0) violations.push(...permissionViolations(creation.permissions, creation.kind));
  if (creation.kind === "management" && creation.workspace !== "") {
    violations.push({
      path: "workspace_id",
      message: "must be left out for a management key, which can use every workspace",
    });
  }
  if (violations.length > expired.length) throw invalidRequest(violations);
}

/** Like `checkKeyCreation`. */
export function checkKeyUpdate(update: KeyUpdate, now: Date): void {
  const expired = expiryViolations(update.expiresAt, now);
  const violations: FieldViolation[] = [];
  if (update.name !== undefined) violations.push(...nameViolations("name", update.name));
  violations.push(...expired);
  if (update.permissions) violations.push(...permissionViolations(update.permissions, "api"));
  if (violations.length > expired.length) throw invalidRequest(violations);
}

/**
 * Throws if the time is over. Only for a request that was not executed before: a retry gets its first answer also when
 * the time that it names is over by then.
 */
export function checkExpiry(expiresAt: Date | null | undefined, now: Date): void {
  const violations = expiryViolations(expiresAt, now);
  if (violations.length > 0) throw invalidRequest(violations);
}

function expiryViolations(expiresAt: Date | null | undefined, now: Date): FieldViolation[] {
  return expiresAt ? futureViolations("expire_time", expiresAt, now) : [];
}

export function checkKeyRotation(rotation: KeyRotation): void {
  const { graceSeconds, requestId } = rotation;
  const violations = [...requestIdViolations(requestId), ...seedViolations(rotation)];
  if (graceSeconds < 0 || graceSeconds > graceSecondsMax) {
    violations.push({ path: "grace_seconds", message: `must be 0 to ${graceSecondsMax}` });
  }
  if (violations.length > 0) throw invalidRequest(violations);
}

function seedViolations({ secretSeed, requestId }: Pick<KeyRotation, "secretSeed" | "requestId">): FieldViolation[] {
  if (!secretSeed || secretSeed.length === 0) return [];
  const path = "secret_seed";
  if (requestId === "") return [{ path, message: "must be left out if there is no request_id" }];
  const isRandom = secretSeed.length === seedBytes && new Set(secretSeed).size >= seedBytesDifferentMin;
  return isRandom ? [] : [{ path, message: `must be ${seedBytes} random bytes` }];
}

function permissionViolations(given: readonly string[], kind: KeyKind): FieldViolation[] {
  if (given.length === 0) return [{ path: "permissions", message: "must have at least 1 element" }];
  const known = given.flatMap((permission, index): FieldViolation[] =>
    knownPermissions.some((each) => each === permission)
      ? []
      : [{ path: `permissions[${index}]`, message: `must be one of ${knownPermissions.join(", ")}` }],
  );
  if (known.length > 0 || kind === "api") return known;
  const whole = permissionsOf({ kind, permissions: [] });
  if (whole.length === new Set(given).size && whole.every((each) => given.includes(each))) return [];
  return [{ path: "permissions", message: `must be ${whole.join(", ")} for a management key, or be left out` }];
}

/** The given permissions, each once and in the order of the contract. None given: all. */
export function orderedPermissions(given: readonly string[]): readonly Permission[] {
  return given.length === 0 ? knownPermissions : knownPermissions.filter((each) => given.includes(each));
}

/** The key after the update; the same object if every field already had its value. */
export function updatedKey(key: Key, update: KeyUpdate, now: Date): Key {
  if (update.permissions && key.kind === "management") {
    throw invalidRequest([
      { path: "permissions", message: "cannot be changed for a management key, which has those of its kind" },
    ]);
  }
  const { name = key.name, disabled = key.disabled } = update;
  const expiresAt = update.expiresAt === undefined ? key.expiresAt : (update.expiresAt ?? undefined);
  const allowed = update.permissions ? orderedPermissions(update.permissions) : key.permissions;
  const isSame =
    name === key.name &&
    disabled === key.disabled &&
    expiresAt?.getTime() === key.expiresAt?.getTime() &&
    allowed.join() === key.permissions.join();
  return isSame ? key : { ...key, name, disabled, expiresAt, permissions: allowed, updatedAt: now };
}

/** Whether a change makes a key work that did not. */
export function startsToWork(before: Key, after: Key, now: Date): boolean {
  return keyStatus(before, now) !== "active" && keyStatus(after, now) === "active";
}

export function rotatedKey(key: Key, { hash, label }: NewSecret, graceSeconds: number, now: Date): Key {
  const graceEnd = new Date(now.getTime() + graceSeconds * 1000);
  return { ...key, hash, label, previousExpiresAt: graceSeconds > 0 ? graceEnd : undefined, updatedAt: now };
}

/**
 * Throws if the change would leave the organization without a working management key, now or earlier than without the
 * change: a key that expires soon is no replacement for one that never does.
 */
export function checkManagementRemains(
  managementKeys: readonly Key[],
  changed: readonly Key[],
  now: Date,
  refusal = lastManagementKey,
): void {
  const after = managementKeys.map((key) => changed.find(({ id }) => id === key.id) ?? key);
  if (lastsUntil(after, now) < lastsUntil(managementKeys, now)) throw refusal();
}

function lastsUntil(keys: readonly Key[], now: Date): number {
  return Math.max(
    Number.NEGATIVE_INFINITY,
    ...workingKeys(keys, now).map(({ expiresAt }) => expiresAt?.getTime() ?? Number.POSITIVE_INFINITY),
  );
}

/** What a retry with the same request id must repeat, in a fixed order. */
export function creationDigest({
  name,
  kind,
  workspace,
  creatorUserId,
  expiresAt,
  permissions,
  rateLimit,
}: KeyCreation): Buffer {
  const asked = { name, kind, workspace, creatorUserId, expiresAt, permissions, rateLimit };
  const all: Record<keyof Omit<KeyCreation, "requestId" | "secretSeed">, unknown> = asked;
  return digestOf(["create", all]);
}

export function rotationDigest({ key, graceSeconds }: KeyRotation): Buffer {
  const asked = { key, graceSeconds };
  const all: Record<keyof Omit<KeyRotation, "requestId" | "secretSeed">, unknown> = asked;
  return digestOf(["rotate", all]);
}

function digestOf(request: unknown): Buffer {
  return createHash("sha256").update(JSON.stringify(request)).digest();
}
