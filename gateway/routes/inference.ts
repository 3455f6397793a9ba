import type { FastifyInstance } from "fastify";
import type { Access } from "../auth/access.ts";
import { type DialectName, dialectNames } from "../dialects/dialect-name.ts";
import type { Forwarder } from "../inference/forward/forward.ts";
import { plainRequest } from "../inference/plain-request.ts";
import { checkContentEncoding, requireBytes } from "../json/body.ts";

interface Inference {
  Body: Buffer | undefined;
}

/** Where requests are sent to an upstream, in each dialect. */
export async function inferenceRoutes(
  app: FastifyInstance,
  access: Access,
  forwarder: Forwarder,
  bodyBytesMax: number,
): Promise<void> {
  // In a scope of their own: these bodies stay bytes.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, bytes: Buffer, done) => {
      try {
        checkContentEncoding(request.headers["content-encoding"]);
        done(null, bytes);
      } catch (error) {
        done(error as Error);
      }
    });
    for (const dialect of dialectNames) inferenceRoute(scope, dialect, access, forwarder, bodyBytesMax);
  });
}

function inferenceRoute(
  app: FastifyInstance,
  dialect: DialectName,
  access: Access,
  forwarder: Forwarder,
  bodyBytesMax: number,
): void {
  app.post<Inference>(
    `/api/v1/${dialect}`,
    {
      bodyLimit: bodyBytesMax,
      config: { errorShape: dialect === "messages" ? "anthropic" : "own" },
      onRequest: access.withInference(bodyBytesMax),
    },
    async (request, reply) => {
      const outgoing = plainRequest(requireBytes(request.body));
      const { principal } = request.caller;
      await forwarder.forward({ reply, dialect, outgoing, caller: principal, explanation: undefined });
      return reply;
    },
  );
}
