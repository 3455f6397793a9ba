import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { etagHeader, isNotModified } from "../json/etag.ts";
import { nothingFoundAt } from "../json/http-error.ts";
import { type Asset, chooseBody, immutableFolder, indexFile } from "./assets.ts";

/** The page runs only its own scripts, connects to no other origin, and cannot be framed. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** For every file: a script that runs as a worker follows its own headers. */
const securityHeaders = {
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

const notBuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Setpoint: the console is not built</title>
<h1>The console is not built</h1>
<p>This gateway serves the API, but when it started it found no console, or not all of one. Run
<code>npm run build:console</code>, which says what is wrong where it cannot build it, and start the gateway again;
<code>npm start</code> does both, and says where the build's errors are.</p>
<p>What the API has to offer is at <a href="/docs">/docs</a>.</p>
</html>
`;

interface Asked {
  Params: { "*"?: string };
}

/** Serves the console: its files, and its page at every other path, because the page itself handles its paths. */
export function assetRoutes(app: FastifyInstance, assets: ReadonlyMap<string, Asset>): void {
  const index = assets.get(indexFile);

  const answer = async (request: FastifyRequest<Asked>, reply: FastifyReply) => {
    const path = request.params["*"] ?? "";
    const asset = assets.get(path) ?? (path.startsWith(immutableFolder) ? undefined : index);
    if (asset) return sendAsset(asset, request, reply);
    if (index) {
      // A gateway of another release may have the file, and a cached answer would hide it.
      reply.header("cache-control", "no-store");
      throw nothingFoundAt(request.url);
    }
    return reply
      .status(503)
      .headers({ ...securityHeaders, "cache-control": "no-store" })
      .type("text/html; charset=utf-8")
      .send(notBuilt);
  };

  app.get("/", async (_, reply) => reply.header("cache-control", "no-store").redirect("/console/", 302));
  app.get("/console", answer);
  app.get("/console/*", answer);
}

function sendAsset(asset: Asset, { headers }: FastifyRequest<Asked>, reply: FastifyReply): FastifyReply {
  const { bytes, etag, encoding } = chooseBody(asset, headers["accept-encoding"]);
  // Before there are headers: a refusal must not be kept by caches.
  const isKnown = isNotModified(headers["if-none-match"], etag);
  reply.headers({
    ...securityHeaders,
    "cache-control": asset.isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
    etag: etagHeader(etag),
    // A range would depend on the encoding, and no file is large enough to need one.
    "accept-ranges": "none",
    vary: "accept-encoding",
  });
  if (isKnown) return reply.status(304).send();
  if (encoding) reply.header("content-encoding", encoding);
  return reply.type(asset.type).send(bytes);
}
