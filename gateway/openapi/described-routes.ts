import type { FastifyInstance, RouteOptions } from "fastify";

/** What the API description is generated from. */
export type DescribedRoute = Pick<RouteOptions, "method" | "url" | "schema">;

/** A list that grows with the routes that are registered from here on. A route without a tag is not part of the API. */
export function describedRoutes(app: FastifyInstance): readonly DescribedRoute[] {
  const routes: DescribedRoute[] = [];
  app.addHook("onRoute", ({ method, url, schema }) => {
    if (schema?.tags && method !== "HEAD") routes.push({ method, url, schema });
  });
  return routes;
}
