import swagger, { type SwaggerTransformObject } from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import { type FastifyInstance, fastify } from "fastify";
import type { DescribedRoute } from "./described-routes.ts";
import { description } from "./description.ts";

/** Serves `/openapi.json` and `/docs`. It knows the routes by their schemas alone; nobody calls them here. */
export async function createReferenceServer(routes: readonly DescribedRoute[]): Promise<FastifyInstance> {
  const app = fastify({ routerOptions: { ignoreTrailingSlash: true } });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  await app.register(swagger, { openapi: description, transformObject: mended });
  for (const route of routes) app.route({ ...route, handler: () => {} });

  app.addHook("onRequest", async (_, reply) => {
    reply.header("cache-control", "public, max-age=300");
  });
  app.get("/openapi.json", { schema: { hide: true } }, async () => app.swagger());
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    theme: { title: "Setpoint API reference" },
    // Keys are not kept: what a script of the console could read of the same origin must hold none.
    uiConfig: { layout: "BaseLayout", tryItOutEnabled: true, defaultModelsExpandDepth: 0 },
    staticCSP: contentSecurityPolicy,
  });
  return app;
}

/** The page holds a key, so it talks to nobody else and stands in nobody's frame. */
const contentSecurityPolicy = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "img-src": "'self' data:",
  "connect-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
};

interface Operation {
  readonly parameters?: readonly { required?: boolean; readonly schema?: { readonly default?: unknown } }[];
  readonly responses: Record<
    string,
    Reference | { readonly content?: Record<string, { readonly schema?: Reference }> }
  >;
}

interface Reference {
  readonly $ref?: string;
}

/** Mends what the plugin makes of two things. */
function mended(parts: Parameters<SwaggerTransformObject>[0]): ReturnType<SwaggerTransformObject> {
  if (!("openapiObject" in parts)) throw new Error("The document is not OpenAPI 3");
  const paths = Object.values(parts.openapiObject.paths ?? {}) as Record<string, Operation>[];
  for (const { parameters = [], responses } of paths.flatMap((path) => Object.values(path))) {
    for (const parameter of parameters) {
      // A schema requires what it has a default for, as that is filled in ahead of the check. A caller may leave it out.
      if (parameter.schema?.default !== undefined) parameter.required = false;
    }
    for (const [status, response] of Object.entries(responses)) {
      // The reference to a response was taken for one to the schema of its body.
      const $ref = "content" in response ? response.content?.["application/json"]?.schema?.$ref : undefined;
      if ($ref?.startsWith("#/components/responses/")) responses[status] = { $ref };
    }
  }
  return parts.openapiObject;
}
