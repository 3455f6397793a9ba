import { describe, expect, it } from "vitest";
import { Connections } from "../upstreams/connections.ts";
import { Upstream } from "../upstreams/upstream.ts";
import { parseUpstreams, type UpstreamDefinition } from "../upstreams/upstreams-file.ts";
import { requestHeaders } from "./request-headers.ts";

const header = "x-openrouter-key";

/** The values of the header that an upstream with a credential in it receives. */
function sentTo(headers: object): string[] {
  const credential = { header, env: "KEY" };
  const entry = { name: "one", base_url: "http://a.test", dialects: ["messages"], models: ["*"], headers, credential };
  const [definition] = parseUpstreams(JSON.stringify({ upstreams: [entry] }));
  const upstream = new Upstream(definition as UpstreamDefinition, new Connections("http://a.test", 1_000), "secret");
  const sent = requestHeaders({ [header]: "of the client" }, upstream, 2, undefined);
  return sent.filter((_, index) => sent[index - 1] === header);
}

describe("a credential", () => {
  it.each([
    ["the client", {}],
    ["the operator", { [header]: "of the operator" }],
  ])("is sent alone, even if %s sets its header", (_who, headers) => {
    expect(sentTo(headers)).toEqual(["secret"]);
  });
});
