import { describe, expect, it } from "vitest";
import { timeoutMsFrom } from "./grpc-timeout.ts";

const dayMs = 24 * 3_600_000;

describe("grpc-timeout", () => {
  it.each([
    ["0n", 0],
    ["0H", 0],
    ["1n", 1],
    ["999999n", 1],
    ["1000001n", 2],
    ["1u", 1],
    ["1500u", 2],
    ["1m", 1],
    ["99999999m", dayMs],
    ["1S", 1_000],
    ["1M", 60_000],
    ["1H", 3_600_000],
    ["24H", dayMs],
    ["25H", dayMs],
    ["99999999H", dayMs],
    ["00000001S", 1_000],
  ])("%s is %i ms", (text, ms) => {
    expect(timeoutMsFrom(text)).toBe(ms);
  });

  it.each([
    "",
    "1",
    "m",
    "123456789m",
    "-1m",
    "+1m",
    "1.5S",
    "1 m",
    " 1m",
    "1m ",
    "1h",
    "1s",
    "0x1m",
    "1mm",
    "1m,1m",
    "1m\n",
  ])("rejects %o", (text) => {
    expect(timeoutMsFrom(text)).toBeUndefined();
  });
});
