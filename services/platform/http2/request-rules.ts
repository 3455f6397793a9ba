import type { Field } from "./header-table.ts";

const pseudoNames: readonly string[] = [":method", ":scheme", ":path", ":authority"];
/** They speak of one connection of HTTP/1.1. */
const forbiddenNames = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);

/** Whether these may be the headers of a request (RFC 9113, 8.2 and 8.3). */
export function isRequest(fields: readonly Field[]): boolean {
  const pseudo = new Set<string>();
  let isInside = false;
  for (const { name, value } of fields) {
    if (!name.startsWith(":")) {
      isInside = true;
      if (!isField(name, value)) return false;
      continue;
    }
    if (isInside || !pseudoNames.includes(name) || pseudo.has(name) || !isValue(value)) return false;
    pseudo.add(name);
    if (name === ":path" && value === "") return false;
  }
  return pseudo.has(":method") && pseudo.has(":scheme") && pseudo.has(":path");
}

/** Whether these may come after a message. */
export function areTrailers(fields: readonly Field[]): boolean {
  return fields.every(({ name, value }) => !name.startsWith(":") && isField(name, value));
}

function isField(name: string, value: string): boolean {
  if (!/^[!#$%&'*+\-.^_`|~\da-z]+$/.test(name) || !isValue(value) || forbiddenNames.has(name)) return false;
  return name !== "te" || value === "trailers";
}

function isValue(value: string): boolean {
  return !/[\0\r\n]/.test(value);
}

/** Where the message announces how long it is. NaN: it does not, or says it in a way that nobody can read. */
export function contentLength(fields: readonly Field[]): number {
  const value = fields.find(({ name }) => name === "content-length")?.value ?? "";
  return /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
}
