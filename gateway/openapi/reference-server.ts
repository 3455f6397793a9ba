import swagger, { type SwaggerTransformObject } from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import { type FastifyInstance, fastify } from "fastify";
import type { DescribedRoute } from "./described-routes.ts";
import { description } from "./description.ts";

/** Serves `/openapi.json` and `/docs`. It knows the routes only by their schemas; they are not called here. */
export async function createReferenceServer(routes: readonly DescribedRoute[]): Promise<FastifyInstance> {
  const app = fastify({ routerOptions: { ignoreTrailingSlash: true } });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  await app.register(swagger, { openapi: description, transformObject: corrected });
  for (const route of routes) app.route({ ...route, handler: () => {} });

  app.addHook("onRequest", async (_, reply) => {
    reply.header("cache-control", "public, max-age=300");
  });
  app.get("/openapi.json", { schema: { hide: true } }, async () => app.swagger());
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    theme: { title: "Setpoint API reference" },
    // Keys are not kept in the browser: the console has the same origin, and its scripts must not find any.
    uiConfig: { layout: "BaseLayout", tryItOutEnabled: true, defaultModelsExpandDepth: 0 },
    staticCSP: contentSecurityPolicy,
  });
  return app;
}

/** People enter keys here, so the page may connect to no other origin, and cannot be framed. */
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

/** Corrects two things that the plugin gets wrong. */
function corrected(parts: Parameters<SwaggerTransformObject>[0]): ReturnType<SwaggerTransformObject> {
  if (!("openapiObject" in parts)) throw new Error("The document is not OpenAPI 3");
  const paths = Object.values(parts.openapiObject.paths ?? {}) as Record<string, Operation>[];
  for (const { parameters = [], responses } of paths.flatMap((path) => Object.values(path))) {
    for (const parameter of parameters) {
      // A parameter with a default is required by its schema, because defaults are filled in first. A caller may still
      // leave it out.
      if (parameter.schema?.default !== undefined) parameter.required = false;
    }
    for (const [status, response] of Object.entries(responses)) {
      // The plugin takes a reference to a response for one to the schema of its body.
      const $ref = "content" in response ? response.content?.["application/json"]?.schema?.$ref : undefined;
      if ($ref?.startsWith("#/components/responses/")) responses[status] = { $ref };
    }
  }
  return parts.openapiObject;
}
