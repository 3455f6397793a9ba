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
  ])("reads %s as JSON.parse does", (text) => {
    const value = parseEscapedKeys(text);
    expect(value).toEqual(JSON.parse(text));
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
  });

  it("takes __proto__ for a key like any other", () => {
    const value = parseEscapedKeys('{"__proto__":{"polluted":1}}') as object;
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});

describe("parseJsonObject", () => {
  it("reads an escaped key as what it says, whatever was read before", () => {
    parseJsonObject('{"model":"x","temperatur\\\\":1}');
    const { value, members } = parseJsonObject('{"model":"x","temperatur\\u0065":1}');
    expect(value).toEqual({ model: "x", temperature: 1 });
    expect(members).toMatchObject([{ key: "model" }, { key: "temperature", value: 1 }]);
  });

  it("does so at any depth", () => {
    parseJsonObject('{"tools":[{"type":"x","nam\\\\":1}]}');
    const { value } = parseJsonObject('{"tools":[{"type":"x","nam\\u0065":1}]}');
    expect(value).toEqual({ tools: [{ type: "x", name: 1 }] });
  });
});
