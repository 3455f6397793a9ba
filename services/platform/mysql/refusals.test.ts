import { describe, expect, it } from "vitest";
import { databaseUnavailable } from "./refusals.ts";

function mysqlError(parts: { code?: string; errno?: number }): Error {
  return Object.assign(new Error("mysql"), parts);
}

describe("a database that is out of reach", () => {
  it("reaches a caller as unavailable, without its text", () => {
    const cause = mysqlError({ code: "ECONNREFUSED" });
    expect(databaseUnavailable(cause)).toMatchObject({
      kind: "unavailable",
      message: expect.not.stringContaining("mysql"),
      cause,
    });
  });

  it.each([1021, 1114])("tells the log where the database has no room left: %i", (errno) => {
    const cause = mysqlError({ errno });
    expect(databaseUnavailable(cause)).toMatchObject({
      kind: "unavailable",
      cause: { message: expect.stringContaining("no room left"), cause },
    });
  });
});
