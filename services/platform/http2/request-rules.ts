import { type Field, headerOf } from "./header-table.ts";

const pseudoNames: readonly string[] = [":method", ":scheme", ":path", ":authority"];

/** Whether these may be the headers of a request (RFC 9113, 8.3). */
export function isRequest(fields: readonly Field[]): boolean {
  const pseudo = new Set<string>();
  for (const [index, { name, value, isAllowed }] of fields.entries()) {
    if (!isAllowed) return false;
    if (!name.startsWith(":")) continue;
    // Pseudo-headers come first, and each of them once.
    if (pseudo.size !== index || pseudo.has(name) || !pseudoNames.includes(name)) return false;
    if ((name === ":path" && value === "") || (name === ":method" && value === "CONNECT")) return false;
    pseudo.add(name);
  }
  if (!isLengthClear(fields)) return false;
  return pseudo.has(":method") && pseudo.has(":scheme") && pseudo.has(":path");
}

/** Whether these may come after a message. */
export function areTrailers(fields: readonly Field[]): boolean {
  return fields.every(({ name, isAllowed }) => isAllowed && !name.startsWith(":"));
}

function isLengthClear(fields: readonly Field[]): boolean {
  const first = headerOf(fields, "content-length");
  if (first === undefined) return true;
  return /^\d{1,15}$/.test(first) && fields.every(({ name, value }) => name !== "content-length" || value === first);
}

/** The announced length of a request; NaN if there is none. */
export function contentLength(fields: readonly Field[]): number {
  return Number(headerOf(fields, "content-length") ?? Number.NaN);
}
