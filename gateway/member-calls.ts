import type { OrganizationService } from "../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import type { Page } from "../services/platform/page.ts";
import type { CallOptions, Methods } from "../services/platform/rpc/grpc-client.ts";
import { gatherCalls } from "./gather-calls.ts";
import { memberJson } from "./json/member.ts";
import { pageJson } from "./json/page.ts";

/** A page of members, ready to be sent. */
export interface MemberPage {
  readonly json: string;
}

export type ListMembers = (page: Page, options: CallOptions) => Promise<MemberPage>;

/** Lists members. A page that one key asks for many times at once is fetched, and written as JSON, once. */
export function memberCalls(organization: Methods<typeof OrganizationService>): ListMembers {
  const fetchPage = async ({ offset, limit }: Page, options: CallOptions): Promise<MemberPage> => {
    const { members, totalCount } = await organization.listMembers({ offset, limit }, options);
    return { json: pageJson(members.map(memberJson), totalCount) };
  };
  return gatherCalls((pages: readonly Page[], options) => {
    const fetched = new Map<string, Promise<MemberPage>>();
    const answers = pages.map((page) => {
      const key = `${page.offset}/${page.limit}`;
      const answer = fetched.get(key) ?? fetchPage(page, options);
      fetched.set(key, answer);
      return answer;
    });
    return Promise.all(answers.map((answer) => answer.catch((error: Error) => error)));
  });
}
