import { isUtf8 } from "node:buffer";
import { type DomainError, invalidRequest } from "../../services/platform/domain/domain-error.ts";
import { HttpError } from "./errors.ts";

/** The text of a request body. It is parsed later, by what knows its shape: what is stored is cut out of the text itself. */
export function bodyText(bytes: Buffer, contentEncoding: string | undefined): string {
  checkContentEncoding(contentEncoding);
  // Decoding would replace bytes that are not UTF-8 without a word.
  if (!isUtf8(bytes)) throw invalidRequest([{ path: "", message: "must be UTF-8" }]);
  const text = bytes.toString("utf8");
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

export function checkContentEncoding(contentEncoding: string | undefined): void {
  if (contentEncoding && !/^\s*(identity\s*)?$/i.test(contentEncoding)) {
    throw new HttpError(415, "Send the body uncompressed, without a Content-Encoding.");
  }
}

/** The bytes of a request that cannot do without. */
export function requireBytes(body: Buffer | undefined): Buffer {
  if (!body || body.length === 0) throw emptyBody();
  return body;
}

/** The body of a request that cannot do without. */
export function requireBody(body: string | undefined): string {
  if (!body) throw emptyBody();
  return body;
}

function emptyBody(): DomainError {
  return invalidRequest([{ path: "", message: "is empty; send a JSON object" }]);
}
