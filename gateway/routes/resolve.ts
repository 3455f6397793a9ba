import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { invalidRequest } from "../../services/platform/domain/domain-error.ts";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients/clients.ts";
import { type DialectName, dialectNames } from "../dialects/dialect-name.ts";
import { dialects } from "../dialects/dialects.ts";
import { inferenceBodySchema } from "../inference/body-schema.ts";
import { mergeRequest, type OutgoingRequest, preparePreset } from "../inference/merge/merge.ts";
import { presetFetcher } from "../inference/presets/fetch-preset.ts";
import type { PresetReference } from "../inference/request/model-reference.ts";
import { presetReferenceOf } from "../inference/request/preset-reference.ts";
import { promptHeader, replacesSystemPrompt } from "../inference/request/prompt-header.ts";
import { withRawBodies } from "../inference/request/raw-bodies.ts";
import { readRequestBody } from "../inference/request/request-body.ts";
import { requireBody } from "../json/body.ts";
import { Type } from "../json/schema-builder.ts";
import { dataOf, refusedWith, success } from "../openapi/answers.ts";
import { slugParams, workspaceQuery } from "./preset-parameters.ts";

const operationIds: Readonly<Record<DialectName, string>> = {
  "chat/completions": "resolvePresetsChatCompletions",
  messages: "resolvePresetsMessages",
  responses: "resolvePresetsResponses",
};

const querystring = Type.Object({
  ...workspaceQuery,
  version: Type.Optional(
    Type.Integer({ minimum: 1, description: "The version to merge. Default: the designated one." }),
  ),
});

function schemaOf(name: DialectName) {
  return {
    operationId: operationIds[name],
    summary: `Merge into a ${name} request`,
    description:
      "Returns the request as it would be sent to an upstream, and where each part of it comes from. Nothing is sent or stored. Fields of the request override those of the preset, tools are combined, and the preset's system prompt comes first.",
    tags: ["Presets"],
    params: Type.Object(slugParams),
    querystring,
    headers: Type.Object(promptHeader),
    body: inferenceBodySchema(dialects[name]),
    response: {
      200: success("The request with the preset merged into it.", dataOf("ResolvedRequest")),
      ...refusedWith(400, 403, 404, 409, 413, 415),
    },
  };
}

interface Resolve {
  Params: { slug: string };
  Querystring: Static<typeof querystring>;
  Body: Buffer | undefined;
}

/** The routes that show a request merged with a preset: one for each dialect. */
export async function resolveRoutes(
  app: FastifyInstance,
  access: Access,
  { presets }: Clients,
  bodyLimit: number,
): Promise<void> {
  const onRequest = access.withPermission("presets:read");
  const fetchPreset = presetFetcher(presets);
  await withRawBodies(app, (scope) => {
    for (const dialect of dialectNames) {
      scope.post<Resolve>(
        `/api/v1/presets/:slug/resolve/${dialect}`,
        { schema: schemaOf(dialect), onRequest, bodyLimit },
        async (request, reply) => {
          const replaceSystemPrompt = replacesSystemPrompt(request.headers);
          const body = await readRequestBody(requireBody(request.body));
          const reference = referenceTo(request, presetReferenceOf(body));
          // Not from the cache: this shows the preset as it is stored now.
          const content = await fetchPreset(request.caller, reference);
          const pinned = reference.version !== undefined;
          const merged = mergeRequest(body, preparePreset(content, dialect), dialect, { pinned, replaceSystemPrompt });
          return reply.type("application/json").send(answerWith(merged));
        },
      );
    }
  });
}

/** The preset of the path. The request itself may name it, too, and then also its version. */
function referenceTo(
  { params: { slug }, query: { version } }: FastifyRequest<Resolve>,
  named: PresetReference | undefined,
): PresetReference {
  if (named && named.slug !== slug) {
    throw invalidRequest([{ path: "", message: `must name the preset ${slug} or none; it names ${named.slug}` }]);
  }
  if (named?.version !== undefined && version !== undefined && named.version !== version) {
    throw invalidRequest([{ path: "version", message: `must be that of the body, which is ${named.version}` }]);
  }
  return { slug, version: version ?? named?.version };
}

const before = Buffer.from('{"data":{"body":');

function answerWith(merged: OutgoingRequest): Buffer {
  const after = Buffer.from(`,"provenance":${JSON.stringify(merged.provenance())}}}`);
  return Buffer.concat([before, ...merged.parts, after]);
}
