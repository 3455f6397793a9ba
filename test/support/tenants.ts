import { bootstrap } from "../../services/organization/commands/bootstrap.ts";
import {
  type KeyRateLimit,
  type NewKey,
  newApiKey,
  newManagementKey,
} from "../../services/organization/domain/keys.ts";
import type { Member } from "../../services/organization/domain/members.ts";
import { newWorkspace } from "../../services/organization/domain/workspaces.ts";
import { insertKey, updateKeyRow } from "../../services/organization/store/keys.ts";
import { findOrInsertUser, insertMembership } from "../../services/organization/store/members.ts";
import { insertWorkspace } from "../../services/organization/store/workspaces.ts";
import { type KeyKind, knownPermissions, type Permission } from "../../services/platform/auth/principal.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import type { Pool } from "../../services/platform/mysql/pool.ts";
import { inTransaction } from "../../services/platform/mysql/transaction.ts";

/** An organization as the bootstrap command leaves it. */
export interface Tenant {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly apiKey: string;
  readonly managementKey: string;
}

interface KeyParts {
  readonly kind?: KeyKind;
  readonly permissions?: readonly Permission[];
  readonly workspaceId?: string;
  readonly expiresAt?: Date;
  readonly disabled?: boolean;
  readonly rateLimit?: KeyRateLimit;
}

/** Creates and removes what the organization service stores, as its commands do. */
export class Tenants {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async createOrganization(): Promise<Tenant> {
    const name = newId();
    const flags = ["--organization", name, "--admin-email", `${name}@example.com`, "--json"];
    const made = JSON.parse(await bootstrap.read(flags)(this.#pool));
    return {
      organizationId: made.organization_id,
      workspaceId: made.workspace_id,
      userId: made.admin_user_id,
      apiKey: made.api_key,
      managementKey: made.management_key,
    };
  }

  async createWorkspace({ organizationId }: Tenant): Promise<string> {
    const slug = `another-${newId().replaceAll("-", "")}`;
    const workspace = newWorkspace(organizationId, { name: "Another", slug }, undefined);
    await insertWorkspace(this.#pool, workspace);
    return workspace.id;
  }

  /** An API key with all permissions in the default workspace, unless told otherwise. */
  async createKey(tenant: Tenant, parts: KeyParts = {}): Promise<NewKey> {
    const { organizationId, userId: creatorUserId } = tenant;
    const owner = {
      name: "A key",
      organizationId,
      creatorUserId,
      expiresAt: parts.expiresAt,
      rateLimit: parts.rateLimit,
    };
    const reach = {
      workspaceId: parts.workspaceId ?? tenant.workspaceId,
      permissions: parts.permissions ?? knownPermissions,
    };
    const made = parts.kind === "management" ? newManagementKey(owner) : newApiKey(owner, reach);
    const stored = { ...made, key: { ...made.key, disabled: parts.disabled ?? false } };
    await insertKey(this.#pool, stored.key);
    return stored;
  }

  async revokeKey({ key }: NewKey): Promise<void> {
    await updateKeyRow(this.#pool, { ...key, revokedAt: new Date() });
  }

  /** Returns the ids of the users. */
  async addMembers({ organizationId }: Tenant, users: readonly Omit<Member, "userId">[]): Promise<string[]> {
    return inTransaction(this.#pool, async (connection) => {
      const userIds: string[] = [];
      for (const { role, ...user } of users) {
        const userId = await findOrInsertUser(connection, user);
        await insertMembership(connection, organizationId, { ...user, userId, role });
        userIds.push(userId);
      }
      return userIds;
    });
  }

  async deleteWorkspace(id: string): Promise<void> {
    await this.#pool.execute("UPDATE workspaces SET deleted_at = ? WHERE id = ?", [new Date(), idToBytes(id)]);
  }

  async deleteOrganization({ organizationId }: Tenant): Promise<void> {
    const now = new Date();
    await this.#pool.execute("UPDATE organizations SET deleted_at = ? WHERE id = ?", [now, idToBytes(organizationId)]);
  }
}
