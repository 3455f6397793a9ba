import { createHmac, randomBytes } from "node:crypto";
import { secretFromBytes } from "../../platform/auth/key-format.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import { type FieldViolation, invalidRequest } from "../../platform/domain/domain-error.ts";
import { sessionInvalid } from "./errors.ts";
import { getPrincipal, isWorking, type Key, type KeyScope, scopeExpiresAt } from "./keys.ts";
import type { Member } from "./members.ts";
import type { Organization } from "./organizations.ts";
import type { Workspace } from "./workspaces.ts";

/** Per key; the oldest make room for new ones. */
export const keySessionsMax = 100;

/** Which key, and which secret of it, a session or a ticket stands for. */
export interface SessionKey {
  readonly keyId: string;
  readonly keyHash: Buffer;
}

/** Someone who is signed in. */
export interface Session {
  readonly principal: Principal;
  readonly key: Key;
  readonly organization: Organization;
  /** Undefined if they have left the organization. */
  readonly member: Member | undefined;
  readonly workspaces: readonly Workspace[];
  readonly expiresAt: Date;
}

const seedBytes = 32;

/** A new token; with a seed, the same one each time. */
export function newSessionToken(seed: Uint8Array): string {
  if (seed.length === 0) return secretFromBytes("session", randomBytes(32));
  const violations: FieldViolation[] = [{ path: "secret_seed", message: `must be ${seedBytes} bytes` }];
  if (seed.length !== seedBytes) throw invalidRequest(violations);
  return secretFromBytes("session", createHmac("sha256", seed).update("setpoint session").digest());
}

export function newTicket(): string {
  return secretFromBytes("ticket", randomBytes(32));
}

/** The principal of a session. Unlike a key, a session ends once there is nothing left that it can use. */
export function getSessionPrincipal(
  scope: KeyScope | undefined,
  requestedWorkspaceId: string | undefined,
  now: Date,
): Principal {
  if (!scope || !isWorking(scope, now) || !hasAccess(scope)) throw sessionInvalid();
  return getPrincipal(scope, requestedWorkspaceId, now);
}

function hasAccess({ key, organizationId, workspaceId }: KeyScope): boolean {
  return organizationId !== undefined && (key.kind === "management" || workspaceId !== undefined);
}

/** When a session ends that is being used now. */
export function expiresAtIfUsedNow(scope: KeyScope, now: Date): Date {
  const session = scope.session && { ...scope.session, lastUsedAt: now };
  return scopeExpiresAt({ ...scope, session }) ?? now;
}
