import { OrganizationService } from "../../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { organizationNotFound, requireManagementKey, requireOrganization } from "../../platform/auth/principal.ts";
import { pageFrom } from "../../platform/domain/page.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import type { Implementation } from "../../platform/rpc/service.ts";
import type { Member } from "../domain/members.ts";
import { addMember, removeMember, updateMember } from "../store/change-members.ts";
import { listChanges } from "../store/list-changes.ts";
import { listMembers } from "../store/members.ts";
import type { Administration } from "./administration.ts";
import { fromListChangesRequest, toChangeMessage } from "./change-mapper.ts";
import { fromAddMemberRequest, fromUpdateMemberRequest, toMemberMessage } from "./member-mapper.ts";

const { method: methods } = OrganizationService;

export function organizationService(
  pool: Pool,
  { read, change }: Administration,
): Implementation<typeof OrganizationService> {
  return {
    async listMembers(request, context) {
      requireManagementKey(context.principal);
      const organizationId = requireOrganization(context.principal);
      const page = pageFrom(request);
      const found = await retryTransient(context.deadlineMs, () =>
        listMembers(pool.within(context), organizationId, page),
      );
      // The organization was deleted after the token had been issued.
      if (!found) throw organizationNotFound();
      return { members: found.members.map(toMemberMessage), totalCount: found.totalCount };
    },

    async addMember(request, context) {
      const prepare = () => addMember(fromAddMemberRequest(request));
      return change(context, prepare, answerMember, { method: methods.addMember, request });
    },

    async updateMember(request, context) {
      const prepare = () => updateMember(request.userId, fromUpdateMemberRequest(request));
      return change(context, prepare, answerMember, { method: methods.updateMember, request });
    },

    async removeMember(request, context) {
      return change(
        context,
        () => removeMember(request.userId, request.disableKeys),
        ({ member, disabledKeyCount }) => ({ ...answerMember(member), disabledKeyCount }),
        { method: methods.removeMember, request },
      );
    },

    async listChanges(request, context) {
      return read(context, async (connection, organization) => {
        const filter = fromListChangesRequest(request);
        const { changes, totalCount } = await listChanges(connection, organization.id, filter, pageFrom(request));
        return { changes: changes.map(toChangeMessage), totalCount };
      });
    },
  };
}

function answerMember(member: Member) {
  return { member: toMemberMessage(member) };
}
