import { expect, it } from "vitest";
import { nearest } from "./nearest.ts";

const words = ["organization", "name", "workspace", "expires-at", "key-id", "json"];

it.each([
  ["nam", "name"],
  ["naem", "name"],
  ["organisation", "organization"],
  ["org", "organization"],
  ["workspaces", "workspace"],
  ["expires_at", "expires-at"],
  ["id", "key-id"],
  ["x", undefined],
  ["permissions", undefined],
])("suggests for %s: %s", (given, meant) => {
  expect(nearest(given, words)).toBe(meant);
});
