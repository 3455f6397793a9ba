import type { FastifyInstance } from "fastify";
import { probes } from "../../services/platform/http/operations.ts";
import type { Health } from "../../services/platform/process/health.ts";

/** Whether the process is alive, and whether it is ready. */
export function probeRoutes(app: FastifyInstance, health: Health): void {
  for (const [path, answer] of Object.entries(probes(health))) {
    // They come at regular intervals and need not fill the log.
    app.get(path, { logLevel: "debug" }, async (_, reply) => {
      const { status, contentType, body } = await answer();
      return reply.status(status).type(contentType).send(body);
    });
  }
}
