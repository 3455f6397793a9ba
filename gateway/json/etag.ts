import { invalidRequest } from "../../services/platform/domain/domain-error.ts";

/** An entity tag as it stands in a header. */
interface HeaderTag {
  readonly value: string;
  readonly isWeak: boolean;
}

const tagPattern = /^(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$/;
/** A comma inside the quotes belongs to the tag. */
const elementPattern = /(?:"[^"]*"|[^",])+/g;

/** `*` stands for any tag. */
function tagsFrom(name: string, header: string): "*" | HeaderTag[] {
  if (header.trim() === "*") return "*";
  return (header.match(elementPattern) ?? [""]).map((element) => {
    const match = element.trim().match(tagPattern);
    if (!match) {
      throw invalidRequest([{ path: name, message: 'must be the ETag of an earlier answer, with its quotes: "…"' }]);
    }
    return { value: match[2] as string, isWeak: match[1] !== undefined };
  });
}

/** The tags that `If-Match` allows, as the preset service takes them; undefined where any will do. */
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

/** A weak tag never matches here (RFC 9110, 13.1.1), and our own are strong. `*` and `-` mean something else to the service. */
function valuesOf(tags: readonly HeaderTag[]): string[] {
  return tags.map(({ value, isWeak }) => (isWeak || value === "*" || value === "-" ? "" : value));
}

/** Whether `If-None-Match` says that the caller has the current state already. */
export function isNotModified(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const tags = tagsFrom("If-None-Match", header);
  return tags === "*" || tags.some(({ value }) => value === etag);
}

export function etagHeader(etag: string): string {
  return `"${etag}"`;
}
