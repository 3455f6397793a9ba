import { describe, expect, it } from "vitest";
import { parseEscapedKeys } from "./escaped-keys.ts";
import { parseJsonObject } from "./json-text.ts";

describe("parseEscapedKeys", () => {
  it.each([
    "{}",
    "[]",
    '{"a":1,"b":[true,false,null,-1.5e3,"x\\n\\u00e9"],"c":{"d":{}}}',
    ' { "a" : [ 1 , { "b\\"\\\\" : "\\"" } ] , "" : [ ] } ',
    '{"2":1,"1":2,"a":3,"a":4}',
    '"text"',
    " 12 ",
  ])("parses %s like JSON.parse", (text) => {
    const value = parseEscapedKeys(text);
    expect(value).toEqual(JSON.parse(text));
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
  });

  it("treats __proto__ as an ordinary key", () => {
    const value = parseEscapedKeys('{"__proto__":{"polluted":1}}') as object;
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});

describe("parseJsonObject", () => {
  it("unescapes a key correctly, whatever was parsed before", () => {
    parseJsonObject('{"model":"x","temperatur\\\\":1}');
    const { value, members } = parseJsonObject('{"model":"x","temperatur\\u0065":1}');
    expect(value).toEqual({ model: "x", temperature: 1 });
    expect(members).toMatchObject([{ key: "model" }, { key: "temperature", value: 1 }]);
  });

  it("unescapes keys at any depth", () => {
    parseJsonObject('{"tools":[{"type":"x","nam\\\\":1}]}');
    const { value } = parseJsonObject('{"tools":[{"type":"x","nam\\u0065":1}]}');
    expect(value).toEqual({ tools: [{ type: "x", name: 1 }] });
  });
});
