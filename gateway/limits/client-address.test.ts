import { describe, expect, it } from "vitest";
import { TrustedProxies } from "./client-address.ts";

function clientOf(proxies: string[], remoteAddress: string | undefined, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  return new TrustedProxies(proxies).clientOf({ socket: { remoteAddress }, headers });
}

describe("the address of a client", () => {
  it("is that of its connection, whatever the header says", () => {
    expect(clientOf([], "203.0.113.1", "198.51.100.1")).toBe("203.0.113.1");
    expect(clientOf(["10.0.0.0/8"], "203.0.113.1", "198.51.100.1")).toBe("203.0.113.1");
  });

  it.each([
    ["the last one that is not a trusted proxy", "198.51.100.1, 203.0.113.9, 10.1.1.1", "203.0.113.9"],
    ["not what the client wrote itself", "1.1.1.1, 2.2.2.2, 203.0.113.9", "203.0.113.9"],
    ["not a proxy named by the client", "10.9.9.9, 203.0.113.9", "203.0.113.9"],
    ["the first if all are proxies", "10.3.3.3, 10.2.2.2", "10.3.3.3"],
    ["the proxy if it says nothing", undefined, "10.0.0.1"],
    ["the proxy if it says nonsense", "unknown", "10.0.0.1"],
    ["the last known one if nonsense follows", "nonsense, 10.2.2.2", "10.2.2.2"],
    ["not what the client wrote before nonsense", "198.51.100.1, nonsense, 10.2.2.2", "10.2.2.2"],
    ["without its port", "203.0.113.9:5123", "203.0.113.9"],
    ["without the brackets and port of IPv6", "[2001:db8:1:2::9]:443", "2001:db8:1:2"],
  ])("is %s", (_name, forwarded, expected) => {
    expect(clientOf(["10.0.0.0/8"], "10.0.0.1", forwarded)).toBe(expected);
  });

  it("is read if the proxy's address is written differently", () => {
    expect(clientOf(["10.0.0.1"], "::ffff:10.0.0.1", "203.0.113.9")).toBe("203.0.113.9");
    expect(clientOf(["::1"], "0:0:0:0:0:0:0:1", "203.0.113.9")).toBe("203.0.113.9");
    expect(clientOf(["fd00::/8"], "fd12::1", "203.0.113.9")).toBe("203.0.113.9");
  });

  it.each([
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:c000:201", "192.0.2.1"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:DB8:0:0:ffff::1", "2001:db8:0:0"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["::1", "0:0:0:0"],
    [undefined, ""],
  ])("counts %s as %s", (address, expected) => {
    expect(clientOf([], address)).toBe(expected);
  });
});
