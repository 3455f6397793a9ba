import { describe, expect, it } from "vitest";
import { type ConfigError, type Environment, readConfig } from "../process/environment.ts";
import { readTracesConfig } from "./traces-config.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
const read = (environment: Environment) => readConfig(environment, readTracesConfig);

function faultsOf(environment: Environment): readonly string[] {
  try {
    read(environment);
    return [];
  } catch (error) {
    return (error as ConfigError).faults;
  }
}

describe("the traces configuration", () => {
  it("is off without an endpoint, whatever else is set", () => {
    expect(read({ OTEL_TRACES_SAMPLER: "always_on", OTEL_SERVICE_NAME: "mine" })).toBeUndefined();
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: " " })).toBeUndefined();
  });

  it("records all traces if only the endpoint is set", () => {
    expect(read(endpoint)).toEqual({
      url: "http://collector:4318/v1/traces",
      headers: {},
      sampler: "parentbased_always_on",
      samplerRatio: 1,
      serviceName: undefined,
      resourceAttributes: {},
      sendEveryMs: 5_000,
    });
  });

  it("appends to the path of the endpoint", () => {
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://example.com/otlp/" })?.url).toBe(
      "https://example.com/otlp/v1/traces",
    );
  });

  it("reads the standard variables", () => {
    expect(
      read({
        ...endpoint,
        OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
        OTEL_TRACES_SAMPLER_ARG: "0.01",
        OTEL_SERVICE_NAME: "presets",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=prod, team = a%2Cb ,",
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abc=,x-tenant=1",
      }),
    ).toMatchObject({
      sampler: "parentbased_traceidratio",
      samplerRatio: 0.01,
      serviceName: "presets",
      resourceAttributes: { "deployment.environment.name": "prod", team: "a,b" },
      headers: { authorization: "Bearer abc=", "x-tenant": "1" },
    });
  });

  it.each([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"],
    ["OTEL_TRACES_SAMPLER", "sometimes"],
    ["OTEL_TRACES_SAMPLER_ARG", "1.1"],
    ["OTEL_TRACES_SAMPLER_ARG", "-0.1"],
    ["OTEL_TRACES_SAMPLER_ARG", "half"],
    ["OTEL_RESOURCE_ATTRIBUTES", "no pair"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "=value"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=%zz"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a:b=c"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=b%0Ac"],
  ])("is invalid if %s is %s", (name, value) => {
    expect(faultsOf({ ...endpoint, [name]: value })).toEqual([expect.stringContaining(name)]);
  });

  it.each(["a=%zzsecret", "a=secret%0A", "secret:=a"])(
    "never repeats %s in an error: it may be a credential",
    (pair) => {
      const [fault] = faultsOf({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: pair });
      expect(fault).toMatch(/^OTEL_EXPORTER_OTLP_HEADERS must be/);
      expect(fault).not.toContain("secret");
    },
  );
});
