import { expect, it } from "vitest";
import { fieldPath } from "./field-path.ts";

it.each([
  ["", "temperature", "temperature"],
  ["tools", 0, "tools[0]"],
  ["tools[0]", "name", "tools[0].name"],
  ["logit_bias", "50256", "logit_bias[50256]"],
  ["metadata", "x-trace_id", "metadata.x-trace_id"],
  ["metadata", "a.b", 'metadata["a.b"]'],
  ["metadata", 'say "hi"', 'metadata["say \\"hi\\""]'],
  ["metadata", "", 'metadata[""]'],
  ["", "a b", '["a b"]'],
  ["metadata", "k".repeat(80), `metadata.${"k".repeat(80)}`],
  ["metadata", "k".repeat(81), `metadata.${"k".repeat(80)}…`],
])("writes %j and %j as %s", (parent, key, path) => {
  expect(fieldPath(parent, key)).toBe(path);
});
