import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { ListMembersResponse } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients/clients.ts";
import { memberJson } from "../json/member.ts";
import { pageQuery, pageSchema, pageWriter } from "../json/page.ts";
import { refusedWith, success } from "../openapi/answers.ts";

const querystring = Type.Object(pageQuery);
const schema = {
  operationId: "listOrganizationMembers",
  summary: "List the members of the organization",
  description: "Needs a management key. The oldest membership comes first.",
  tags: ["Organization"],
  querystring,
  response: {
    200: success("One page of members.", pageSchema("OrganizationMember")),
    ...refusedWith(400, 404),
  },
};

const membersJson = pageWriter<ListMembersResponse>(({ members }) => members.map(memberJson));

export function memberRoutes(app: FastifyInstance, access: Access, { organization }: Clients): void {
  app.get<{ Querystring: Static<typeof querystring> }>(
    "/api/v1/organization/members",
    { schema, onRequest: access.withManagementKey() },
    async ({ query: { offset, limit }, caller }, reply) => {
      const page = await caller.call((options) => organization.listMembers({ offset, limit }, options));
      return reply.type("application/json").send(membersJson(page));
    },
  );
}
