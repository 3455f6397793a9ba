import type { FastifyInstance } from "fastify";
import { bodyBytes } from "../../json/body.ts";

/** Registers routes whose handlers get bodies as bytes, which are known to be UTF-8. */
export async function withRawBodies(app: FastifyInstance, routes: (scope: FastifyInstance) => void): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, ({ headers }, bytes, done) => {
      done(null, bodyBytes(bytes, headers["content-encoding"]));
    });
    routes(scope);
  });
}
