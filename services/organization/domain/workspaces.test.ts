import { describe, expect, it } from "vitest";
import { checkWorkspace, slugFromName } from "./workspaces.ts";

const id = "0190a000-0000-7000-8000-00000000000a";

describe("the slug of a workspace", () => {
  it.each(["a", "0", "a-b", "a1-2b-c", "a".repeat(50), "0190a000-0000-7000-8000-00000000000"])("accepts %s", (slug) => {
    checkWorkspace({ slug });
  });

  it.each(["", "-", "a-", "-a", "a--b", "A", "a_b", "a.b", "ü", "a b", "a\n", "a".repeat(51), id])(
    "rejects %j",
    (slug) => {
      expect(() => checkWorkspace({ slug })).toThrow(
        expect.objectContaining({ violations: [expect.objectContaining({ path: "slug" })] }),
      );
    },
  );

  it.each([
    ["Default", "default"],
    ["  My  Team (EU)! ", "my-team-eu"],
    ["Größe", "gr-e"],
    ["日本", "workspace-0190a00000007000800000000000000a"],
    [id, "workspace-0190a00000007000800000000000000a"],
    [`${"y".repeat(49)} z`, "y".repeat(49)],
    ["x".repeat(255), "x".repeat(50)],
  ])("suggested for %j is %s", (name, slug) => {
    expect(slugFromName(name, id)).toBe(slug);
    checkWorkspace({ slug });
  });
});

describe("the name of a workspace", () => {
  it.each([
    ["x", true],
    ["😀".repeat(100), true],
    ["x".repeat(101), false],
    [" ", false],
    ["a\tb", false],
  ])("%j is allowed: %s", (name, isAllowed) => {
    const check = () => checkWorkspace({ name });
    if (isAllowed) check();
    else expect(check).toThrow(expect.objectContaining({ violations: [expect.objectContaining({ path: "name" })] }));
  });
});
