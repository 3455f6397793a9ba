import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients/clients.ts";
import { pageQuery, pageSchema } from "../json/page.ts";
import { presetActionByName, workspaceChangeJson } from "../json/preset.ts";
import { presetActionSchema } from "../json/preset-schema.ts";
import { Type } from "../json/schema-builder.ts";
import { sendPage } from "../json/send.ts";
import { refusedWith, success } from "../openapi/answers.ts";
import { workspaceQuery } from "./preset-parameters.ts";

const querystring = Type.Object({
  ...pageQuery,
  ...workspaceQuery,
  action: Type.Optional(presetActionSchema),
  user_id: Type.Optional(Type.String({ minLength: 1, description: "Only what this user did." })),
});

const schema = {
  operationId: "listWorkspaceChanges",
  summary: "List the changes of all presets",
  description: "The change logs of all presets of the workspace as one. The newest comes first.",
  tags: ["Presets"],
  querystring,
  response: { 200: success("One page of the changes.", pageSchema("WorkspaceChange")), ...refusedWith(400, 403, 404) },
};

/** Who changed what of the presets of a workspace. */
export function changeRoutes(app: FastifyInstance, access: Access, { presets }: Clients): void {
  app.get<{ Querystring: Static<typeof querystring> }>(
    "/api/v1/changes",
    { schema, onRequest: access.withPermission("presets:read") },
    async ({ query, caller }, reply) => {
      const { offset, limit, action, user_id: userId = "" } = query;
      const filter = { userId, ...(action && { action: presetActionByName[action] }) };
      const page = await caller.callWhileConnected((options) =>
        presets.listWorkspaceChanges({ offset, limit, ...filter }, options),
      );
      return sendPage(reply, page.changes.map(workspaceChangeJson), page.totalCount);
    },
  );
}
