import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import type { Principal } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import type { ListMembersResponse } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import type { Access } from "../auth/access.ts";
import type { KeyChanges } from "../auth/key-changes.ts";
import type { Clients } from "../clients/clients.ts";
import { requireNoFields, smallBodyBytesMax } from "../json/body-reader.ts";
import { requireNoTags } from "../json/etag.ts";
import { repeatableHeaders, requestIdFrom } from "../json/idempotency.ts";
import { memberJson, sendMember } from "../json/member.ts";
import { memberCreationFrom, memberCreationSchema, memberUpdateFrom, memberUpdateSchema } from "../json/member-body.ts";
import { pageQuery, pageSchema, pageWriter } from "../json/page.ts";
import { Type } from "../json/schema-builder.ts";
import { dataOf, deleted, refusedWith, success } from "../openapi/answers.ts";

const tags = ["Organization"];
const querystring = Type.Object(pageQuery);
const params = Type.Object({
  user_id: Type.String({ description: "The user.", examples: ["user_2xQ7LhV0bTn4RkYc9WmDsEaP"] }),
});
const oneMember = dataOf("OrganizationMember");

const listSchema = {
  operationId: "listOrganizationMembers",
  summary: "List the members of the organization",
  description: "Needs a management key. The oldest membership comes first.",
  tags,
  querystring,
  response: {
    200: success("One page of members.", pageSchema("OrganizationMember")),
    ...refusedWith(400, 404),
  },
};

const addSchema = {
  operationId: "addOrganizationMember",
  summary: "Add a member to the organization",
  description: "Needs a management key. The role is `org:member` unless told otherwise.",
  tags,
  headers: repeatableHeaders,
  body: memberCreationSchema,
  response: { 201: success("The member.", oneMember), ...refusedWith(400, 404, 409, 413, 415) },
};

const updateSchema = {
  operationId: "updateOrganizationMember",
  summary: "Change a member of the organization",
  description: "Needs a management key. The last admin cannot be demoted (409).",
  tags,
  params,
  headers: repeatableHeaders,
  body: memberUpdateSchema,
  response: { 200: success("The member after the change.", oneMember), ...refusedWith(400, 404, 409, 413, 415) },
};

const removeQuery = Type.Object({
  disable_keys: Type.Boolean({
    default: false,
    description:
      "Whether to disable the member's working keys. Otherwise a member with working keys is not removed (409).",
  }),
});

const removeSchema = {
  operationId: "removeOrganizationMember",
  summary: "Remove a member from the organization",
  description: "Needs a management key. The last admin cannot be removed (409).",
  tags,
  params,
  headers: repeatableHeaders,
  querystring: removeQuery,
  response: { 200: deleted, ...refusedWith(400, 404, 409, 413, 415) },
};

interface OneMember {
  Params: Static<typeof params>;
}

const membersJson = pageWriter<ListMembersResponse>(({ members }) => members.map(memberJson));

/** Who belongs to the organization. Every change has a request id, so that it can be repeated safely. */
export function memberRoutes(
  app: FastifyInstance,
  access: Access,
  keyChanges: KeyChanges,
  { organization }: Clients,
): void {
  const onRequest = access.withManagementKey();
  const bodyLimit = smallBodyBytesMax;

  app.get<{ Querystring: Static<typeof querystring> }>(
    "/api/v1/organization/members",
    { schema: listSchema, onRequest },
    async ({ query: { offset, limit }, caller }, reply) => {
      const page = await caller.callWhileConnected((options) => organization.listMembers({ offset, limit }, options));
      return reply.type("application/json").send(membersJson(page));
    },
  );

  app.post<{ Body: string | undefined }>(
    "/api/v1/organization/members",
    { schema: addSchema, onRequest, bodyLimit },
    async ({ headers, body, caller }, reply) => {
      const creation = { ...memberCreationFrom(body), requestId: requestIdFrom(headers) };
      const { member } = await caller.callWhileConnected((options) => organization.addMember(creation, options));
      return sendMember(reply.status(201), member);
    },
  );

  app.patch<OneMember & { Body: string | undefined }>(
    "/api/v1/organization/members/:user_id",
    { schema: updateSchema, onRequest, bodyLimit },
    async ({ params, headers, body, caller }, reply) => {
      requireNoTags(headers);
      const update = { userId: params.user_id, ...memberUpdateFrom(body), requestId: requestIdFrom(headers) };
      const { member } = await caller.callWhileConnected((options) => organization.updateMember(update, options));
      return sendMember(reply, member);
    },
  );

  app.delete<OneMember & { Querystring: Static<typeof removeQuery>; Body: string | undefined }>(
    "/api/v1/organization/members/:user_id",
    { schema: removeSchema, onRequest, bodyLimit },
    async ({ params, query, headers, body, caller }, reply) => {
      requireNoTags(headers);
      requireNoFields(body);
      const requestId = requestIdFrom(headers);
      const removal = { userId: params.user_id, disableKeys: query.disable_keys, requestId };
      const change = caller.callWhileConnected((options) => organization.removeMember(removal, options));
      const { organizationId } = caller.principal;
      // The same person may have keys in other organizations, which are not for this one to distrust.
      const isOf = (id: string | undefined) => (principal: Principal) =>
        principal.organizationId === organizationId && principal.userId === id;
      await keyChanges.watch(caller.principal, change, ({ member }) => isOf(member?.id), isOf(params.user_id));
      return reply.send({ deleted: true });
    },
  );
}
