import type { FastifyRequest } from "fastify";
import type { ErrorShape } from "../json/errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Default: our own. */
    readonly errorShape?: ErrorShape;
  }
}

/** Further calls of Anthropic's API, such as `batches`: there are none, but its clients make them. */
const callBehindMessages = /^\/api\/v1\/messages\/./;

/** The shape of errors on the route, including those before its handler runs. */
export function errorShapeOf({ routeOptions, knownPath, url }: FastifyRequest): ErrorShape | undefined {
  const ofPath = callBehindMessages.test(url) ? "anthropic" : undefined;
  return routeOptions.config?.errorShape ?? knownPath?.errorShape ?? ofPath;
}
