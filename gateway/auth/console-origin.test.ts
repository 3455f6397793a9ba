import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it } from "vitest";
import { ConsoleOrigin } from "./console-origin.ts";

const here = new ConsoleOrigin(undefined);
const published = new ConsoleOrigin("https://setpoint.example");
const json = { "content-type": "application/json", "x-setpoint-console": "1" };
const own = { host: "localhost:8080", "sec-fetch-site": "same-origin" };

describe("the name of the cookie", () => {
  it.each<[string, string | undefined, IncomingHttpHeaders, string | undefined]>([
    ["at the public origin", "https://setpoint.example", { host: "10.0.0.1" }, "__Host-setpoint-session"],
    ["on this machine", undefined, { host: "localhost:8080" }, "setpoint-session"],
    ["on this machine, by its address", undefined, { host: "127.0.0.2:8080" }, "setpoint-session"],
    ["on this machine, from its page", undefined, { host: "[::1]:1", origin: "http://[::1]:1" }, "setpoint-session"],
    ["at another address in clear text", undefined, { host: "10.0.0.1:8080" }, undefined],
    ["at a name like an address", undefined, { host: "127.0.0.1.example" }, undefined],
    ["behind a proxy that hides its own", undefined, { host: "localhost", origin: "http://a.example" }, undefined],
    ["at a public origin in clear text", "http://setpoint.example", { host: "setpoint.example" }, undefined],
    ["without a host", undefined, {}, undefined],
  ])("%s", (_where, publicOrigin, headers, name) => {
    expect(new ConsoleOrigin(publicOrigin).cookieNameFor(headers)).toBe(name);
  });
});

describe("a request", () => {
  it.each<[string, ConsoleOrigin, string, IncomingHttpHeaders]>([
    ["that reads", here, "GET", own],
    ["that reads, in a browser that sends only its origin", here, "GET", { host: "[::1]", origin: "http://[::1]" }],
    ["that reads at the public origin", published, "HEAD", { origin: "https://setpoint.example" }],
    ["that changes something", here, "POST", { ...own, ...json }],
    ["that names its charset", here, "POST", { ...own, ...json, "content-type": "Application/JSON; charset=utf-8" }],
    ["that changes something without a body", here, "DELETE", { ...own, "x-setpoint-console": "1" }],
  ])("%s is the console's own", (_what, origin, method, headers) => {
    expect(origin.isOwnRequest({ method, headers })).toBe(true);
  });

  it.each<[string, ConsoleOrigin, string, IncomingHttpHeaders]>([
    ["of another site", here, "GET", { ...own, "sec-fetch-site": "cross-site" }],
    ["of another port of this machine", here, "GET", { ...own, "sec-fetch-site": "same-site" }],
    ["that the user typed", here, "GET", { ...own, "sec-fetch-site": "none" }],
    ["of another origin", here, "GET", { host: "localhost:8080", origin: "http://localhost:8081" }],
    ["of another origin than the public one", published, "GET", { host: "localhost", origin: "http://localhost" }],
    ["that tells nothing", here, "GET", { host: "localhost:8080" }],
    ["that tells nothing, at another address", here, "GET", { host: "10.0.0.1" }],
    ["that changes something without the header", here, "POST", { ...own, "content-type": "application/json" }],
    ["that deletes without the header", here, "DELETE", own],
    ["of a form", here, "POST", { ...own, ...json, "content-type": "text/plain" }],
    ["of a type that only begins like JSON", here, "POST", { ...own, ...json, "content-type": "application/jsonx" }],
    ["with a body of no type", here, "POST", { ...own, "x-setpoint-console": "1", "content-length": "2" }],
    [
      "with a chunked body of no type",
      here,
      "POST",
      { ...own, "x-setpoint-console": "1", "transfer-encoding": "chunked" },
    ],
  ])("%s is not", (_what, origin, method, headers) => {
    expect(origin.isOwnRequest({ method, headers })).toBe(false);
  });
});
