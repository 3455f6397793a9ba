/** What is sent to an upstream. */
export interface UpstreamRequest {
  readonly path: string;
  /** Alternating names and values, including Content-Length. */
  readonly headers: readonly string[];
  readonly parts: readonly Buffer[];
  readonly byteLength: number;
  /** Whether it must not use a connection that was used before. */
  readonly needsNewConnection: boolean;
}

const unsendable = /[^\t\x20-\x7e\x80-\xff]/;

/** The first bytes of a request, as Latin-1. Throws if a value contains a line end, or cannot be sent as it is. */
export function requestHead({ path, headers }: UpstreamRequest, host: string): string {
  let head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1] as string;
    if (unsendable.test(value)) throw new Error("A header cannot be sent");
    head += `${headers[at]}: ${value}\r\n`;
  }
  return `${head}\r\n`;
}
