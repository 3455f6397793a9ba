import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients.ts";
import { pageQuery, pageSchema } from "../json/page.ts";
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

export function memberRoutes(app: FastifyInstance, access: Access, { listMembers }: Clients): void {
  app.get<{ Querystring: Static<typeof querystring> }>(
    "/api/v1/organization/members",
    { schema, onRequest: access.withManagementKey() },
    async ({ query, caller }, reply) => {
      const { json } = await caller.call((options) => listMembers(query, options));
      return reply.type("application/json").send(json);
    },
  );
}
