import { describe, expect, it } from "vitest";
import { presetReferenceOf } from "./preset-reference.ts";
import { type RequestBody, readRequestBody } from "./request-body.ts";

function bodyOf(body: object | string): RequestBody {
  return readRequestBody(Buffer.from(typeof body === "string" ? body : JSON.stringify(body))) as RequestBody;
}

const referenceIn = (body: object | string) => presetReferenceOf(bodyOf(body));

describe("the preset reference of a request", () => {
  it.each([
    [{ model: "@preset/a" }, { slug: "a", version: undefined }, ""],
    [{ model: "@preset/a@7" }, { slug: "a", version: 7 }, ""],
    [{ model: "vendor/model@preset/a" }, { slug: "a", version: undefined }, "vendor/model"],
    [{ model: "vendor/model:free@preset/a@12" }, { slug: "a", version: 12 }, "vendor/model:free"],
    [{ model: "@cf/meta/llama@preset/a" }, { slug: "a", version: undefined }, "@cf/meta/llama"],
    [{ model: "@preset/A.b_c~d-9" }, { slug: "A.b_c~d-9", version: undefined }, ""],
    [{ model: `@preset/${"a".repeat(128)}@2147483647` }, { slug: "a".repeat(128), version: 2_147_483_647 }, ""],
    [{ model: "m", preset: "a" }, { slug: "a", version: undefined }, "m"],
    [{ model: "m", preset: "a@1" }, { slug: "a", version: 1 }, "m"],
    [{ model: "@preset/a", preset: "a" }, { slug: "a", version: undefined }, ""],
    [{ model: "m@preset/a@3", preset: "a@3" }, { slug: "a", version: 3 }, "m"],
    [{ model: "", preset: "a" }, { slug: "a", version: undefined }, ""],
    ['{"mod\\u0065l":"\\u0040preset\\/\\u0061@7"}', { slug: "a", version: 7 }, ""],
  ])("is found in %j", (body, reference, model) => {
    expect(referenceIn(body)).toEqual(reference);
    expect(bodyOf(body).modelReference?.model).toBe(model);
  });

  it.each([{ preset: "a" }, { model: null, preset: "a" }])("is found without a model: %j", (body) => {
    expect(referenceIn(body)).toEqual({ slug: "a", version: undefined });
  });

  it.each([
    {},
    { model: "vendor/model" },
    { model: null, preset: null },
    { model: "@cf/meta/llama" },
    { model: "a@b" },
  ])("is undefined for %j", (body) => {
    expect(referenceIn(body)).toBeUndefined();
  });

  it.each([
    ...["@preset/", "@preset/@1", "@preset/a@", "@preset/a@0", "@preset/a@01", "@preset/a@x", "@preset/a@1@2"],
    ...["@preset/a@1@", "@preset/-a", "@preset/a b", "@preset/a/b", "@preset/a@preset/b", "@preset/a@1.0", "@preset/é"],
    ...["@preset/a:free", "m@preset/", "@preset", "@preset:a", "@Preset/a", "@presets/a", `@preset/${"a".repeat(129)}`],
    ...["@preset/a@12345678901", "@preset/ a", "@preset/a ", " @preset/a", " m@preset/a", "\n@presets/a"],
    ...["m@Preset/a", "m@presets/a"],
  ])("is rejected as the model %j, with what to write", (model) => {
    expect(() => referenceIn({ model })).toThrow(/^model must be written @preset\/slug, @preset\/slug@7 or/);
  });

  it.each(["", "@preset/a", "a@", "a@0", "@1", "a b", "a@1@2", "-"])(
    "is rejected as the preset field %j, with what to write",
    (preset) => {
      expect(() => referenceIn({ model: "m", preset })).toThrow(/^preset must be written slug or slug@7/);
    },
  );

  it.each([
    { model: "@preset/a", preset: "b" },
    { model: "@preset/a@1", preset: "a" },
    { model: "@preset/a", preset: "a@1" },
    { model: "m@preset/a@1", preset: "a@2" },
    { model: "@preset/a", preset: "A" },
  ])("is rejected if there are two: %j", (body) => {
    expect(() => referenceIn(body)).toThrow(/^preset must be the preset that model names/);
  });

  it.each([
    ["model", 1],
    ["model", ["@preset/a"]],
    ["model", "m".repeat(4_097)],
    ["preset", { slug: "a" }],
    ["preset", false],
  ])("is rejected if %s is %j", (field, value) => {
    expect(() => referenceIn({ [field]: value })).toThrow(`${field} must be a string of at most 4096 bytes`);
  });

  it("is rejected for a version beyond the maximum", () => {
    expect(() => referenceIn({ model: "@preset/a@2147483648" })).toThrow("The preset a has no version 2147483648");
  });
});

describe("the body of an inference request", () => {
  it("may have a byte order mark and no fields", () => {
    expect(bodyOf("\ufeff {} ").members).toEqual([]);
  });

  it("may not have a duplicate key, however it is escaped", () => {
    expect(() => bodyOf('{"model":"a","messages":[],"m\\u006fdel":"b"}')).toThrow("model must be given only once");
  });

  it("keeps keys that are special in JavaScript", () => {
    const body = bodyOf('{"__proto__":1,"constructor":2,"10":3,"2":null}');
    expect(body.members.map(({ key }) => key)).toEqual(["__proto__", "constructor", "10", "2"]);
    expect([body.has("__proto__"), body.has("toString"), body.sent("2")]).toEqual([true, false, undefined]);
  });

  it("may not have keys that are too long together", () => {
    const named = (length: number) => `{"a":"${"v".repeat(200_000)}","${"k".repeat(length)}":1}`;
    expect(bodyOf(named(131_067)).members).toHaveLength(2);
    expect(() => bodyOf(named(131_068))).toThrow("whose names are longer than 131072 bytes together");
  });

  it("is the same if read in several turns", async () => {
    const text = JSON.stringify({ model: "@preset/a", messages: Array(50_000).fill({ role: "user", content: "é" }) });
    const body = readRequestBody(Buffer.from(text));
    expect(body).toBeInstanceOf(Promise);
    expect((await body).members.map(({ key }) => key)).toEqual(["model", "messages"]);
    await expect(readRequestBody(Buffer.from(text.slice(0, -1)))).rejects.toThrow("must be valid JSON");
  });
});
