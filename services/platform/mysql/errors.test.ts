import { describe, expect, it } from "vitest";
import {
  ConnectionError,
  isCommitRefused,
  isConnectionLost,
  isDuplicateKey,
  isTransient,
  isUnknownDatabase,
} from "./errors.ts";

/** As thrown by mysql2: server errors have a positive errno, socket errors a negative one. */
function mysqlError(parts: { code?: string; errno?: number; sqlMessage?: string; fatal?: boolean }): Error {
  return Object.assign(new Error("mysql"), parts);
}

describe("isDuplicateKey", () => {
  it.each([
    ["MariaDB", "Duplicate entry 'x' for key 'presets_id'"],
    ["MySQL", "Duplicate entry 'x' for key 'presets.presets_id'"],
    ["Vitess with a minimal message", "(errno 1062) (sqlstate 23000)"],
  ])("recognizes a duplicate key whatever the message: %s", (_flavor, sqlMessage) => {
    expect(isDuplicateKey(mysqlError({ errno: 1062, sqlMessage }))).toBe(true);
  });

  it("is false for anything else", () => {
    expect(isDuplicateKey(mysqlError({ errno: 1213 }))).toBe(false);
    expect(isDuplicateKey(new Error("x"))).toBe(false);
  });
});

describe("isUnknownDatabase", () => {
  it("recognizes only that error", () => {
    expect(isUnknownDatabase(mysqlError({ errno: 1049 }))).toBe(true);
    expect(isUnknownDatabase(mysqlError({ errno: 1045 }))).toBe(false);
  });
});

describe("a database error", () => {
  it.each([
    ["a row that was changed since it was read", { errno: 1020 }, { transient: true, lost: false }],
    ["a deadlock", { errno: 1213 }, { transient: true, lost: false }],
    ["a table that was altered meanwhile", { errno: 1412 }, { transient: true, lost: false }],
    ["a lock timeout", { errno: 1205 }, { transient: true, lost: false }],
    ["too many connections", { errno: 1040 }, { transient: true, lost: true }],
    ["a server shutting down", { errno: 1053 }, { transient: true, lost: true }],
    ["a killed connection", { errno: 1927 }, { transient: true, lost: true }],
    ["a server that became read-only", { errno: 1290 }, { transient: true, lost: true }],
    ["a lost connection", { code: "PROTOCOL_CONNECTION_LOST", fatal: true }, { transient: true, lost: true }],
    ["an unknown fatal protocol error", { code: "PROTOCOL_NEW", fatal: true }, { transient: true, lost: true }],
    ["a refused connection", { code: "ECONNREFUSED", errno: -111 }, { transient: true, lost: true }],
    ["a missing socket file", { code: "ENOENT", errno: -2 }, { transient: true, lost: true }],
    ["a statement that is not answered", { code: "PROTOCOL_SEQUENCE_TIMEOUT" }, { transient: true, lost: true }],
    ["a broken pipe", { code: "EPIPE", errno: -32 }, { transient: true, lost: true }],
    ["a duplicate key", { errno: 1062 }, { transient: false, lost: false }],
    ["a missing table", { errno: 1146 }, { transient: false, lost: false }],
    ["a changed password", { errno: 1045, fatal: true }, { transient: true, lost: true }],
    ["data that is too long", { errno: 1406 }, { transient: false, lost: false }],
    ["anything else", {}, { transient: false, lost: false }],
  ])("is classified: %s", (_name, parts, expected) => {
    const error = mysqlError(parts);
    expect({ transient: isTransient(error), lost: isConnectionLost(error) }).toEqual(expected);
  });

  it.each([
    1021, 1030, 1040, 1041, 1045, 1047, 1053, 1077, 1105, 1114, 1129, 1152, 1158, 1159, 1160, 1161, 1180, 1203, 1226,
    1290, 1317, 1461, 1615, 1792, 1836, 1927, 1969, 2006, 2013, 3024, 3032, 3100, 3168, 4031,
  ])("is transient and loses the connection: %i", (errno) => {
    const error = mysqlError({ errno });
    expect({ transient: isTransient(error), lost: isConnectionLost(error) }).toEqual({ transient: true, lost: true });
  });

  it("is transient if it concerns the connection", () => {
    expect(isTransient(new ConnectionError("closed"))).toBe(true);
    expect(isTransient(new ConnectionError("no such name in the certificate", mysqlError({ code: "ERR_TLS" })))).toBe(
      true,
    );
  });
});

describe("a COMMIT error", () => {
  it.each([1205, 1213, 1290, 1792, 1836, 3101])("means that nothing was stored: %i", (errno) => {
    expect(isCommitRefused(mysqlError({ errno }))).toBe(true);
  });

  it.each([1021, 1030, 1040, 1045, 1047, 1053, 1105, 1114, 1158, 1180, 1203, 1317, 1927, 2006, 2013, 3100])(
    "leaves the outcome unknown: %i",
    (errno) => {
      expect(isCommitRefused(mysqlError({ errno }))).toBe(false);
    },
  );

  it("leaves the outcome unknown if the connection was lost", () => {
    expect(isCommitRefused(mysqlError({ code: "ECONNRESET", errno: -104 }))).toBe(false);
    expect(isCommitRefused(new ConnectionError("did not answer"))).toBe(false);
  });
});
