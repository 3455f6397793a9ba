import { Code as ConnectCode } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { Code, codeName } from "./codes.ts";

it("has the same codes as Connect", () => {
  const theirs = Object.entries(ConnectCode).filter(([, code]) => typeof code === "number");
  expect(Code).toEqual(Object.fromEntries(theirs));
});

describe("codeName", () => {
  it.each([
    [undefined, "OK"],
    [Code.Internal, "INTERNAL"],
    [Code.InvalidArgument, "INVALID_ARGUMENT"],
    [Code.DeadlineExceeded, "DEADLINE_EXCEEDED"],
    [99, "UNKNOWN"],
  ])("names %s as gRPC does: %s", (code, name) => {
    expect(codeName(code)).toBe(name);
  });
});
