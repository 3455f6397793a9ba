import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { invalidRequest } from "../../services/platform/domain/domain-error.ts";
import { HttpError } from "./http-error.ts";

/** Makes handlers get JSON bodies as this function returns them. */
export function readBodies(app: FastifyInstance, read: typeof bodyText | typeof bodyBytes): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, ({ headers }, bytes, done) => {
    done(null, read(bytes, headers["content-encoding"]));
  });
}

/** The text of a request body. It is parsed where its shape is known: what is stored is sliced from the text itself. */
export function bodyText(bytes: Buffer, contentEncoding: string | undefined): string {
  const text = bodyBytes(bytes, contentEncoding).toString("utf8");
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

/** The bytes of a request body, which are UTF-8. */
export function bodyBytes(bytes: Buffer, contentEncoding: string | undefined): Buffer {
  if (contentEncoding && !/^\s*(identity\s*)?$/i.test(contentEncoding)) {
    throw new HttpError(415, "Send the body uncompressed, without a Content-Encoding.");
  }
  // Decoding would silently replace bytes that are not UTF-8.
  if (!isUtf8(bytes)) throw invalidRequest([{ path: "", message: "must be UTF-8" }]);
  return bytes;
}

/** The body of a request that must have one. */
export function requireBody<Body extends string | Buffer>(body: Body | undefined): Body {
  if (!body?.length) throw invalidRequest([{ path: "", message: "is empty; send a JSON object" }]);
  return body;
}
