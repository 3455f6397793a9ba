import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  BatchCreateVersionsRequestSchema,
  ListPresetsRequestSchema,
  UpdatePresetRequestSchema,
} from "../../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { hasTooManyFields } from "./field-count.ts";

const mebibyte = 1_048_576;

describe("hasTooManyFields", () => {
  it("accepts the largest possible batch", () => {
    const part = { slug: "s", configJson: "x".repeat(mebibyte / 10), systemPrompt: "y", requestId: "r" };
    const message = create(BatchCreateVersionsRequestSchema, {
      creations: Array.from({ length: 100 }, () => ({ accessToken: "t", request: part })),
    });
    expect(
      hasTooManyFields(BatchCreateVersionsRequestSchema, toBinary(BatchCreateVersionsRequestSchema, message)),
    ).toBe(false);
  });

  it.each([
    ["empty elements", ListPresetsRequestSchema, Buffer.from([0x0a, 0])],
    [
      "packed elements",
      ListPresetsRequestSchema,
      Buffer.concat([Buffer.from([0x1a, 0x80, 0x80, 0x40]), Buffer.alloc(mebibyte)]),
    ],
    ["unknown fields", ListPresetsRequestSchema, Buffer.from([0x78, 1])],
    ["repeated fields of a part", UpdatePresetRequestSchema, Buffer.from([0x12, 2, 0x0a, 0])],
    ["empty parts", BatchCreateVersionsRequestSchema, Buffer.from([0x0a, 0])],
    ["etags", UpdatePresetRequestSchema, Buffer.from([0x3a, 0])],
  ])("rejects a million %s", (_name, schema, field) => {
    const bytes = Buffer.concat(Array(Math.ceil(mebibyte / field.length)).fill(field));
    expect(hasTooManyFields(schema, bytes)).toBe(true);
    expect(hasTooManyFields(schema, bytes.subarray(0, 4 * field.length))).toBe(field.length > mebibyte);
  });

  it.each([
    ["once", 1],
    ["within others", 50],
  ])("counts the fields of a group opened %s", (_name, depth) => {
    const within = (fields: Buffer) =>
      Buffer.concat([...Array(depth).fill(Buffer.of(0x7b)), fields, ...Array(depth).fill(Buffer.of(0x7c))]);
    const text = Buffer.concat([Buffer.of(0x0a, 0x80, 0x80, 0x08), Buffer.alloc(131_072)]);
    expect(hasTooManyFields(ListPresetsRequestSchema, within(text))).toBe(false);
    expect(hasTooManyFields(ListPresetsRequestSchema, within(Buffer.alloc(mebibyte, Buffer.of(0x08, 1))))).toBe(true);
  });

  it.each([
    ["bytes that are not a message", Buffer.alloc(100_000, 0xff)],
    ["an endless number", Buffer.concat([Buffer.of(0x78), Buffer.alloc(100_000, 0xff)])],
  ])("leaves %s to the reader", (_name, bytes) => {
    expect(() => hasTooManyFields(ListPresetsRequestSchema, bytes)).toThrow();
    expect(() => fromBinary(ListPresetsRequestSchema, bytes)).toThrow();
  });
});
