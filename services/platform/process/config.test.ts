import { describe, expect, it } from "vitest";
import { readProcessConfig } from "./config.ts";
import { ConfigError, type Environment, type EnvironmentReader, readConfig } from "./environment.ts";

function faultsOf(environment: Environment, read: (reader: EnvironmentReader) => unknown): readonly string[] {
  try {
    readConfig(environment, read);
    return [];
  } catch (error) {
    return (error as ConfigError).faults;
  }
}

describe("readConfig", () => {
  it("uses the default for what is missing or empty", () => {
    const environment = { SET: " value ", EMPTY: "", BLANK: "  " };
    const config = readConfig(environment, (reader) =>
      ["SET", "EMPTY", "BLANK", "ABSENT"].map((name) => reader.text(name, "default")),
    );
    expect(config).toEqual(["value", "default", "default", "default"]);
  });

  it("reports all errors together, one per line", () => {
    const read = (reader: EnvironmentReader) => [reader.required("A", "for a"), reader.port("B", 1)];
    expect(() => readConfig({ B: "x" }, read)).toThrow(ConfigError);
    expect(() => readConfig({ B: "x" }, read)).toThrow(
      `The configuration is not valid:
  - A is required: for a
  - B must be a whole number from 0 to 65535, not "x"`,
    );
  });

  it.each(["0", "10", "007"])("accepts %s as an integer from 0 to 10", (value) => {
    const read = (reader: EnvironmentReader) => reader.integer("N", { default: 5, min: 0, max: 10 });
    expect(readConfig({ N: value }, read)).toBe(Number(value));
  });

  it.each(["-1", "11", "1.5", "1e1", "0x1", "ten", "1 0", "9".repeat(16)])(
    "rejects %s as an integer from 0 to 10",
    (value) => {
      const faults = faultsOf({ N: value }, (reader) => reader.integer("N", { default: 5, min: 0, max: 10 }));
      expect(faults).toEqual([`N must be a whole number from 0 to 10, not "${value}"`]);
    },
  );

  it("accepts only known values in their exact spelling", () => {
    const read = (reader: EnvironmentReader) => reader.oneOf("V", ["a", "b"], "b");
    expect([readConfig({ V: "a" }, read), readConfig({}, read)]).toEqual(["a", "b"]);
    expect(faultsOf({ V: "A" }, read)).toEqual(['V must be one of a, b, not "A"']);
  });

  it.each(["ftp://host", "host", "mysql:/", "//host"])("rejects %s as a URL without showing it", (value) => {
    const faults = faultsOf({ U: value }, (reader) => reader.optionalUrl("U", ["http:", "https:"]));
    expect(faults).toEqual(["U must be a URL that starts with http:// or https://"]);
  });

  it("accepts a URL unchanged, or none", () => {
    const read = (reader: EnvironmentReader) => reader.optionalUrl("U", ["http:"]);
    expect([readConfig({ U: "http://a/b" }, read), readConfig({}, read)]).toEqual(["http://a/b", undefined]);
  });
});

describe("readProcessConfig", () => {
  it("has a default for everything", () => {
    expect(readConfig({}, readProcessConfig)).toEqual({
      host: "0.0.0.0",
      logLevel: "info",
      shutdownDelayMs: 0,
      drainTimeoutMs: 15_000,
      grpcTls: undefined,
    });
  });

  it("accepts all three TLS files, or none", () => {
    const file = import.meta.filename;
    const files = { GRPC_TLS_CERT_FILE: file, GRPC_TLS_KEY_FILE: file, GRPC_TLS_CA_FILE: file };
    expect(readConfig(files, readProcessConfig).grpcTls).toEqual({
      mode: "strict",
      certificateFile: file,
      privateKeyFile: file,
      caCertificateFile: file,
    });
    expect(faultsOf({ ...files, GRPC_TLS_CA_FILE: "" }, readProcessConfig)).toHaveLength(1);
  });

  it("rejects a TLS mode without the files, which would be clear text", () => {
    expect(faultsOf({ GRPC_TLS_MODE: "strict" }, readProcessConfig)).toEqual([
      expect.stringMatching(/^GRPC_TLS_MODE needs GRPC_TLS_CERT_FILE/),
    ]);
  });

  it("rejects TLS files that cannot be read", () => {
    const none = { GRPC_TLS_CERT_FILE: "/none/c", GRPC_TLS_KEY_FILE: "/none/k", GRPC_TLS_CA_FILE: "/none/a" };
    expect(faultsOf(none, readProcessConfig)).toEqual([
      expect.stringMatching(/^GRPC_TLS_CERT_FILE names a file that cannot be read: ENOENT.*none\/c/),
      expect.stringMatching(/^GRPC_TLS_KEY_FILE names .*none\/k/),
      expect.stringMatching(/^GRPC_TLS_CA_FILE names .*none\/a/),
    ]);
  });
});
