import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { nothingFoundAt } from "../json/http-error.ts";
import type { DescribedRoute } from "./described-routes.ts";

/** The document, and the page to read it and to try calls. Neither needs a key. */
export function referenceRoutes(app: FastifyInstance, routes: readonly DescribedRoute[]): void {
  let opening: Promise<FastifyInstance> | undefined;
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    // Loaded on the first request: few ever ask for it, and it would be a good part of the gateway's startup time.
    opening ??= import("./reference-server.ts")
      .then(({ createReferenceServer }) => createReferenceServer(routes))
      .catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
    return passOn(await opening, request, reply);
  };
  for (const url of ["/openapi.json", "/docs", "/docs/*"]) app.get(url, answer);
}

const passedOn = ["cache-control", "content-security-policy", "content-type", "etag", "location"];

async function passOn(server: FastifyInstance, { url, headers }: FastifyRequest, reply: FastifyReply) {
  const { statusCode, rawPayload, ...answer } = await server.inject({
    url,
    headers: { "if-none-match": headers["if-none-match"] ?? "" },
  });
  if (statusCode >= 500) throw new Error(`The reference server answered ${statusCode}: ${rawPayload}`);
  if (statusCode >= 400) throw nothingFoundAt(url);
  for (const name of passedOn) {
    if (answer.headers[name] !== undefined) reply.header(name, answer.headers[name]);
  }
  reply.status(statusCode);
  // An answer without a body gets no content type: with a 304, it would replace that of the caller's cached copy.
  return rawPayload.length === 0 ? reply.send() : reply.send(rawPayload);
}
