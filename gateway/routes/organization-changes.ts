import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients/clients.ts";
import { actionByName, organizationChangeJson } from "../json/organization-change.ts";
import { actionSchema } from "../json/organization-change-schema.ts";
import { pageQuery, pageSchema } from "../json/page.ts";
import { Type } from "../json/schema-builder.ts";
import { sendPage } from "../json/send.ts";
import { refusedWith, success } from "../openapi/answers.ts";

const querystring = Type.Object({
  ...pageQuery,
  action: Type.Optional(actionSchema),
  user_id: Type.Optional(Type.String({ minLength: 1, description: "Only what this user did." })),
  target_id: Type.Optional(
    Type.String({ minLength: 1, description: "Only what was done to this key, workspace or member." }),
  ),
});

const schema = {
  operationId: "listOrganizationChanges",
  summary: "List the changes of keys, workspaces and members",
  description: "Needs a management key. The newest comes first.",
  tags: ["Organization"],
  querystring,
  response: { 200: success("One page of the change log.", pageSchema("OrganizationChange")), ...refusedWith(400, 404) },
};

/** Who changed what of the organization. */
export function organizationChangeRoutes(app: FastifyInstance, access: Access, { organization }: Clients): void {
  app.get<{ Querystring: Static<typeof querystring> }>(
    "/api/v1/organization/changes",
    { schema, onRequest: access.withManagementKey() },
    async ({ query, caller }, reply) => {
      const { offset, limit, action, user_id: userId = "", target_id: targetId = "" } = query;
      const filter = { userId, targetId, ...(action && { action: actionByName[action] }) };
      const page = await caller.callWhileConnected((options) =>
        organization.listChanges({ offset, limit, ...filter }, options),
      );
      return sendPage(reply, page.changes.map(organizationChangeJson), page.totalCount);
    },
  );
}
