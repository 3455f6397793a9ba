import { hash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { newId } from "../../services/platform/domain/ids.ts";
import { longTextLength } from "../../services/platform/json/json-text.ts";
import { nextTurn } from "../../services/platform/time/next-turn.ts";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients/clients.ts";
import { type DialectName, dialectByName, dialectNames } from "../dialects/dialect-name.ts";
import { dialects } from "../dialects/dialects.ts";
import { readBody, readLongBody } from "../dialects/read-body.ts";
import type { PresetCache } from "../inference/presets/preset-cache.ts";
import { requireBody } from "../json/body.ts";
import { etagsOfCreation } from "../json/etag.ts";
import { idempotencyHeader, idempotencyKeyFrom } from "../json/idempotency.ts";
import { sendPreset } from "../json/preset.ts";
import { Type } from "../json/schema-builder.ts";
import { dataOf, etag, refusedWith, success } from "../openapi/answers.ts";
import { slugParams, workspaceQuery } from "./preset-parameters.ts";

const operationIds: Readonly<Record<DialectName, string>> = {
  "chat/completions": "createPresetsChatCompletions",
  messages: "createPresetsMessages",
  responses: "createPresetsResponses",
};

function schemaOf(name: DialectName) {
  return {
    operationId: operationIds[name],
    summary: `Create from a ${name} body`,
    description:
      "Creates a version from an inference request, and also the preset if the slug is new. The new version becomes the designated one. A slug that contains a key is refused. Fields that a preset does not keep are ignored.",
    tags: ["Presets"],
    params: Type.Object(slugParams),
    querystring: Type.Object(workspaceQuery),
    headers: Type.Object({
      "If-Match": Type.Optional(
        Type.String({
          description:
            "ETags of earlier answers, or `*`. If none of them is current, or the preset does not exist, the answer is 412.",
        }),
      ),
      "If-None-Match": Type.Optional(
        Type.Enum(["*"], {
          type: "string",
          description: "`*`: the preset must be new. If the slug is already taken, the answer is 412.",
        }),
      ),
      ...idempotencyHeader,
    }),
    body: dialects[name].bodySchema,
    response: {
      200: success("The preset, with the new version.", dataOf("PresetWithDesignatedVersion"), { ETag: etag }),
      ...refusedWith(400, 403, 404, 409, 412, 413, 415),
    },
  };
}

interface Creation {
  Params: { slug: string };
  Body: string | undefined;
}

/** The routes that create a preset, or a version, from the body of an inference request: one for each dialect. */
export function createPresetRoutes(
  app: FastifyInstance,
  access: Access,
  { presets }: Clients,
  presetCache: PresetCache,
): void {
  for (const name of dialectNames) {
    const dialect = dialects[name];
    app.post<Creation>(
      `/api/v1/presets/:slug/${name}`,
      { schema: schemaOf(name), onRequest: access.withPermission("presets:write") },
      async (request, reply) => {
        const etags = etagsOfCreation(request.headers["if-match"], request.headers["if-none-match"]);
        const body = requireBody(request.body);
        const { slug } = request.params;
        const isLong = body.length > longTextLength;
        const content = isLong ? await readLongBody(dialect, body) : readBody(dialect, body);
        if (isLong) await nextTurn();
        const idempotency = idempotencyOf(request, name, body);
        const creation = { slug, etags, ...idempotency, ...content, dialect: dialectByName[name] };
        const { caller } = request;
        const preset = await presetCache.changing(caller.principal.workspaceId, slug, () =>
          caller.call((options) => presets.createVersion(creation, options)),
        );
        return sendPreset(reply, preset);
      },
    );
  }
}

/**
 * Identifies the creation, so that no retry creates a second version: by the caller's own key, which must come with the
 * same request each time, or by a new one, for the gateway's own retries.
 */
function idempotencyOf(request: FastifyRequest<Creation>, name: DialectName, body: string) {
  const key = idempotencyKeyFrom(request.headers);
  if (key === undefined) return { requestId: newId() };
  return { requestId: key, requestDigest: hash("sha256", `${name}\0${request.params.slug}\0${body}`, "buffer") };
}
