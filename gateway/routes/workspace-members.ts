import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { DomainError } from "../../services/platform/domain/domain-error.ts";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients/clients.ts";
import { smallBodyBytesMax } from "../json/body-reader.ts";
import { requireNoTags } from "../json/etag.ts";
import { repeatableHeaders, requestIdFrom } from "../json/idempotency.ts";
import { pageQuery, pageSchema } from "../json/page.ts";
import { Type } from "../json/schema-builder.ts";
import { componentSchema } from "../json/schema-parts.ts";
import { sendPage } from "../json/send.ts";
import { workspaceMemberJson } from "../json/workspace.ts";
import { userIdsFrom, userIdsSchema } from "../json/workspace-body.ts";
import { refusedWith, success } from "../openapi/answers.ts";
import { workspaceParams } from "./workspace-parameters.ts";

const tags = ["Workspaces"];
const params = Type.Object(workspaceParams);
const querystring = Type.Object(pageQuery);
const count = Type.Integer({ minimum: 0 });

const listSchema = {
  operationId: "listWorkspaceMembers",
  summary: "List the members of a workspace",
  description:
    "Needs a management key. The oldest membership comes first. The default workspace has every member of the organization.",
  tags,
  params,
  querystring,
  response: { 200: success("One page of members.", pageSchema("WorkspaceMember")), ...refusedWith(400, 403, 404) },
};

const addSchema = {
  operationId: "bulkAddWorkspaceMembers",
  summary: "Add members to a workspace",
  description: "Needs a management key. Those who are already members stay.",
  tags,
  params,
  headers: repeatableHeaders,
  body: userIdsSchema,
  response: {
    200: success(
      "Each of the users as a member, and how many of them are new.",
      Type.Object({ data: Type.Array(componentSchema("WorkspaceMember")), added_count: count }),
    ),
    ...refusedWith(400, 403, 404, 409, 413, 415),
  },
};

const removeSchema = {
  operationId: "bulkRemoveWorkspaceMembers",
  summary: "Remove members from a workspace",
  description:
    "Needs a management key. Users who are not members are skipped. If one of them still has working keys there, or it is the default workspace, nobody is removed (400).",
  tags,
  params,
  headers: repeatableHeaders,
  body: userIdsSchema,
  response: {
    200: success("How many of the users were members before.", Type.Object({ removed_count: count })),
    ...refusedWith(400, 403, 404, 409, 413, 415),
  },
};

interface OneWorkspace {
  Params: Static<typeof params>;
}

interface MembersChange extends OneWorkspace {
  Body: string | undefined;
}

/** Who belongs to a workspace. Every change has a request id, so that it can be repeated safely. */
export function workspaceMemberRoutes(app: FastifyInstance, access: Access, { workspaces }: Clients): void {
  const onRequest = access.withManagementKey();
  const bodyLimit = smallBodyBytesMax;

  app.get<OneWorkspace & { Querystring: Static<typeof querystring> }>(
    "/api/v1/workspaces/:workspace/members",
    { schema: listSchema, onRequest },
    async ({ params, query: { offset, limit }, caller }, reply) => {
      const request = { ...params, offset, limit };
      const page = await caller.callWhileConnected((options) => workspaces.listWorkspaceMembers(request, options));
      return sendPage(reply, page.members.map(workspaceMemberJson), page.totalCount);
    },
  );

  app.post<MembersChange>(
    "/api/v1/workspaces/:workspace/members/add",
    { schema: addSchema, onRequest, bodyLimit },
    async ({ params, headers, body, caller }, reply) => {
      requireNoTags(headers);
      const request = { ...params, ...userIdsFrom(body), requestId: requestIdFrom(headers) };
      const { members, addedCount } = await caller.callWhileConnected((options) =>
        workspaces.addWorkspaceMembers(request, options),
      );
      const data = members.map(workspaceMemberJson).join(",");
      return reply.type("application/json").send(`{"data":[${data}],"added_count":${addedCount}}`);
    },
  );

  app.post<MembersChange>(
    "/api/v1/workspaces/:workspace/members/remove",
    { schema: removeSchema, onRequest, bodyLimit },
    async ({ params, headers, body, caller }, reply) => {
      requireNoTags(headers);
      const request = { ...params, ...userIdsFrom(body), requestId: requestIdFrom(headers) };
      const { removedCount } = await caller
        .callWhileConnected((options) => workspaces.removeWorkspaceMembers(request, options))
        .catch(asWorkspaceError);
      return reply.send({ removed_count: removedCount });
    },
  );
}

/** A service of the previous release gives the reason that it also has for the organization, which is another status. */
function asWorkspaceError(error: unknown): never {
  if (!(error instanceof DomainError) || error.reason !== "MEMBER_HAS_KEYS") throw error;
  const violations = [{ path: "user_ids", message: "must name nobody whose keys of the workspace still work" }];
  throw new DomainError(error.kind, { reason: "WORKSPACE_MEMBER_HAS_KEYS", message: error.message, violations });
}
