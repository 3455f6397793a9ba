import { create } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import type { FieldViolation } from "../domain/domain-error.ts";
import { fieldsOfMask } from "./field-mask.ts";

const request = { name: "N", size: -1 };
const fieldsOf = (paths: string[] | undefined) =>
  fieldsOfMask<Partial<typeof request>>(paths && create(FieldMaskSchema, { paths }), {
    name: () => ({ name: request.name }),
    size: (violations: FieldViolation[]) => {
      violations.push({ path: "size", message: "must be positive" });
      return {};
    },
  });

it("reads only the fields in the mask", () => {
  expect(fieldsOf(["name"])).toEqual({ name: "N" });
});

it.each([
  ["no mask", undefined, ["update_mask"]],
  ["an empty mask", [], ["update_mask"]],
  ["unknown fields and values", ["name", "slug", "size"], ["update_mask.paths[1]", "size"]],
  ["a name that every object has", ["toString"], ["update_mask.paths[0]"]],
  ["more than a hundred paths", Array(101).fill("name"), ["update_mask.paths"]],
])("rejects %s, naming all that is wrong", (_name, paths, violating) => {
  const violations = violating.map((path) => expect.objectContaining({ path }));
  expect(() => fieldsOf(paths)).toThrow(expect.objectContaining({ kind: "invalid_argument", violations }));
});

it("accepts an empty mask where one may be, but not a missing one", () => {
  expect(fieldsOfMask(create(FieldMaskSchema), {}, { mayBeEmpty: true })).toEqual({});
  expect(() => fieldsOfMask(undefined, {}, { mayBeEmpty: true })).toThrow("update_mask must name at least one field");
});

it("accepts a hundred paths", () => {
  expect(fieldsOf(Array(100).fill("name"))).toEqual({ name: "N" });
});
