import type { OrganizationService } from "../../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { organizationNotFound, requireManagementKey, requireOrganization } from "../../platform/auth/principal.ts";
import { pageFrom } from "../../platform/domain/page.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import type { Implementation } from "../../platform/rpc/service.ts";
import { listMembers } from "../store/members.ts";
import { toMemberMessage } from "./member-mapper.ts";

export function organizationService(pool: Pool): Implementation<typeof OrganizationService> {
  return {
    async listMembers(request, { principal, deadlineMs }) {
      requireManagementKey(principal);
      const organizationId = requireOrganization(principal);
      const page = pageFrom(request);
      const found = await retryTransient(deadlineMs, () => listMembers(pool, organizationId, page));
      // The organization was deleted after the token had been given out.
      if (!found) throw organizationNotFound();
      return { members: found.members.map(toMemberMessage), totalCount: found.totalCount };
    },
  };
}
