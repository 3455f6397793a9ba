import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients/clients.ts";
import { refusalOf } from "../inference/preset-refusals.ts";
import { namesPreset, presetMark, presetReferenceIn } from "../inference/request/model-reference.ts";
import { HttpError } from "../json/http-error.ts";
import { pinnedModelJson, presetModelJson, upstreamModelJson } from "../json/model.ts";
import { Type } from "../json/schema-builder.ts";
import { componentSchema } from "../json/schema-parts.ts";
import { sendData } from "../json/send.ts";
import { dataOf, refusedWith, success } from "../openapi/answers.ts";
import { inEitherHeader } from "../openapi/security.ts";
import { workspaceQuery } from "./preset-parameters.ts";

const nameParams = Type.Object({
  model: Type.String({ description: "What a request names as its `model`.", examples: ["@preset/support-bot"] }),
});

const partsParams = Type.Object({
  author: Type.String({ description: "The part before the slash.", examples: ["@preset"] }),
  slug: Type.String({ description: "The part after the slash.", examples: ["support-bot"] }),
});

const schema = {
  description:
    "For every key that may read presets or use them: one that is listed, a pinned version of a preset (`@preset/support-bot@7`), or one that matches a pattern of an upstream. A disabled or archived preset is 409.",
  tags: ["Models"],
  security: inEitherHeader,
  querystring: Type.Object(workspaceQuery),
};
const refused = refusedWith(400, 403, 404, 409);

const byNameSchema = {
  ...schema,
  operationId: "retrieveModel",
  summary: "Get a model, as clients of OpenAI and Anthropic do",
  params: nameParams,
  response: { 200: success("The model.", componentSchema("Model")), ...refused },
};

const notEncodedSchema = {
  ...byNameSchema,
  operationId: "retrieveModelByParts",
  summary: "Get a model, as older clients of OpenAI and Anthropic do, which do not encode the slash",
  params: partsParams,
};

const byPartsSchema = {
  ...schema,
  operationId: "getModel",
  summary: "Get a model, as clients of OpenRouter do",
  params: partsParams,
  response: { 200: success("The model.", dataOf("Model")), ...refused },
};

/** The part of the upstreams that concerns one model. */
interface ModelTable {
  list(): readonly { servesModel(model: string): boolean }[];
}

/** One of the models that requests may name. */
export function oneModelRoutes(
  app: FastifyInstance,
  access: Access,
  { presets }: Clients,
  upstreams: ModelTable,
): void {
  const onRequest = access.withAnyKeyInWorkspace();

  const getModelJson = async ({ caller }: FastifyRequest, name: string): Promise<string> => {
    const reference = name.startsWith(presetMark) ? presetReferenceIn(name.slice(presetMark.length)) : undefined;
    if (reference) {
      const { slug, version } = reference;
      const preset = await caller.call((options) => presets.getPreset({ slug }, options));
      const refusal = refusalOf(preset);
      if (refusal) throw refusal;
      if (version === undefined) return presetModelJson(preset);
      await caller.call((options) => presets.getVersion({ slug, version }, options));
      return pinnedModelJson(preset, version);
    }
    // An upstream's pattern may match a reference to a preset, too.
    const isServed = !namesPreset(name) && upstreams.list().some((upstream) => upstream.servesModel(name));
    if (isServed) return upstreamModelJson(name);
    throw new HttpError(404, `There is no model ${name}. GET /api/v1/models lists what there is.`);
  };

  app.get<{ Params: Static<typeof nameParams> }>(
    "/api/v1/models/:model",
    { schema: byNameSchema, onRequest },
    async (request, reply) => reply.type("application/json").send(await getModelJson(request, request.params.model)),
  );

  app.get<{ Params: Static<typeof partsParams> }>(
    "/api/v1/models/:author/:slug",
    { schema: notEncodedSchema, onRequest },
    async (request, reply) => {
      const { author, slug } = request.params;
      return reply.type("application/json").send(await getModelJson(request, `${author}/${slug}`));
    },
  );

  app.get<{ Params: Static<typeof partsParams> }>(
    "/api/v1/model/:author/:slug",
    { schema: byPartsSchema, onRequest },
    async (request, reply) => {
      const { author, slug } = request.params;
      const json = await getModelJson(request, `${author}/${slug}`);
      return sendData(reply, json);
    },
  );
}
