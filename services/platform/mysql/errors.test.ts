import { describe, expect, it } from "vitest";
import {
  ConnectionError,
  isCommitRefused,
  isConnectionLost,
  isDuplicateKey,
  isTransient,
  isUnknownDatabase,
} from "./errors.ts";

/** As mysql2 throws it: an error of the server has a positive errno, one of a socket a negative. */
function mysqlError(parts: { code?: string; errno?: number; sqlMessage?: string; fatal?: boolean }): Error {
  return Object.assign(new Error("mysql"), parts);
}

describe("isDuplicateKey", () => {
  it.each([
    ["MariaDB", "Duplicate entry 'x' for key 'presets_id'"],
    ["MySQL", "Duplicate entry 'x' for key 'presets.presets_id'"],
    ["Vitess that tells no more than it must", "(errno 1062) (sqlstate 23000)"],
  ])("tells that an index refused a row, whatever the message: %s", (_flavor, sqlMessage) => {
    expect(isDuplicateKey(mysqlError({ errno: 1062, sqlMessage }))).toBe(true);
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
    ["a password that was changed", { errno: 1045, fatal: true }, { transient: true, lost: true }],
    ["data that is too long", { errno: 1406 }, { transient: false, lost: false }],
    ["anything else", {}, { transient: false, lost: false }],
  ])("is sorted: %s", (_name, parts, expected) => {
    const error = mysqlError(parts);
    expect({ transient: isTransient(error), lost: isConnectionLost(error) }).toEqual(expected);
  });

  it.each([
    1021, 1040, 1041, 1045, 1047, 1053, 1077, 1105, 1114, 1129, 1152, 1158, 1159, 1160, 1161, 1180, 1203, 1226, 1290,
    1317, 1461, 1615, 1792, 1836, 1927, 1969, 2006, 2013, 3024, 3032, 3100, 3168, 4031,
  ])("belongs to the life of a database, and is no fault of ours: %i", (errno) => {
    const error = mysqlError({ errno });
    expect({ transient: isTransient(error), lost: isConnectionLost(error) }).toEqual({ transient: true, lost: true });
  });

  it("is transient wherever it is about a connection of ours", () => {
    expect(isTransient(new ConnectionError("closed"))).toBe(true);
    expect(isTransient(new ConnectionError("no such name in the certificate", mysqlError({ code: "ERR_TLS" })))).toBe(
      true,
    );
  });
});

describe("an error of a COMMIT", () => {
  it.each([1205, 1213, 1290, 1792, 1836, 3101])("says that nothing was stored: %i", (errno) => {
    expect(isCommitRefused(mysqlError({ errno }))).toBe(true);
  });

  it.each([1021, 1040, 1045, 1047, 1053, 1105, 1114, 1158, 1180, 1203, 1317, 1927, 2006, 2013, 3100])(
    "leaves open whether it was stored: %i",
    (errno) => {
      expect(isCommitRefused(mysqlError({ errno }))).toBe(false);
    },
  );

  it("leaves that open where the connection was lost", () => {
    expect(isCommitRefused(mysqlError({ code: "ECONNRESET", errno: -104 }))).toBe(false);
    expect(isCommitRefused(new ConnectionError("did not answer"))).toBe(false);
  });
});
