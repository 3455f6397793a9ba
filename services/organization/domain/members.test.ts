import { describe, expect, it } from "vitest";
import { emailKey, isEmail, newUserId } from "./members.ts";

describe("a user id", () => {
  it("is user_ and 27 letters and digits", () => {
    expect(newUserId()).toMatch(/^user_[A-Za-z0-9]{27}$/);
    expect(newUserId()).not.toBe(newUserId());
  });
});

describe("an e-mail address", () => {
  it.each([
    "a@b",
    "ada@example.com",
    "ada+x@example.com",
    "ada@münchen.example",
    `${"a".repeat(64)}@${"b".repeat(255)}`,
  ])("accepts %s", (text) => expect(isEmail(text)).toBe(true));

  it.each([
    "",
    "ada",
    "@b",
    "a@",
    "a@b@c",
    "a b@c",
    "a@b\n",
    "a@b\u0000",
    `${"a".repeat(65)}@${"b".repeat(255)}`,
    `${"İ".repeat(160)}@b`,
  ])("rejects %j", (text) => expect(isEmail(text)).toBe(false));

  it("ignores case, but not accents", () => {
    expect(emailKey("Ada@Example.COM")).toBe(emailKey("ada@example.com"));
    expect(emailKey("adá@example.com")).not.toBe(emailKey("ada@example.com"));
  });
});
