import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { newId } from "../../services/platform/ids.ts";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients.ts";
import { requireBody } from "../json/body.ts";
import { etagsOfIfMatch } from "../json/etag.ts";
import { pageJson, pageQuery } from "../json/page.ts";
import { listedPresetJson, sendPreset, statusByName } from "../json/preset.ts";
import { updateFrom, updateSchema } from "../json/update.ts";
import { slugParams, workspaceQuery } from "./preset-parameters.ts";

const params = Type.Object(slugParams);
const workspace = Type.Object(workspaceQuery);
const listQuery = Type.Object({
  ...pageQuery,
  ...workspaceQuery,
  status: Type.Optional(
    Type.Array(Type.Enum(["active", "disabled", "archived"]), {
      description: "Only presets with one of these statuses: repeated, or separated by commas. Default: all.",
    }),
  ),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Only presets whose slug or name holds this text, in any case.",
    }),
  ),
});

interface OnePreset {
  Params: { slug: string };
}

/** What can be seen and changed of presets as a whole. */
export function presetRoutes(app: FastifyInstance, access: Access, { presets }: Clients): void {
  const reading = access.withPermission("presets:read");
  const writing = access.withPermission("presets:write");

  app.get<{ Querystring: Static<typeof listQuery> }>(
    "/api/v1/presets",
    { schema: { querystring: listQuery }, onRequest: reading },
    async ({ query, caller }, reply) => {
      const { offset, limit, q = "", status = [] } = query;
      const request = { offset, limit, query: q, statuses: status.map((name) => statusByName[name]) };
      const page = await caller.call((options) => presets.listPresets(request, options));
      return reply.type("application/json").send(pageJson(page.presets.map(listedPresetJson), page.totalCount));
    },
  );

  app.get<OnePreset>(
    "/api/v1/presets/:slug",
    { schema: { params, querystring: workspace }, onRequest: reading },
    async (request, reply) => {
      const { slug } = request.params;
      const { preset } = await request.caller.call((options) => presets.getPreset({ slug }, options));
      return sendPreset(reply, preset, request.headers["if-none-match"]);
    },
  );

  app.patch<OnePreset & { Body: string | undefined }>(
    "/api/v1/presets/:slug",
    { schema: { params, querystring: workspace, body: updateSchema }, onRequest: writing },
    async (request, reply) => {
      const update = {
        slug: request.params.slug,
        ...updateFrom(requireBody(request.body)),
        etags: etagsOfIfMatch(request.headers["if-match"]) ?? [],
        requestId: newId(),
      };
      const { preset } = await request.caller.call((options) => presets.updatePreset(update, options));
      return sendPreset(reply, preset);
    },
  );
}
