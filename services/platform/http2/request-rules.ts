import { type Field, headerOf } from "./header-table.ts";

const pseudoNames: readonly string[] = [":method", ":scheme", ":path", ":authority"];

/** Whether these may be the headers of a request (RFC 9113, 8.3). */
export function isRequest(fields: readonly Field[]): boolean {
  const pseudo = new Set<string>();
  for (const [index, { name, value, isAllowed }] of fields.entries()) {
    if (!isAllowed) return false;
    if (!name.startsWith(":")) continue;
    // They come first, and each of them once.
    if (pseudo.size !== index || pseudo.has(name) || !pseudoNames.includes(name)) return false;
    if (name === ":path" && value === "") return false;
    pseudo.add(name);
  }
  return pseudo.has(":method") && pseudo.has(":scheme") && pseudo.has(":path");
}

/** Whether these may come after a message. */
export function areTrailers(fields: readonly Field[]): boolean {
  return fields.every(({ name, isAllowed }) => isAllowed && !name.startsWith(":"));
}

/** How long the message says that it is. NaN: it does not, or in a way that nobody can read. */
export function contentLength(fields: readonly Field[]): number {
  const value = headerOf(fields, "content-length") ?? "";
  return /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
}
