import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** The part of a request that shows where it comes from. */
interface AddressedRequest {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: IncomingMessage["headers"];
}

/** The proxies that are trusted about where a request comes from. Addresses, or ranges such as `10.0.0.0/8`. */
export class TrustedProxies {
  readonly #list = new BlockList();
  readonly #isEmpty: boolean;

  constructor(proxies: readonly string[]) {
    this.#isEmpty = proxies.length === 0;
    for (const proxy of proxies) {
      const [address = "", prefix] = proxy.split("/");
      const family = familyOf(address);
      if (prefix === undefined) this.#list.addAddress(address, family);
      else this.#list.addSubnet(address, Number(prefix), family);
    }
  }

  /**
   * The address that a request is counted under: the last one in the chain that is not a proxy of ours. Everything
   * before it in `X-Forwarded-For` was written by the client itself. An IPv6 address counts by its /64, which is what
   * one client has.
   */
  clientOf({ socket, headers }: AddressedRequest): string {
    let client = plainAddress(socket.remoteAddress ?? "") ?? "";
    if (this.#isEmpty || !this.#has(client)) return countedAs(client);
    const forwarded = String(headers["x-forwarded-for"] ?? "").split(",");
    for (const entry of forwarded.reverse()) {
      const address = plainAddress(entry.trim());
      // A trusted proxy passed on something that is not an address, so that proxy is all that is known.
      if (address === undefined) break;
      client = address;
      if (!this.#has(client)) break;
    }
    return countedAs(client);
  }

  #has(address: string): boolean {
    return address !== "" && this.#list.check(address, familyOf(address));
  }
}

export function isAddressOrRange(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  if (isIP(address) === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIP(address) === 4 ? 32 : 128));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

/** One spelling for each address: without port and zone, and IPv4-mapped IPv6 as IPv4. */
function plainAddress(text: string): string | undefined {
  const bare = text.replace(/^\[(.*)\](:\d+)?$/, "$1").replace(/%.*$/, "");
  const address = isIP(bare) === 0 ? bare.replace(/:\d+$/, "") : bare;
  if (isIP(address) === 4) return address;
  if (isIP(address) === 0) return undefined;
  const ipv6 = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = ipv6.match(/^::ffff:([\da-f]+):([\da-f]+)$/) ?? [];
  if (high === undefined || low === undefined) return ipv6;
  return [high, low].flatMap((hex) => [Number.parseInt(hex, 16) >> 8, Number.parseInt(hex, 16) & 255]).join(".");
}

function countedAs(address: string): string {
  if (isIP(address) !== 6) return address;
  const [left = "", right] = address.split("::");
  const groups = left === "" ? [] : left.split(":");
  const tail = right ? right.split(":") : [];
  const zeros = right === undefined ? [] : new Array<string>(8 - groups.length - tail.length).fill("0");
  return [...groups, ...zeros, ...tail].slice(0, 4).join(":");
}
