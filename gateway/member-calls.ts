import type { OrganizationService } from "../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import type { Page } from "../services/platform/domain/page.ts";
import type { CallOptions, Methods } from "../services/platform/rpc/grpc-client.ts";
import { callEach, gatherAlike } from "./gather-calls.ts";
import { memberJson } from "./json/member.ts";
import { type JsonPage, pageJson } from "./json/page.ts";

export type ListMembers = (page: Page, options: CallOptions) => Promise<JsonPage>;

/** Lists members. A page that is asked for many times at once is written as JSON once, too. */
export function memberCalls(organization: Methods<typeof OrganizationService>): ListMembers {
  return gatherAlike(
    callEach(async ({ offset, limit }: Page, options: CallOptions) => {
      const { members, totalCount } = await organization.listMembers({ offset, limit }, options);
      return { json: pageJson(members.map(memberJson), totalCount) };
    }),
  );
}
