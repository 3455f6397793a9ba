import { describe, expect, it } from "vitest";
import { httpTimeouts } from "../services/platform/http/http-server.ts";
import { ConfigError } from "../services/platform/process/environment.ts";
import { readGatewayConfig } from "./config.ts";

describe("the gateway's config", () => {
  it("has a default for everything", () => {
    expect(readGatewayConfig({})).toEqual({
      host: "0.0.0.0",
      logLevel: "info",
      shutdownDelayMs: 0,
      drainTimeoutMs: 15_000,
      grpcTls: undefined,
      port: 8080,
      metricsPort: 9080,
      reusePort: false,
      presetTarget: "localhost:50051",
      organizationTarget: "localhost:50052",
      bodyBytesMax: 10_485_760,
      inferenceBodyBytesMax: 33_554_432,
      requestTimeoutMs: 10_000,
      upstreamsFile: undefined,
      keyCacheMax: 10_000,
      grantStaleMaxMs: 900_000,
      presetCacheBytesMax: 33_554_432,
      presetStaleMaxMs: 86_400_000,
      keyRateLimit: undefined,
      refusedKeyRateLimit: { perSecond: 10, burst: 100 },
      trustedProxies: [],
      keyRequestsMax: 1024,
      inFlightBytesMax: 67_108_864,
      publicOrigin: undefined,
      consoleFolder: expect.stringMatching(/gateway.console.dist$/),
      httpTimeouts,
    });
  });

  it("defaults the burst to one second of the rate", () => {
    expect(readGatewayConfig({ KEY_RATE_LIMIT: "5" }).keyRateLimit).toEqual({ perSecond: 5, burst: 5 });
    expect(readGatewayConfig({ KEY_RATE_LIMIT: "5", KEY_RATE_BURST: "9" }).keyRateLimit?.burst).toBe(9);
  });

  it("treats 0 as no limit", () => {
    const config = readGatewayConfig({ KEY_RATE_LIMIT: "0", REFUSED_KEY_RATE_LIMIT: "0" });
    expect([config.keyRateLimit, config.refusedKeyRateLimit]).toEqual([undefined, undefined]);
  });

  it("lets one key have at least one body of the maximum size in flight", () => {
    const mebibyte = 1024 * 1024;
    expect(readGatewayConfig({ BODY_BYTES_MAX: String(100 * mebibyte) }).inFlightBytesMax).toBe(200 * mebibyte);
    const inferenceOnly = { INFERENCE_BODY_BYTES_MAX: String(40 * mebibyte) };
    expect(readGatewayConfig(inferenceOnly).inFlightBytesMax).toBe(80 * mebibyte);
    expect(() => readGatewayConfig({ INFLIGHT_BYTES_MAX: String(63 * mebibyte) })).toThrow("INFLIGHT_BYTES_MAX");
    const small = { INFERENCE_BODY_BYTES_MAX: "1024", INFLIGHT_BYTES_MAX: String(32 * mebibyte) };
    expect(readGatewayConfig(small).inFlightBytesMax).toBe(32 * mebibyte);
  });

  it("accepts addresses and ranges of proxies", () => {
    const proxies = ["10.0.0.0/8", "::1", "fd00::/8"];
    expect(readGatewayConfig({ TRUSTED_PROXIES: proxies.join(" , ") }).trustedProxies).toEqual(proxies);
  });

  it.each(["proxy.example.com", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.1:80"])(
    "rejects %s as a proxy",
    (text) => {
      expect(() => readGatewayConfig({ TRUSTED_PROXIES: text })).toThrow("TRUSTED_PROXIES");
    },
  );

  it.each(["https://setpoint.example.com", "https://localhost:8443", "http://localhost:8080", "http://127.0.0.1"])(
    "accepts %s as the public origin",
    (text) => {
      expect(readGatewayConfig({ PUBLIC_ORIGIN: text }).publicOrigin).toBe(text);
      expect(readGatewayConfig({ PUBLIC_ORIGIN: `${text}/` }).publicOrigin).toBe(text);
    },
  );

  it.each(["http://setpoint.example.com", "https://a.example.com/console", "setpoint.example.com", "ftp://localhost"])(
    "rejects %s as the public origin",
    (text) => {
      expect(() => readGatewayConfig({ PUBLIC_ORIGIN: text })).toThrow("PUBLIC_ORIGIN");
    },
  );

  it.each(["http://preset:50051", "preset:50051:1", "preset:65536", ","])("rejects %s as a gRPC target", (target) => {
    for (const name of ["PRESET_GRPC_TARGET", "ORGANIZATION_GRPC_TARGET"])
      expect(() => readGatewayConfig({ [name]: target })).toThrow(`${name} is not right: `);
  });

  it("reports all errors at once", () => {
    const faulty = {
      PORT: "70000",
      METRICS_PORT: "x",
      BODY_BYTES_MAX: "1",
      REQUEST_TIMEOUT_MS: "-1",
      KEY_CACHE_MAX: "0",
      UPSTREAMS_FILE: "/none",
    };
    expect(() => readGatewayConfig(faulty)).toThrow(ConfigError);
    expect(() => readGatewayConfig(faulty)).toThrow(
      /PORT.*METRICS_PORT.*BODY_BYTES_MAX.*REQUEST_TIMEOUT_MS.*KEY_CACHE_MAX.*UPSTREAMS_FILE/s,
    );
  });
});
