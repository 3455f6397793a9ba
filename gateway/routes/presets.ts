import { hash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { invalidRequest } from "../../services/platform/domain-error.ts";
import { newId } from "../../services/platform/ids.ts";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients.ts";
import { chatCompletions } from "../dialects/chat-completions.ts";
import { messages } from "../dialects/messages.ts";
import { readBody } from "../dialects/read-body.ts";
import { responses } from "../dialects/responses.ts";
import { emptyBody } from "../json/body.ts";
import { presetJson } from "../json/preset.ts";

const params = Type.Object({
  slug: Type.String({
    pattern: "^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$",
    description: "1 to 128 characters of A-Z a-z 0-9 . _ ~ -, with a letter or digit first",
  }),
});

/** By the last part of their path, which is that of the inference API they come from. */
const dialects = { "chat/completions": chatCompletions, messages, responses };

interface Creation {
  Params: { slug: string };
  Body: string | undefined;
}

export function presetRoutes(app: FastifyInstance, access: Access, { presets }: Clients): void {
  for (const [path, dialect] of Object.entries(dialects)) {
    app.post<Creation>(
      `/api/v1/presets/:slug/${path}`,
      { schema: { params }, onRequest: access.withPermission("presets:write") },
      async (request, reply) => {
        if (request.body === undefined) throw emptyBody();
        const creation = {
          slug: request.params.slug,
          ...readBody(dialect, request.body),
          ...idempotencyOf(request, path, request.body),
        };
        const { preset } = await request.caller.call((options) => presets.createVersion(creation, options));
        if (!preset) throw new Error("CreateVersion answered without a preset");
        return reply.type("application/json").send(`{"data":${presetJson(preset)}}`);
      },
    );
  }
}

/**
 * Names the creation, so that a retry never makes a second version: with the caller's own key, which must go with
 * the same request, or with a new one, for the retries that the gateway itself makes.
 */
function idempotencyOf(request: FastifyRequest<Creation>, dialectPath: string, body: string) {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return { requestId: newId() };
  if (typeof key !== "string" || !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw invalidRequest([{ path: "Idempotency-Key", message: "must be 1 to 255 printable ASCII characters" }]);
  }
  return { requestId: key, requestDigest: hash("sha256", `${dialectPath}\0${request.params.slug}\0${body}`, "buffer") };
}
