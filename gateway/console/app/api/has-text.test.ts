import { describe, expect, it } from "vitest";
import { hasText } from "./has-text.ts";

describe("a search in names", () => {
  it.each([
    ["Éva Spärck Jones", "eva"],
    ["Éva Spärck Jones", "SPÄRCK"],
    ["Nguyễn Thị Minh", "nguyen thi"],
    ["さくら", "くら"],
    ["محمد", "محمد"],
  ])("finds %s by %s", (name, q) => expect(hasText(["someone@example.com", name], q)).toBe(true));

  it("finds nothing else", () => expect(hasText(["Éva", "eva@example.com"], "ada")).toBe(false));
});
