import type { FastifyInstance } from "fastify";
import { bodyBytes, readBodies } from "../../json/body.ts";

/** Registers routes whose handlers get bodies as bytes, which are known to be UTF-8. */
export async function withRawBodies(app: FastifyInstance, routes: (scope: FastifyInstance) => void): Promise<void> {
  await app.register(async (scope) => {
    readBodies(scope, bodyBytes);
    routes(scope);
  });
}
