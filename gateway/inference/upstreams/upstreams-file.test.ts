import { describe, expect, it } from "vitest";
import { parseUpstreams, UpstreamsFileError } from "./upstreams-file.ts";

const good = { name: "a", base_url: "https://example.com/v1", dialects: ["messages"], models: ["*"] };

function faults(upstream: object, others: readonly object[] = []): string[] {
  try {
    parseUpstreams(JSON.stringify({ upstreams: [upstream, ...others] }));
    return [];
  } catch (error) {
    if (!(error instanceof UpstreamsFileError)) throw error;
    return error.violations.map(({ path, message }) => `${path} ${message}`);
  }
}

describe("an upstreams file", () => {
  it("has defaults for optional fields", () => {
    const [upstream] = parseUpstreams(JSON.stringify({ upstreams: [good] }));
    expect(upstream).toMatchObject({
      stripPrefix: "",
      headers: {},
      credential: undefined,
      concurrencyMax: undefined,
      hasNativeFallbacks: false,
      mayRetryAny: false,
      timeouts: {
        connectMs: 5_000,
        firstByteMs: 600_000,
        firstByteStreamedMs: 120_000,
        betweenChunksMs: 300_000,
        totalMs: 1_800_000,
        clientReadMs: 60_000,
      },
    });
  });

  it("may set timeouts for all and for one", () => {
    const [a, b] = parseUpstreams(
      JSON.stringify({
        timeouts: { connect_ms: 1, total_ms: 2 },
        upstreams: [
          { ...good, timeouts: { connect_ms: 3 } },
          { ...good, name: "b" },
        ],
      }),
    );
    expect([a?.timeouts.connectMs, a?.timeouts.totalMs, b?.timeouts.connectMs]).toEqual([3, 2, 1]);
  });

  it("sends a credential as a bearer token by default", () => {
    const of = (credential: object) =>
      parseUpstreams(JSON.stringify({ upstreams: [{ ...good, credential }] }))[0]?.credential;
    expect(of({ env: "A" })).toMatchObject({ header: "authorization", prefix: "Bearer " });
    expect(of({ env: "A", header: "X-Api-Key" })).toMatchObject({ header: "x-api-key", prefix: "" });
    expect(of({ env: "A", prefix: "" })).toMatchObject({ header: "authorization", prefix: "" });
  });

  it.each<[object, string]>([
    [{ name: undefined }, "upstreams[0].name is required"],
    [{ name: "a b" }, "upstreams[0].name must be lower-case letters, digits, dots, dashes and underscores, at most 63"],
    [{ base_url: "example.com" }, "upstreams[0].base_url must be a URL such as https://api.openai.com/v1"],
    [{ base_url: "file:///etc/passwd" }, "upstreams[0].base_url must start with https:// or http://"],
    [{ base_url: "http://u:p@x" }, "upstreams[0].base_url must hold no user name and no password: use credential"],
    [
      { base_url: "https://x/v1/chat/completions/" },
      "upstreams[0].base_url must end before /chat/completions, which is appended to it",
    ],
    [
      { base_url: "https://x/v1/messages?a=b" },
      "upstreams[0].base_url must end before /messages, which is appended to it",
    ],
    [{ base_url: "http://x/#a" }, "upstreams[0].base_url must have nothing behind a #"],
    [
      { models: ["a*b"] },
      'upstreams[0].models[0] must be the name of a model, the beginning of one and a star such as "openai/*", or "*"',
    ],
    [
      { models: ["openai/"] },
      'upstreams[0].models[0] must be the name of a model, the beginning of one and a star such as "openai/*", or "*"',
    ],
    [
      { models: ["openai/*"], strip_prefix: "openai" },
      "upstreams[0].strip_prefix must be a prefix such as openai/, with its slash and without a star",
    ],
    [
      { models: ["*"], strip_prefix: "openai/*" },
      "upstreams[0].strip_prefix must be a prefix such as openai/, with its slash and without a star",
    ],
    [{ dialects: ["chat"] }, "upstreams[0].dialects[0] must be one of chat/completions, messages, responses"],
    [{ headers: { Host: "x" } }, "upstreams[0].headers.Host may not be set: leave it out"],
    [{ headers: { "Content-Length": "1" } }, "upstreams[0].headers.Content-Length may not be set: leave it out"],
    [{ headers: { a: "b\r\nc: d" } }, "upstreams[0].headers.a must be one line of ASCII"],
    [{ headers: { "X-A": "1", "x-a": "2" } }, "upstreams[0].headers.x-a must be given only once"],
    [
      { credential: {} },
      "upstreams[0].credential must have either env, the name of a variable, or file, the path of a file",
    ],
    [
      { credential: { env: "A", file: "b" } },
      "upstreams[0].credential must have either env, the name of a variable, or file, the path of a file",
    ],
    [
      { credential: { env: "A", header: "host" } },
      "upstreams[0].credential.header must be a header such as authorization or x-api-key",
    ],
    [
      { credential: { value: "secret" } },
      "upstreams[0].credential.value is not a known field: there are header, prefix, env, file",
    ],
    [
      { timeouts: { connect: 1 } },
      "upstreams[0].timeouts.connect is not a known field: there are connect_ms, first_byte_ms, first_byte_streamed_ms, between_chunks_ms, total_ms, client_read_ms",
    ],
    [{ concurrency_max: 0 }, "upstreams[0].concurrency_max must be at least 1"],
    [{ fallbacks: "all" }, "upstreams[0].fallbacks must be one of native, gateway"],
    [{ retry: "all" }, "upstreams[0].retry must be one of safe, any"],
  ])("rejects %j and says what to write", (change, fault) => {
    expect(faults({ ...good, ...change })).toEqual([fault]);
  });

  it("rejects duplicate names and duplicate members", () => {
    expect(faults(good, [good])).toEqual(["upstreams[1].name must be different from the names before it"]);
    expect(() => parseUpstreams('{"upstreams": [], "upstreams": []}')).toThrow(UpstreamsFileError);
    const twice = JSON.stringify({ upstreams: [good] }).replace('"base_url"', '"base_url":"http://b/v1","base_url"');
    expect(() => parseUpstreams(twice)).toThrow("upstreams[0].base_url must be given only once");
    expect(() => parseUpstreams('{"upstreams": [{"name": "sk-secret}')).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining("sk-secret") }),
    );
  });
});
