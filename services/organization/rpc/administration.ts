import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { organizationNotFound, requireManagementKey, requireOrganization } from "../../platform/auth/principal.ts";
import type { Pool, PoolConnection } from "../../platform/mysql/pool.ts";
import { inSnapshot, retryTransient } from "../../platform/mysql/transaction.ts";
import type { CallContext } from "../../platform/rpc/call-context.ts";
import type { Organization } from "../domain/organizations.ts";
import { changeOrganization, type Work } from "../store/change-organization.ts";
import { findOrganization } from "../store/organizations.ts";
import { type Nameable, namedRequest } from "./named-request.ts";

/** How the methods of a management key reach their organization, and no other. */
export interface Administration {
  /** What `read` sees is of one moment. */
  read<T>(call: CallContext, read: (connection: PoolConnection, organization: Organization) => Promise<T>): Promise<T>;
  /**
   * All of the change, with its entries in the change log, or nothing. `prepare` checks what is asked for. With `repeatable`,
   * a request that has a name gets its first answer again; without, for answers that hold a secret and must not be kept.
   */
  change<T, O extends DescMessage>(
    call: CallContext,
    prepare: () => Work<T>,
    answer: (result: T, organization: Organization) => MessageInitShape<O>,
    repeatable?: { readonly method: DescMethodUnary<DescMessage, O>; readonly request: Nameable },
  ): Promise<MessageInitShape<O>>;
}

interface Pools {
  readonly pool: Pool;
  /** For changes alone, which may wait for each other. */
  readonly changePool: Pool;
}

export function administration({ pool, changePool }: Pools): Administration {
  return {
    async read(call, read) {
      requireManagementKey(call.principal);
      const organizationId = requireOrganization(call.principal);
      const readOrganization = async (connection: PoolConnection) => {
        const organization = await findOrganization(connection, organizationId);
        // It was deleted after the token had been given out.
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
        repeatable && namedRequest(repeatable.method, repeatable.request),
      );
    },
  };
}
