import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { organizationNotFound, requireManagementKey, requireOrganization } from "../../platform/auth/principal.ts";
import type { Pool, PoolConnection } from "../../platform/mysql/pool.ts";
import { inSnapshot, retryTransient } from "../../platform/mysql/transaction.ts";
import type { CallContext } from "../../platform/rpc/call-context.ts";
import type { Organization } from "../domain/organizations.ts";
import { changeOrganization, type Work } from "../store/change-organization.ts";
import { findOrganization } from "../store/organizations.ts";
import { type IdentifiedMessage, repeatableRequest } from "./repeatable-request.ts";

/** How the methods for management keys access their own organization, and no other. */
export interface Administration {
  /** `read` sees a consistent snapshot. */
  read<T>(call: CallContext, read: (connection: PoolConnection, organization: Organization) => Promise<T>): Promise<T>;
  /**
   * Makes all of the change, with its change log entries, or nothing. `prepare` checks the request. With `repeatable`,
   * a request with an id gets its first answer again; without, for answers that contain a secret and must not be
   * stored.
   */
  change<T, O extends DescMessage>(
    call: CallContext,
    prepare: () => Work<T>,
    answer: (result: T, organization: Organization) => MessageInitShape<O>,
    repeatable?: { readonly method: DescMethodUnary<DescMessage, O>; readonly request: IdentifiedMessage },
  ): Promise<MessageInitShape<O>>;
}

interface Pools {
  readonly pool: Pool;
  /** Only for changes, which may wait for each other. */
  readonly changePool: Pool;
}

export function administration({ pool, changePool }: Pools): Administration {
  return {
    async read(call, read) {
      requireManagementKey(call.principal);
      const organizationId = requireOrganization(call.principal);
      const readOrganization = async (connection: PoolConnection) => {
        const organization = await findOrganization(connection, organizationId);
        // It was deleted after the token had been issued.
        if (!organization) throw organizationNotFound();
        return read(connection, organization);
      };
      return retryTransient(call.deadlineMs, () => inSnapshot(pool, readOrganization, call));
    },

    async change(call, prepare, answer, repeatable) {
      requireManagementKey(call.principal);
      const organizationId = requireOrganization(call.principal);
      const work = prepare();
      return changeOrganization(
        changePool,
        organizationId,
        call.principal,
        call,
        async (connection, organization, now) => {
          const { result, changes } = await work(connection, organization, now);
          return { result: answer(result, organization), changes };
        },
        repeatable && repeatableRequest(repeatable.method, repeatable.request),
      );
    },
  };
}
