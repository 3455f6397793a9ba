import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients.ts";
import { memberJson } from "../json/member.ts";
import { pageJson, pageQuery } from "../json/page.ts";

const querystring = Type.Object(pageQuery);

export function memberRoutes(app: FastifyInstance, access: Access, { organization }: Clients): void {
  app.get<{ Querystring: Static<typeof querystring> }>(
    "/api/v1/organization/members",
    { schema: { querystring }, onRequest: access.withManagementKey() },
    async ({ query, caller }, reply) => {
      const { members, totalCount } = await caller.call((options) => organization.listMembers(query, options));
      return reply.type("application/json").send(pageJson(members.map(memberJson), totalCount));
    },
  );
}
