import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { KeyKind } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import type { Workspace } from "../../proto/gen/setpoint/organization/v1/workspace_pb.ts";
import type { Access } from "../auth/access.ts";
import type { KeyChanges } from "../auth/key-changes.ts";
import type { Clients } from "../clients/clients.ts";
import { updateOrRead } from "../clients/update-or-read.ts";
import { requireNoFields, smallBodyBytesMax } from "../json/body-reader.ts";
import { requireNoTags } from "../json/etag.ts";
import { idempotencyKeyFrom, repeatableHeaders, requestIdFrom } from "../json/idempotency.ts";
import { pageQuery, pageSchema } from "../json/page.ts";
import { Type } from "../json/schema-builder.ts";
import { sendPage } from "../json/send.ts";
import { sendWorkspace, workspaceJson } from "../json/workspace.ts";
import {
  workspaceCreationFrom,
  workspaceCreationSchema,
  workspaceUpdateFrom,
  workspaceUpdateSchema,
} from "../json/workspace-body.ts";
import { dataOf, deleted, refusedWith, success } from "../openapi/answers.ts";
import { workspaceParams } from "./workspace-parameters.ts";

const tags = ["Workspaces"];
const params = Type.Object(workspaceParams);
const querystring = Type.Object(pageQuery);
const oneWorkspace = dataOf("Workspace");

const listSchema = {
  operationId: "listWorkspaces",
  summary: "List workspaces",
  description: "Needs a management key. The oldest comes first.",
  tags,
  querystring,
  response: { 200: success("One page of workspaces.", pageSchema("Workspace")), ...refusedWith(400, 404) },
};

const createSchema = {
  operationId: "createWorkspace",
  summary: "Make a workspace",
  description: "Needs a management key. Whoever creates it is its first member. A slug that is taken is 400.",
  tags,
  headers: repeatableHeaders,
  body: workspaceCreationSchema,
  response: { 201: success("The workspace.", oneWorkspace), ...refusedWith(400, 403, 404, 409, 413, 415) },
};

const getSchema = {
  operationId: "getWorkspace",
  summary: "Get a workspace",
  description: "Needs a management key.",
  tags,
  params,
  response: { 200: success("The workspace.", oneWorkspace), ...refusedWith(400, 404) },
};

const updateSchema = {
  operationId: "updateWorkspace",
  summary: "Change a workspace",
  description: "Needs a management key. A slug that is taken is 400.",
  tags,
  params,
  headers: repeatableHeaders,
  body: workspaceUpdateSchema,
  response: {
    200: success("The workspace after the change.", oneWorkspace),
    ...refusedWith(400, 403, 404, 409, 413, 415),
  },
};

const deleteSchema = {
  operationId: "deleteWorkspace",
  summary: "Delete a workspace",
  description:
    "Needs a management key. From then on its presets cannot be reached. The default workspace cannot be deleted, nor one with keys that still work (400).",
  tags,
  params,
  headers: repeatableHeaders,
  response: { 200: deleted, ...refusedWith(400, 403, 404, 409, 413, 415) },
};

interface OneWorkspace {
  Params: Static<typeof params>;
}

/** The workspaces of the organization. Every change has a request id, so that it can be repeated safely. */
export function workspaceRoutes(
  app: FastifyInstance,
  access: Access,
  keyChanges: KeyChanges,
  { workspaces }: Clients,
): void {
  const onRequest = access.withManagementKey();
  const bodyLimit = smallBodyBytesMax;

  app.get<{ Querystring: Static<typeof querystring> }>(
    "/api/v1/workspaces",
    { schema: listSchema, onRequest },
    async ({ query: { offset, limit }, caller }, reply) => {
      const page = await caller.callWhileConnected((options) => workspaces.listWorkspaces({ offset, limit }, options));
      return sendPage(reply, page.workspaces.map(workspaceJson), page.totalCount);
    },
  );

  app.post<{ Body: string | undefined }>(
    "/api/v1/workspaces",
    { schema: createSchema, onRequest, bodyLimit },
    async ({ headers, body, caller }, reply) => {
      const creation = { ...workspaceCreationFrom(body), requestId: requestIdFrom(headers) };
      const created = await caller.callWhileConnected((options) => workspaces.createWorkspace(creation, options));
      return sendWorkspace(reply.status(201), created.workspace);
    },
  );

  app.get<OneWorkspace>(
    "/api/v1/workspaces/:workspace",
    { schema: getSchema, onRequest },
    async ({ params, caller }, reply) => {
      const { workspace } = await caller.callWhileConnected((options) => workspaces.getWorkspace(params, options));
      return sendWorkspace(reply, workspace);
    },
  );

  app.patch<OneWorkspace & { Body: string | undefined }>(
    "/api/v1/workspaces/:workspace",
    { schema: updateSchema, onRequest, bodyLimit },
    async ({ params, headers, body, caller }, reply) => {
      requireNoTags(headers);
      const update = { ...params, ...workspaceUpdateFrom(body), requestId: requestIdFrom(headers) };
      const { workspace } = await caller.callWhileConnected((options) =>
        updateOrRead<{ readonly workspace?: Workspace | undefined }>({
          paths: update.updateMask.paths,
          hasOwnId: idempotencyKeyFrom(headers) !== undefined,
          store: () => workspaces.updateWorkspace(update, options),
          read: () => workspaces.getWorkspace(params, options),
        }),
      );
      return sendWorkspace(reply, workspace);
    },
  );

  app.delete<OneWorkspace & { Body: string | undefined }>(
    "/api/v1/workspaces/:workspace",
    { schema: deleteSchema, onRequest, bodyLimit },
    async ({ params, headers, body, caller }, reply) => {
      requireNoTags(headers);
      requireNoFields(body);
      const deletion = { ...params, requestId: requestIdFrom(headers) };
      const { organizationId } = caller.principal;
      await keyChanges.watch(
        caller.principal,
        caller.callWhileConnected((options) => workspaces.deleteWorkspace(deletion, options)),
        ({ workspace }) =>
          (principal) =>
            principal.workspaceId === workspace?.id,
        // The id is not known if the workspace is named by its slug. A workspace with working keys is not deleted, so
        // only management keys can have grants for it.
        (principal) => principal.organizationId === organizationId && principal.keyKind === KeyKind.MANAGEMENT,
      );
      return reply.send({ deleted: true });
    },
  );
}
