import { describe, expect, it } from "vitest";
import { NoConnectionFree } from "./errors.ts";
import { databaseUnavailable } from "./refusals.ts";

function mysqlError(parts: { code?: string; errno?: number }): Error {
  return Object.assign(new Error("mysql"), parts);
}

describe("an unreachable database", () => {
  it("is reported as unavailable, without its message", () => {
    const cause = mysqlError({ code: "ECONNREFUSED" });
    expect(databaseUnavailable(cause)).toMatchObject({
      kind: "unavailable",
      message: expect.not.stringContaining("mysql"),
      cause,
    });
  });

  it.each([1021, 1114])("is logged as full if it has no room left: %i", (errno) => {
    const cause = mysqlError({ errno });
    expect(databaseUnavailable(cause)).toMatchObject({
      kind: "unavailable",
      cause: { message: expect.stringContaining("no room left"), cause },
    });
  });
});

it("reports a database without a free connection as overloaded, with a time to try again", () => {
  const cause = new NoConnectionFree("Too many wait");
  expect(databaseUnavailable(cause)).toMatchObject({
    kind: "unavailable",
    reason: "OVERLOADED",
    retryAfterMs: 1_000,
    message: expect.stringContaining("overloaded"),
    cause,
  });
});
