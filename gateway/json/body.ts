import { isUtf8 } from "node:buffer";
import { invalidRequest } from "../../services/platform/domain-error.ts";
import { type JsonObject, parseJsonObject } from "../../services/platform/json-text.ts";
import { HttpError } from "./errors.ts";

/** Reads a request body as the text of a JSON object; the text is kept, because what is stored is cut out of it. */
export function bodyFrom(bytes: Buffer, contentEncoding: string | undefined): JsonObject {
  if (contentEncoding !== undefined && contentEncoding !== "identity") {
    throw new HttpError(415, "Send the body uncompressed, without a Content-Encoding.");
  }
  if (bytes.length === 0) throw emptyBody();
  // Decoding would replace bytes that are not UTF-8 without a word.
  if (!isUtf8(bytes)) throw invalidRequest([{ path: "", message: "The body must be UTF-8" }]);
  const text = bytes.toString("utf8");
  return parseJsonObject(text.startsWith("\uFEFF") ? text.slice(1) : text);
}

export function emptyBody() {
  return invalidRequest([{ path: "", message: "The body is empty; send a JSON object" }]);
}
