import { describe, expect, it } from "vitest";
import { readConfig } from "../process/environment.ts";
import { connectionOptions, protocolOf, readDatabaseUrl, sessionStatements } from "./database-url.ts";

const plain = "mysql://user:secret@db.example.com/setpoint";

describe("a database URL", () => {
  it("without TLS parameters is used unchanged", () => {
    expect(connectionOptions(`${plain}?socketPath=/a.sock`)).toEqual({ uri: `${plain}?socketPath=%2Fa.sock` });
    expect(connectionOptions(`${plain}?ssl-mode=DISABLED`)).toEqual({ uri: plain });
  });

  it.each(["ssl-mode=VERIFY_IDENTITY", "ssl-mode=REQUIRED", "ssl=true", "ssl={}"])(
    "with TLS verifies the host name: %s",
    (parameter) => {
      expect(connectionOptions(`${plain}?${parameter}`)).toEqual({ uri: plain, ssl: { verifyIdentity: true } });
    },
  );

  it("keeps TLS options in mysql2's own format", () => {
    const ssl = encodeURIComponent('{"minVersion":"TLSv1.3"}');
    expect(connectionOptions(`${plain}?ssl=${ssl}`).ssl).toEqual({ verifyIdentity: true, minVersion: "TLSv1.3" });
  });

  it("may make each session wait for the other cluster nodes", () => {
    expect(connectionOptions(`${plain}?wsrep-sync-wait=1`)).toEqual({ uri: plain });
    expect(sessionStatements(`${plain}?wsrep-sync-wait=1`)).toEqual(["SET SESSION wsrep_sync_wait = 1"]);
    expect(sessionStatements(plain)).toEqual([]);
  });

  it("may select the text protocol, for Vitess", () => {
    expect(connectionOptions(`${plain}?protocol=text`)).toEqual({ uri: plain });
    expect([plain, `${plain}?protocol=prepared`, `${plain}?protocol=text`].map(protocolOf)).toEqual([
      "prepared",
      "prepared",
      "text",
    ]);
  });

  it("inherits the process's common parameters unless it sets them itself", () => {
    const read = (url: string, parameters: string) =>
      readConfig({ DATABASE_URL: url, DATABASE_URL_PARAMETERS: parameters }, (reader) =>
        readDatabaseUrl(reader, "DATABASE_URL", "where"),
      );
    expect(read(plain, "")).toBe(plain);
    expect(read(plain, "protocol=text&wsrep-sync-wait=1")).toBe(`${plain}?protocol=text&wsrep-sync-wait=1`);
    expect(read(`${plain}?protocol=prepared`, "protocol=text")).toBe(`${plain}?protocol=prepared`);
    expect(() => read(plain, "protocol=binary")).toThrow("protocol must be prepared or text");
  });

  it.each(["#", "/", "?"])("with a raw %s in its password is rejected with advice, without showing it", (mark) => {
    const url = `mysql://user:sec${mark}ret@db.example.com/setpoint`;
    const read = () => readConfig({ DATABASE_URL: url }, (reader) => readDatabaseUrl(reader, "DATABASE_URL", "where"));
    expect(read).toThrow("DATABASE_URL must be a URL that starts with mysql://, and of which all can be read");
    expect(read).toThrow("special characters of a password are percent-encoded");
    expect(read).not.toThrow("sec");
  });

  it("accepts an encoded password, a socket and parameters of other drivers", () => {
    const read = (url: string) =>
      readConfig({ DATABASE_URL: url }, (reader) => readDatabaseUrl(reader, "DATABASE_URL", "where"));
    for (const url of [
      "mysql://user:%23%2F%25@db/setpoint",
      "mysql://root@localhost/setpoint?socketPath=%2Fa.sock",
      "mysql://root@localhost/setpoint?charset=utf8mb4&parseTime=true",
    ])
      expect(read(url)).toBe(url);
  });

  it.each([
    [`${plain}?ssl-ca=/nonexistent.pem`, "ssl-ca cannot be read: ENOENT"],
    [`${plain}?ssl=Amazon%20RDS`, "ssl must be true or an object"],
    [`${plain}?ssl=%5B%5D`, "ssl must be true or an object"],
    [`${plain}?wsrep-sync-wait=16`, "wsrep-sync-wait must be 0 to 15"],
    [`${plain}?wsrep-sync-wait=`, "wsrep-sync-wait must be 0 to 15"],
    [`${plain}?protocol=binary`, "protocol must be prepared or text"],
    [`${plain}?sslMode=VERIFY_IDENTITY`, "parameter sslMode is not known; TLS is asked for with ssl-mode, ssl-ca"],
    [`${plain}?tls=true`, "parameter tls is not known"],
    ["mysql://user:secret@db.example.com", "must name a host and a database"],
    ["mysql://user:secret@db.example.com/", "must name a host and a database"],
    ["mysql:///setpoint", "must name a host and a database"],
    ["mysql:user:secret@db.example.com/setpoint", "must name a host and a database"],
    ["mysql://user:100%secret@db.example.com/setpoint", "must be written as %25"],
    ["mysql://user:secret@10.0.0.1/x?ssl=true", "not an IP address"],
    ["mysql://user:secret@[::1]/x?ssl-mode=REQUIRED", "not an IP address"],
  ])("is rejected with the reason, without its password: %s", (url, fault) => {
    const read = () => readConfig({ DATABASE_URL: url }, (reader) => readDatabaseUrl(reader, "DATABASE_URL", "where"));
    expect(read).toThrow(`DATABASE_URL is not right: `);
    expect(read).toThrow(fault);
    expect(read).not.toThrow("secret");
  });
});
