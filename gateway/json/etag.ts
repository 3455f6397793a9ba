import type { IncomingHttpHeaders } from "node:http";
import { invalidRequest } from "../../services/platform/domain/domain-error.ts";

const tagPattern = /^(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*?)(?:-gzip|-br)?"$/;
/** A comma inside the quotes belongs to the tag. */
const elementPattern = /(?:"[^"]*"|[^",])+/g;

/**
 * The text between the quotes of each tag; `*` stands for any tag. A weak tag, or one with a content coding, counts as
 * the strong one that we issued: a proxy that compresses an answer makes its tag weak (nginx with `gzip on`) or appends
 * the coding (Apache with `mod_deflate`, `mod_brotli`), and ours identify a state of the preset, however its bytes are
 * encoded. Under RFC 9110, 13.1.1, no change would ever get through such a proxy.
 */
function tagsFrom(name: string, header: string): "*" | string[] {
  if (header.trim() === "*") return "*";
  return (header.match(elementPattern) ?? [""]).map((element) => {
    const match = element.trim().match(tagPattern);
    if (!match) {
      throw invalidRequest([{ path: name, message: 'must be the ETag of an earlier answer, with its quotes: "…"' }]);
    }
    return match[1] as string;
  });
}

/** The tags that `If-Match` allows, as the preset service takes them; empty if any is allowed. */
export function etagsOfIfMatch(header: string | undefined): string[] {
  const tags = header === undefined ? "*" : tagsFrom("If-Match", header);
  return tags === "*" ? [] : valuesOf(tags);
}

/**
 * The same for a creation, which may also create the preset. There `If-Match: *` means that the preset must exist, and
 * `If-None-Match: *` that it must not.
 */
export function etagsOfCreation(ifMatch: string | undefined, ifNoneMatch: string | undefined): string[] {
  if (ifNoneMatch !== undefined) {
    const message = "must be *, and without If-Match beside it";
    if (ifNoneMatch.trim() !== "*" || ifMatch !== undefined) throw invalidRequest([{ path: "If-None-Match", message }]);
    return ["-"];
  }
  if (ifMatch === undefined) return [];
  const tags = tagsFrom("If-Match", ifMatch);
  return tags === "*" ? ["*"] : valuesOf(tags);
}

/**
 * For a change of what has no ETag. A condition is not ignored, because whoever sends one relies on it, and is not 412,
 * after which clients read the ETag again. `If-Match: *` holds for whatever exists.
 */
export function requireNoTags(headers: IncomingHttpHeaders): void {
  const { "if-match": ifMatch } = headers;
  if (ifMatch !== undefined && ifMatch.trim() !== "*") {
    throw invalidRequest([{ path: "If-Match", message: "must be left out: only presets have an ETag" }]);
  }
  requireNoIfNoneMatch(headers);
}

/** For a change of what exists, which may not be made dependent on its being new. */
export function requireNoIfNoneMatch({ "if-none-match": ifNoneMatch }: IncomingHttpHeaders): void {
  if (ifNoneMatch === undefined) return;
  throw invalidRequest([{ path: "If-None-Match", message: "must be left out: this call changes what exists" }]);
}

/** In quotes, `*` and `-` are not tags of ours, and would mean something else to the service. */
function valuesOf(tags: readonly string[]): string[] {
  return tags.map((tag) => (tag === "*" || tag === "-" ? "" : tag));
}

/** Whether `If-None-Match` says that the caller already has the current state. */
export function isNotModified(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const tags = tagsFrom("If-None-Match", header);
  return tags === "*" || tags.includes(etag);
}

export function etagHeader(etag: string): string {
  return `"${etag}"`;
}
