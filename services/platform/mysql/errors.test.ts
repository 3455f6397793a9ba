import { describe, expect, it } from "vitest";
import { databaseUnavailable, isConnectionLost, isDuplicateKey, isTransient, isUnknownDatabase } from "./errors.ts";

/** As mysql2 throws it: an error of the server has a positive errno, one of a socket a negative. */
function mysqlError(parts: { code?: string; errno?: number; sqlMessage?: string; fatal?: boolean }): Error {
  return Object.assign(new Error("mysql"), parts);
}

describe("isDuplicateKey", () => {
  it.each([
    ["MariaDB", "Duplicate entry 'x' for key 'presets_id'"],
    ["MySQL", "Duplicate entry 'x' for key 'presets.presets_id'"],
  ])("tells which index refused a row: %s", (_flavor, sqlMessage) => {
    const error = mysqlError({ errno: 1062, sqlMessage });
    expect(isDuplicateKey(error)).toBe(true);
    expect(isDuplicateKey(error, "presets_id")).toBe(true);
    expect(isDuplicateKey(error, "PRIMARY")).toBe(false);
  });

  it("is false for anything else", () => {
    expect(isDuplicateKey(mysqlError({ errno: 1213 }))).toBe(false);
    expect(isDuplicateKey(new Error("x"))).toBe(false);
  });
});

describe("isUnknownDatabase", () => {
  it("knows that one error", () => {
    expect(isUnknownDatabase(mysqlError({ errno: 1049 }))).toBe(true);
    expect(isUnknownDatabase(mysqlError({ errno: 1045 }))).toBe(false);
  });
});

describe("an error of the database", () => {
  it.each([
    ["a deadlock", { errno: 1213 }, { transient: true, lost: false }],
    ["a lock that was not given in time", { errno: 1205 }, { transient: true, lost: false }],
    ["too many connections", { errno: 1040 }, { transient: true, lost: true }],
    ["a server that shuts down", { errno: 1053 }, { transient: true, lost: true }],
    ["a connection that was killed", { errno: 1927 }, { transient: true, lost: true }],
    ["a server that became read-only", { errno: 1290 }, { transient: true, lost: true }],
    ["a connection that was lost", { code: "PROTOCOL_CONNECTION_LOST", fatal: true }, { transient: true, lost: true }],
    [
      "an unheard-of fatal error of the protocol",
      { code: "PROTOCOL_NEW", fatal: true },
      { transient: true, lost: true },
    ],
    ["a refused connection", { code: "ECONNREFUSED", errno: -111 }, { transient: true, lost: true }],
    ["a socket file that is not there", { code: "ENOENT", errno: -2 }, { transient: true, lost: true }],
    ["a broken pipe", { code: "EPIPE", errno: -32 }, { transient: true, lost: true }],
    ["a duplicate key", { errno: 1062 }, { transient: false, lost: false }],
    ["a table that is not there", { errno: 1146 }, { transient: false, lost: false }],
    ["a wrong password", { errno: 1045, fatal: true }, { transient: false, lost: false }],
    ["data that is too long", { errno: 1406 }, { transient: false, lost: false }],
    ["anything else", {}, { transient: false, lost: false }],
  ])("is sorted: %s", (_name, parts, expected) => {
    const error = mysqlError(parts);
    expect({ transient: isTransient(error), lost: isConnectionLost(error) }).toEqual(expected);
  });

  it("reaches a caller as unavailable, without its text", () => {
    const cause = mysqlError({ code: "ECONNREFUSED" });
    expect(databaseUnavailable(cause)).toMatchObject({
      kind: "unavailable",
      message: expect.not.stringContaining("mysql"),
      cause,
    });
  });
});
