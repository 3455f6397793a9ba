import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import type { ListPresetsResponse } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { presetQueryLengthMax } from "../../services/platform/domain/limits.ts";
import { elementsMax } from "../../services/platform/rpc/element-count.ts";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients/clients.ts";
import type { PresetCache } from "../inference/presets/preset-cache.ts";
import { smallBodyBytesMax } from "../json/body-reader.ts";
import { etagsOfIfMatch, requireNoIfNoneMatch } from "../json/etag.ts";
import { idempotencyHeader, requestIdFrom } from "../json/idempotency.ts";
import { pageQuery, pageSchema, pageWriter } from "../json/page.ts";
import { listedPresetJson, sendPreset, statusByName } from "../json/preset.ts";
import { presetUpdateFrom, presetUpdateSchema } from "../json/preset-body.ts";
import { statusSchema } from "../json/preset-schema.ts";
import { Type } from "../json/schema-builder.ts";
import { dataOf, etag, refusedWith, success, withoutBody } from "../openapi/answers.ts";
import { slugParams, workspaceQuery } from "./preset-parameters.ts";

const tags = ["Presets"];
const params = Type.Object(slugParams);
const querystring = Type.Object(workspaceQuery);
const onePreset = dataOf("PresetWithDesignatedVersion");

const listQuery = Type.Object({
  ...pageQuery,
  ...workspaceQuery,
  status: Type.Optional(
    Type.Array(statusSchema, {
      maxItems: elementsMax,
      description: "Only presets with one of these statuses: repeated, or separated by commas. Default: all.",
    }),
  ),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: presetQueryLengthMax,
      description: "Only presets whose slug, name or description contains this text, ignoring case.",
    }),
  ),
  include: Type.Optional(
    Type.Array(Type.Enum(["serving"], { type: "string" }), {
      description:
        "What to return for each preset in addition to its own fields. `serving`: the version and model that it serves.",
    }),
  ),
});

const listSchema = {
  operationId: "listPresets",
  summary: "List presets",
  description: "The most recently updated preset comes first.",
  tags,
  querystring: listQuery,
  response: { 200: success("One page of presets.", pageSchema("Preset")), ...refusedWith(400, 403, 404) },
};

const getSchema = {
  operationId: "getPreset",
  summary: "Get a preset",
  description: "With the version that it serves now.",
  tags,
  params,
  querystring,
  headers: Type.Object({
    "If-None-Match": Type.Optional(
      Type.String({
        description: "ETags of earlier answers, or `*`. If one of them is still current, the answer is 304.",
      }),
    ),
  }),
  response: {
    200: success("The preset.", onePreset, { ETag: etag }),
    304: withoutBody("The caller already has the current state.", { ETag: etag }),
    ...refusedWith(400, 403, 404),
  },
};

const patchSchema = {
  operationId: "updatePreset",
  summary: "Change a preset",
  description:
    "Renames, describes, disables, archives or restores a preset, or designates another of its versions, which is a rollback. All fields of the body are changed, or none. An archived preset cannot become disabled: make it active first.",
  tags,
  params,
  querystring,
  headers: Type.Object({
    "If-Match": Type.Optional(
      Type.String({ description: "ETags of earlier answers, or `*`. If none of them is current, the answer is 412." }),
    ),
    ...idempotencyHeader,
  }),
  body: presetUpdateSchema,
  response: {
    200: success("The preset after the change.", onePreset, { ETag: etag }),
    ...refusedWith(400, 403, 404, 409, 412, 413, 415),
  },
};

interface OnePreset {
  Params: { slug: string };
}

const presetsJson = pageWriter<ListPresetsResponse>((page) => page.presets.map(listedPresetJson));

/** What can be seen and changed of presets as a whole. */
export function presetRoutes(
  app: FastifyInstance,
  access: Access,
  { presets }: Clients,
  presetCache: PresetCache,
): void {
  const reading = access.withPermission("presets:read");
  const writing = access.withPermission("presets:write");

  app.get<{ Querystring: Static<typeof listQuery> }>(
    "/api/v1/presets",
    { schema: listSchema, onRequest: reading },
    async ({ query, caller }, reply) => {
      const { offset, limit, q = "", status = [], include = [] } = query;
      const statuses = status.map((name) => statusByName[name]);
      const request = { offset, limit, query: q, statuses, includeServing: include.includes("serving") };
      const page = await caller.callWhileConnected((options) => presets.listPresets(request, options));
      return reply.type("application/json").send(presetsJson(page));
    },
  );

  app.get<OnePreset>("/api/v1/presets/:slug", { schema: getSchema, onRequest: reading }, async (request, reply) => {
    const { slug } = request.params;
    const preset = await request.caller.callWhileConnected((options) => presets.getPreset({ slug }, options));
    return sendPreset(reply, preset, request.headers["if-none-match"]);
  });

  app.patch<OnePreset & { Body: string | undefined }>(
    "/api/v1/presets/:slug",
    { schema: patchSchema, onRequest: writing, bodyLimit: smallBodyBytesMax },
    async (request, reply) => {
      requireNoIfNoneMatch(request.headers);
      const update = {
        slug: request.params.slug,
        ...presetUpdateFrom(request.body),
        etags: etagsOfIfMatch(request.headers["if-match"]),
        requestId: requestIdFrom(request.headers),
      };
      const { caller } = request;
      const preset = await presetCache.changing(caller.principal.workspaceId, update.slug, () =>
        caller.callWhileConnected((options) => presets.updatePreset(update, options)),
      );
      return sendPreset(reply, preset);
    },
  );
}
