import type { FastifyRequest } from "fastify";
import type { ErrorShape } from "../json/errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Ours where it is not set. */
    readonly errorShape?: ErrorShape;
  }
}

/** The shape of errors on the route, also of those before its handler runs. */
export function errorShapeOf(request: FastifyRequest): ErrorShape | undefined {
  return request.routeOptions.config?.errorShape;
}
