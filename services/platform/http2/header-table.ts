export interface Field {
  readonly name: string;
  readonly value: string;
  /** Whether a message may have it (RFC 9113, 8.2): checked once, however often it is referred to by index. */
  readonly isAllowed: boolean;
}

/** Headers that describe a single HTTP/1.1 connection. */
const forbiddenNames = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);

export function newField(name: string, value: string): Field {
  const isAllowed =
    /^:?[!#$%&'*+\-.^_`|~\da-z]+$/.test(name) &&
    !/[\0\r\n]/.test(value) &&
    !forbiddenNames.has(name) &&
    (name !== "te" || value === "trailers");
  return { name, value, isAllowed };
}

/** Roughly what they take in memory. */
export function headerBytes(fields: readonly Field[]): number {
  let bytes = 0;
  for (const field of fields) bytes += bytesOf(field);
  return bytes;
}

/** The first of that name. */
export function headerOf(fields: readonly Field[], name: string): string | undefined {
  for (const field of fields) if (field.name === name) return field.value;
  return undefined;
}

/** The size of a field in addition to its text, as defined by RFC 7541. */
const fieldOverhead = 32;

export function bytesOf({ name, value }: Field): number {
  return name.length + value.length + fieldOverhead;
}

/** Fields that both sides know from the beginning, from index 1 on (RFC 7541, A). */
export const staticTable: readonly Field[] = [
  ":authority",
  ":method GET",
  ":method POST",
  ":path /",
  ":path /index.html",
  ":scheme http",
  ":scheme https",
  ":status 200",
  ":status 204",
  ":status 206",
  ":status 304",
  ":status 400",
  ":status 404",
  ":status 500",
  "accept-charset",
  "accept-encoding gzip, deflate",
  "accept-language",
  "accept-ranges",
  "accept",
  "access-control-allow-origin",
  "age",
  "allow",
  "authorization",
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-range",
  "content-type",
  "cookie",
  "date",
  "etag",
  "expect",
  "expires",
  "from",
  "host",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "last-modified",
  "link",
  "location",
  "max-forwards",
  "proxy-authenticate",
  "proxy-authorization",
  "range",
  "referer",
  "refresh",
  "retry-after",
  "server",
  "set-cookie",
  "strict-transport-security",
  "transfer-encoding",
  "user-agent",
  "vary",
  "via",
  "www-authenticate",
].map((text) => {
  const end = text.indexOf(" ");
  return end < 0 ? newField(text, "") : newField(text.slice(0, end), text.slice(end + 1));
});

/** The fields that the peer has sent before, and may refer to by index: the newest is the first. */
export class DynamicTable {
  readonly #bytesLimit: number;
  #bytesMax: number;
  #bytes = 0;
  /** Oldest first; undefined if evicted. */
  #fields: (Field | undefined)[] = [];
  #gone = 0;

  constructor(bytesMax: number) {
    this.#bytesLimit = bytesMax;
    this.#bytesMax = bytesMax;
  }

  /** By its index in this table, from 0 on. */
  find(index: number): Field | undefined {
    return this.#fields[this.#fields.length - 1 - index];
  }

  /** A field that is larger than the whole table empties it. */
  add(field: Field): void {
    this.#bytes += bytesOf(field);
    this.#fields.push(field);
    this.#shrink();
  }

  /** Returns whether it may be so large. */
  resize(bytesMax: number): boolean {
    if (bytesMax > this.#bytesLimit) return false;
    this.#bytesMax = bytesMax;
    this.#shrink();
    return true;
  }

  #shrink(): void {
    while (this.#bytes > this.#bytesMax) {
      this.#bytes -= bytesOf(this.#fields[this.#gone] as Field);
      // Released before their places are: they may be much larger than the table.
      this.#fields[this.#gone] = undefined;
      this.#gone += 1;
    }
    // Rarely, so that moving the rest costs little per added field.
    if (this.#gone < 64 || this.#gone * 2 < this.#fields.length) return;
    this.#fields = this.#fields.slice(this.#gone);
    this.#gone = 0;
  }
}
