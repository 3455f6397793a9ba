import { invalidRequest } from "../../services/platform/domain/domain-error.ts";

const tagPattern = /^(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*?)(?:-gzip|-br)?"$/;
/** A comma inside the quotes belongs to the tag. */
const elementPattern = /(?:"[^"]*"|[^",])+/g;

/**
 * What stands between the quotes of each tag; `*` stands for any tag. One that is weak, or names a coding, counts as the
 * strong one that we gave out: a proxy that compresses an answer makes its tag weak (nginx with `gzip on`) or adds how
 * (Apache with `mod_deflate`, `mod_brotli`), and what ours name is a state of the preset, however its bytes are written.
 * By RFC 9110, 13.1.1, no change would ever get through such a proxy.
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

/** The tags that `If-Match` allows, as the preset service takes them; undefined if any will do. */
export function etagsOfIfMatch(header: string | undefined): string[] | undefined {
  const tags = header === undefined ? "*" : tagsFrom("If-Match", header);
  return tags === "*" ? undefined : valuesOf(tags);
}

/**
 * The same for a creation, which may also make the preset. There `If-Match: *` means that the preset must exist, and
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

/** In quotes `*` and `-` are no tags of ours, and mean something else to the service. */
function valuesOf(tags: readonly string[]): string[] {
  return tags.map((tag) => (tag === "*" || tag === "-" ? "" : tag));
}

/** Whether `If-None-Match` says that the caller has the current state already. */
export function isNotModified(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const tags = tagsFrom("If-None-Match", header);
  return tags === "*" || tags.includes(etag);
}

export function etagHeader(etag: string): string {
  return `"${etag}"`;
}
