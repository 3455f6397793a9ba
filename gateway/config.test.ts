import { describe, expect, it } from "vitest";
import { ConfigError } from "../services/platform/process/environment.ts";
import { readGatewayConfig } from "./config.ts";

describe("the gateway's config", () => {
  it("has a default for everything", () => {
    expect(readGatewayConfig({})).toEqual({
      host: "0.0.0.0",
      logLevel: "info",
      drainTimeoutMs: 15_000,
      grpcTls: undefined,
      port: 8080,
      metricsPort: 9080,
      presetTarget: "localhost:50051",
      organizationTarget: "localhost:50052",
      bodyBytesMax: 10_485_760,
      requestTimeoutMs: 10_000,
      keyCacheMax: 10_000,
    });
  });

  it("names every fault at once", () => {
    const faulty = {
      PORT: "70000",
      METRICS_PORT: "x",
      BODY_BYTES_MAX: "1",
      REQUEST_TIMEOUT_MS: "-1",
      KEY_CACHE_MAX: "0",
    };
    expect(() => readGatewayConfig(faulty)).toThrow(ConfigError);
    expect(() => readGatewayConfig(faulty)).toThrow(
      /PORT.*METRICS_PORT.*BODY_BYTES_MAX.*REQUEST_TIMEOUT_MS.*KEY_CACHE_MAX/s,
    );
  });
});
