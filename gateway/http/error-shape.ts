import type { FastifyRequest } from "fastify";
import type { ErrorShape } from "../json/errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Default: our own. */
    readonly errorShape?: ErrorShape;
  }
}

/** The shape of errors on the route, including those before its handler runs. */
export function errorShapeOf(request: FastifyRequest): ErrorShape | undefined {
  return request.routeOptions.config?.errorShape ?? request.knownPath?.errorShape;
}
