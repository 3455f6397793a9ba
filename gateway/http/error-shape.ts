import type { FastifyRequest } from "fastify";
import type { ErrorShape } from "../json/errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Ours where it is not set. */
    readonly errorShape?: ErrorShape;
  }
}

/** How errors of the route are told, also of what is refused before its handler. */
export function errorShapeOf(request: FastifyRequest): ErrorShape | undefined {
  return request.routeOptions.config?.errorShape;
}
