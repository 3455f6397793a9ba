import { describe, expect, it } from "vitest";
import { PresetStatus } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { DomainError } from "../../services/platform/domain/domain-error.ts";
import { presetUpdateFrom } from "./preset-body.ts";

function violationsOf(body: string) {
  try {
    presetUpdateFrom(body);
  } catch (error) {
    if (error instanceof DomainError) return error.violations;
    throw error;
  }
  return [];
}

const unknownField = "is not a known field: there are name, description, status, designated_version";

describe("presetUpdateFrom", () => {
  it.each([
    ['{"name":"Mail"}', { updateMask: { paths: ["name"] }, name: "Mail" }],
    ['{"description":"New"}', { updateMask: { paths: ["description"] }, description: "New" }],
    ['{"description":""}', { updateMask: { paths: ["description"] }, description: "" }],
    ['{"description":null}', { updateMask: { paths: ["description"] } }],
    ['{"status":"archived"}', { updateMask: { paths: ["status"] }, status: PresetStatus.ARCHIVED }],
    ['{"designated_version":2}', { updateMask: { paths: ["designated_version"] }, designatedVersion: 2 }],
    ['{"designated_version":2.0}', { updateMask: { paths: ["designated_version"] }, designatedVersion: 2 }],
  ])("reads %s", (body, update) => {
    expect(presetUpdateFrom(body)).toEqual(update);
  });

  it.each([
    ["a name of 1 character", { name: "a" }],
    ["a name of 255 emoji", { name: "🙂".repeat(255) }],
    ["a description of 2,000 emoji", { description: "🙂".repeat(2_000) }],
    ["the highest possible version", { designated_version: 2_147_483_647 }],
  ])("accepts %s", (_name, body) => {
    expect(violationsOf(JSON.stringify(body))).toEqual([]);
  });

  it.each([
    ['{"name":null}', "name", "must be a string"],
    ['{"name":1}', "name", "must be a string"],
    ['{"name":""}', "name", "must have at least 1 character"],
    [JSON.stringify({ name: "🙂".repeat(256) }), "name", "must have at most 255 characters"],
    ['{"description":1}', "description", "must be a string"],
    [JSON.stringify({ description: "a".repeat(2_001) }), "description", "must have at most 2000 characters"],
    ['{"status":null}', "status", "must be one of active, disabled, archived"],
    ['{"status":"ACTIVE"}', "status", "must be one of active, disabled, archived"],
    ['{"status":"deleted"}', "status", "must be one of active, disabled, archived"],
    ['{"designated_version":null}', "designated_version", "must be an integer"],
    ['{"designated_version":"1"}', "designated_version", "must be an integer"],
    ['{"designated_version":1.5}', "designated_version", "must be an integer"],
    ['{"designated_version":1e999}', "designated_version", "must be at most 2147483647"],
    ['{"name":"a","n\\u0061me":"b"}', "name", "must be given only once"],
    ['{"designated_version":0}', "designated_version", "must be at least 1"],
    ['{"designated_version":-1}', "designated_version", "must be at least 1"],
    ['{"designated_version":2147483648}', "designated_version", "must be at most 2147483647"],
    ['{"slug":"other"}', "slug", unknownField],
    ['{"designatedVersion":1}', "designatedVersion", unknownField],
    ['{"__proto__":{"name":"x"}}', "__proto__", unknownField],
    ['{"constructor":1}', "constructor", unknownField],
    ['{"name":"a\\ud800b"}', "name", "must not contain an unpaired surrogate"],
    ['{"description":"\\udc00"}', "description", "must not contain an unpaired surrogate"],
    ["{}", "", "must have at least 1 field"],
    ["[]", "", "must be a JSON object"],
    ["null", "", "must be a JSON object"],
    ['"name"', "", "must be a JSON object"],
    ["{", "", "must be valid JSON; the error is at line 1, column 2"],
    ['{"name":"a"} x', "", "must be valid JSON; the error is at line 1, column 14"],
  ])("rejects %s", (body, path, message) => {
    expect(violationsOf(body)).toEqual([{ path, message }]);
  });

  it("reports all violations at once", () => {
    const body = '{"name":"","description":false,"status":"x","designated_version":0,"extra":1}';
    expect(
      violationsOf(body)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(["description", "designated_version", "extra", "name", "status"]);
  });
});
