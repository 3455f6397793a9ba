import type { FastifyInstance } from "fastify";
import type { Access } from "../auth/access.ts";
import { type DialectName, dialectNames } from "../dialects/dialect-name.ts";
import type { Forwarder } from "../inference/forward/forward.ts";
import { plainRequest } from "../inference/plain-request.ts";
import { withRawBodies } from "../inference/request/raw-bodies.ts";
import { requireBody } from "../json/body.ts";

interface Inference {
  Body: Buffer | undefined;
}

/** Where requests are sent to an upstream, in each dialect. */
export async function inferenceRoutes(
  app: FastifyInstance,
  access: Access,
  forwarder: Forwarder,
  bodyLimit: number,
): Promise<void> {
  await withRawBodies(app, (scope) => {
    for (const dialect of dialectNames) inferenceRoute(scope, dialect, access, forwarder, bodyLimit);
  });
}

function inferenceRoute(
  app: FastifyInstance,
  dialect: DialectName,
  access: Access,
  forwarder: Forwarder,
  bodyLimit: number,
): void {
  app.post<Inference>(
    `/api/v1/${dialect}`,
    {
      bodyLimit,
      config: { errorShape: dialect === "messages" ? "anthropic" : "own" },
      onRequest: access.withInference(),
    },
    async (request, reply) => {
      const outgoing = plainRequest(requireBody(request.body));
      const { principal } = request.caller;
      await forwarder.forward({ reply, dialect, outgoing, caller: principal, explanation: undefined });
      return reply;
    },
  );
}
