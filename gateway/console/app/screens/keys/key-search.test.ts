import { describe, expect, it } from "vitest";
import { matchesSearch, withoutSecret } from "./key-search.ts";

describe("the key search", () => {
  const key = { name: "Checkout service", label: "sk-sp-v1-Qm3…x7d" };

  it.each(["checkout", "SERVICE", "qm3…x7d", "Lovelace", "sk-sp-v1-"])("finds a key by %s", (q) => {
    expect(matchesSearch(key, "Ada Lovelace", q)).toBe(true);
  });

  it("does not find other keys", () => {
    expect(matchesSearch(key, "Ada Lovelace", "grace")).toBe(false);
  });

  it("keeps only the label of a pasted key", () => {
    const secret = "sk-sp-v1-Qm3-Wq81_zTnVb4KcYh0RsLdEaPuXi6JgFo9MwCtD2vBx7d";
    const { label } = key;
    expect(withoutSecret(secret)).toBe(label);
    expect(withoutSecret(` Bearer ${secret}\n`)).toBe(` Bearer ${label}\n`);
  });

  it.each(["sk-sp-v1-", "sk-sp-v1-Qm3…x7d", "checkout sk-sp"])("leaves %s unchanged", (text) => {
    expect(withoutSecret(text)).toBe(text);
  });
});
