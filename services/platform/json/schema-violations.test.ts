import { Ajv, type SchemaObject } from "ajv";
import { describe, expect, it } from "vitest";
import { violationsFrom } from "./schema-violations.ts";

function violationsOf(schema: SchemaObject, value: unknown) {
  const validate = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true }).compile(schema);
  validate(value);
  return violationsFrom(validate.errors ?? []);
}

describe("violationsFrom", () => {
  it.each<[SchemaObject, unknown, string]>([
    [{ type: "string" }, 1, "must be a string"],
    [{ type: "number" }, "1", "must be a number"],
    [{ type: "integer" }, 1.5, "must be an integer"],
    [{ type: "boolean" }, 0, "must be true or false"],
    [{ type: "array" }, {}, "must be a list"],
    [{ type: "object" }, [], "must be an object"],
    [{ type: ["string", "array", "null"] }, 1, "must be a string or a list"],
    [{ type: "number", minimum: 0 }, -1, "must be at least 0"],
    [{ type: "number", maximum: 2 }, 3, "must be at most 2"],
    [{ type: "string", minLength: 1 }, "", "must have at least 1 character"],
    [{ type: "string", maxLength: 2 }, "abc", "must have at most 2 characters"],
    [{ type: "array", minItems: 1 }, [], "must have at least 1 element"],
    [{ type: "array", maxItems: 0 }, [1], "must have at most 0 elements"],
    [{ type: "object", minProperties: 1 }, {}, "must have at least 1 field"],
    [{ type: "object", maxProperties: 1 }, { a: 1, b: 2 }, "must have at most 1 field"],
    [{ enum: ["active", "disabled"] }, "on", "must be one of active, disabled"],
    [{ type: "string", enum: ["active", "disabled"] }, 1, "must be one of active, disabled"],
    [
      { type: "string", pattern: "^a", description: "a word that begins with a" },
      "b",
      "must be a word that begins with a",
    ],
    [{ type: "string", pattern: "^a" }, "b", "must be text that matches ^a"],
    [{ const: 1 }, 2, "must be 1"],
    [{ const: false, description: "false: nothing is metered" }, true, "must be false: nothing is metered"],
    [{ type: "number", multipleOf: 2 }, 3, "must be multiple of 2"],
  ])("reports for %j, given %j, that it %s", (schema, value, message) => {
    expect(violationsOf({ type: "object", properties: { field: schema } }, { field: value })).toEqual([
      { path: "field", message },
    ]);
  });

  it("names a format", () => {
    const error = { keyword: "format", instancePath: "/workspace_id", schemaPath: "", params: { format: "uuid" } };
    expect(violationsFrom([error])).toEqual([{ path: "workspace_id", message: "must be a valid uuid" }]);
  });

  it("names a missing field by its own path", () => {
    const schema = { type: "array", items: { type: "object", required: ["role"] } };
    expect(violationsOf(schema, [{}])).toEqual([{ path: "[0].role", message: "is required" }]);
  });

  it("names an unknown field, and those that are known", () => {
    const schema = { type: "object", properties: { a: {}, c: {} }, additionalProperties: false };
    const message = "is not a known field: there are a, c";
    expect(violationsOf(schema, { a: 1, b: 2 })).toEqual([{ path: "b", message }]);
    const none = { type: "object", additionalProperties: false };
    expect(violationsOf(none, { b: 2 })).toEqual([{ path: "b", message: "is not a known field" }]);
  });

  it("names an invalid key once", () => {
    const schema = { type: "object", propertyNames: { maxLength: 3 } };
    expect(violationsOf(schema, { long: 1 })).toEqual([
      { path: "long", message: "has a name that must have at most 3 characters" },
    ]);
  });

  it("writes the path of a nested value as a caller would", () => {
    const schema = { type: "object", additionalProperties: { type: "array", items: { type: "string" } } };
    expect(violationsOf(schema, { "a/b~c": ["x", 1], "~1": [3], plain: [2] }).map(({ path }) => path)).toEqual([
      '["a/b~c"][1]',
      '["~1"][0]',
      "plain[0]",
    ]);
  });

  it("formats at most as many violations as are reported", () => {
    const lists = { type: "array", items: { enum: ["a"], type: "string" } };
    expect(violationsOf(lists, Array(20_000).fill(0))).toHaveLength(100);
  });
});
