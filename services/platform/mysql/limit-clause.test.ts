import { describe, expect, it } from "vitest";
import { limitClause } from "./limit-clause.ts";

describe("limitClause", () => {
  it("writes integers into the statement", () => {
    expect(limitClause(50, 0)).toBe("LIMIT 50 OFFSET 0");
    expect(limitClause(100, 2_147_483_647)).toBe("LIMIT 100 OFFSET 2147483647");
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "1; DROP TABLE x" as unknown as number])(
    "rejects anything else: %s",
    (value) => {
      expect(() => limitClause(value, 0)).toThrow(RangeError);
      expect(() => limitClause(1, value)).toThrow(RangeError);
    },
  );
});
