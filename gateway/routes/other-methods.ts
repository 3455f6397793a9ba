import type { FastifyInstance, HTTPMethods } from "fastify";
import { METHODS } from "../../services/platform/http/node-http.ts";
import type { ErrorShape } from "../json/errors.ts";
import { HttpError } from "../json/http-error.ts";

/**
 * Registers `routes`, and then, on each of their paths, a route for every other method that answers 405 with `Allow`.
 */
export async function withMethodsRefused(app: FastifyInstance, routes: () => Promise<void>): Promise<void> {
  const methodsByUrl = new Map<string, Set<string>>();
  const shapeByUrl = new Map<string, ErrorShape>();
  app.addHook("onRoute", ({ url, method, config }) => {
    const methods = methodsByUrl.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    methodsByUrl.set(url, methods);
    if (config?.errorShape) shapeByUrl.set(url, config.errorShape);
  });
  // Fastify would answer 404 to methods that it does not know. CONNECT is left out: it asks for a tunnel.
  for (const method of METHODS) {
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  await routes();
  for (const [url, methods] of [...methodsByUrl]) {
    const allow = [...methods].sort().join(", ");
    app.route({
      method: app.supportedMethods.filter((method) => !methods.has(method)) as HTTPMethods[],
      url,
      config: { errorShape: shapeByUrl.get(url) ?? "own" },
      // Before the body is read: its content does not matter here.
      onRequest: async () => {
        throw new HttpError(405, `This path takes ${allow}.`, { allow });
      },
      handler: async () => {},
    });
  }
}
