import { describe, expect, it } from "vitest";
import { DomainError } from "../domain/domain-error.ts";
import { jsonDepthMax, jsonValuesMax } from "./json-outline.ts";
import { ambiguities, parseJsonObject, parseStoredJsonObject, selectMembers } from "./json-text.ts";

/** The whole text, and its ambiguities. */
function cutAll(text: string) {
  const object = parseJsonObject(text);
  return { json: selectMembers(object, () => true).json, violations: ambiguities(object) };
}

function violationsOf(act: () => unknown) {
  try {
    act();
  } catch (error) {
    if (error instanceof DomainError) return error.violations;
    throw error;
  }
  return [];
}

function nested(depth: number): string {
  return `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`;
}

describe("parseJsonObject", () => {
  it("returns the same value as JSON.parse", () => {
    expect(parseJsonObject('{"a":[1,{"b":null}]}').value).toEqual({ a: [1, { b: null }] });
  });

  it.each([
    ["{", "line 1, column 2"],
    ['{"a":1,}', "line 1, column 8"],
    ["{a:1}", "line 1, column 2"],
    ['{\n  "a": 1,\r\n  "é": 01\n}', "line 3, column 9"],
    ['{"a":"\n"}', "line 1, column 7"],
    ['{"a', "line 1, column 4"],
    ['{"a":1}x', "line 1, column 8"],
    ["{,,,]}}", "line 1, column 2"],
  ])("rejects %j as not JSON, and says where", (text, place) => {
    const message = `must be valid JSON; the error is at ${place}`;
    expect(violationsOf(() => parseJsonObject(text))).toEqual([{ path: "", message }]);
  });

  it("names the field that is not JSON", () => {
    const violations = [{ path: "config_json", message: "must be valid JSON" }];
    expect(violationsOf(() => parseJsonObject("{", "config_json"))).toEqual(violations);
  });

  it("does not quote the rejected text", () => {
    const parse = () => parseJsonObject('{"messages": secret}');
    expect(parse).toThrow(/must be valid JSON/);
    expect(parse).not.toThrow(/secret/);
  });

  it.each(["", " ", "null", "true", "1", '"{}"', "[]", '[{"a":1}]', '"\\'])("rejects %s as not an object", (text) => {
    expect(violationsOf(() => parseJsonObject(text))).toEqual([{ path: "", message: "must be a JSON object" }]);
  });

  it("uses the given path", () => {
    expect(violationsOf(() => parseJsonObject("[]", "config_json"))).toEqual([
      { path: "config_json", message: "must be a JSON object" },
    ]);
  });

  it("accepts the maximum nesting", () => {
    expect(cutAll(nested(jsonDepthMax)).json).toBe(nested(jsonDepthMax));
    expect(jsonDepthMax).toBe(64);
  });

  it.each([
    ["objects", nested(jsonDepthMax + 1)],
    ["lists", `{"a":${"[".repeat(jsonDepthMax)}${"]".repeat(jsonDepthMax)}}`],
    ["a million lists", `{"a":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`],
    ["unclosed lists", "[".repeat(1_000_000)],
  ])("rejects %s nested one level deeper", (_, text) => {
    expect(violationsOf(() => parseJsonObject(text))).toEqual([
      { path: "", message: "must not be nested deeper than 64 levels" },
    ]);
  });

  it("does not count brackets in strings or siblings as depth", () => {
    const text = `{"a":"${"[{".repeat(100)}\\"${"[{".repeat(100)}","b":[${"[],".repeat(100)}[]]}`;
    expect(cutAll(text).json).toBe(text);
  });
});

describe("the number of keys and values", () => {
  const listOf = (count: number) => `{"a":[${Array(count).fill("0").join()}]}`;
  const tooMany = [{ path: "", message: `must not hold more than ${jsonValuesMax} keys and values` }];

  it("may reach the limit, including the object, its key and the list", () => {
    expect(jsonValuesMax).toBe(75_000);
    expect(parseJsonObject(listOf(jsonValuesMax - 3)).members).toHaveLength(1);
    expect(violationsOf(() => parseJsonObject(listOf(jsonValuesMax - 2)))).toEqual(tooMany);
  });

  it("does not count white space, commas or brackets", () => {
    const elements = Array(jsonValuesMax - 3).fill(" [ ] ");
    expect(parseJsonObject(` { "a" : [ ${elements.join(" , ")} ] } `).members).toHaveLength(1);
  });

  it.each([",", ":", "]", "{}", '""', "0 ", "x,", " \n".repeat(40)])("is rejected in a million of %j", (part) => {
    expect(violationsOf(() => parseJsonObject(part.repeat(1_000_000)))).not.toEqual([]);
  });
});

describe("a stored text", () => {
  it("may have more keys and values than may be stored now", async () => {
    const text = `{"a":[${Array(jsonValuesMax + 1)
      .fill("1")
      .join()}]}`;
    expect(() => parseJsonObject(text)).toThrow(DomainError);
    expect((await parseStoredJsonObject(text)).members).toHaveLength(1);
  });
});

describe("a key with an escape", () => {
  it("is not mistaken for one that looks like it where the parser lists keys in another order", () => {
    // Integers come first there, so its second key, with a backslash, is at the place of the one with a line break.
    const { members } = parseJsonObject(String.raw`{"a\\n":"backslash","a\n":"line break","1":"one"}`);
    expect(members.map(({ key, value }) => [key, value])).toEqual([
      ["a\\n", "backslash"],
      ["a\n", "line break"],
      ["1", "one"],
    ]);
  });
});

describe("duplicate keys", () => {
  const message = "must be given only once";

  it.each([
    ['{"a":1,"a":2}', ["a"]],
    ['{"a":1,"\\u0061":2}', ["a"]],
    ['{"a":1,"b":1,"a":2,"b":2,"a":3}', ["a", "b"]],
    ['{"provider":{"a":1,"a":2}}', ["provider.a"]],
    ['{"provider":{"a":1,"\\u0061":{"a":3}}}', ["provider.a"]],
    ['{"a":[{},{"b":[{"c":"c","c":":"}]}]}', ["a[1].b[0].c"]],
    ['{"a":{"1":1,"2":2,"1":3}}', ["a[1]"]],
    ['{"a":{"__proto__":1,"__proto__":{}}}', ["a.__proto__"]],
    ['{"a":{"\\\\":1,"\\u005c":2}}', ['a["\\\\"]']],
    ['{"a":{"":1, "" :2}}', ['a[""]']],
    ['{"a":{"x":1,"x":2},"b":{"y":{"z":1,"z":2}}}', ["a.x", "b.y.z"]],
  ])("of %s are reported", (text, paths) => {
    expect(cutAll(text).violations).toEqual(paths.map((path) => ({ path, message })));
  });

  it.each([
    '{"a":{"a":{"a":1}},"b":{"a":1}}',
    '{"a":[{"b":1},{"b":2}]}',
    '{"a":{"B":1,"b":2,"b ":3}}',
    '{"a":{"__proto__":{"__proto__":1},"constructor":2}}',
    '{"a":{"1":1,"01":2,"1.0":3}}',
    '{"a":{"b":"\\",\\"b\\":","c":":"}}',
  ])("are not found in %s", (text) => {
    expect(cutAll(text).violations).toEqual([]);
  });

  it("count only in kept members", () => {
    const object = parseJsonObject('{"a":{"x":1,"x":2},"b":1,"b":2,"c":3}');
    expect(ambiguities(object, selectMembers(object, (key) => key === "c").kept, (key) => key === "c")).toEqual([]);
  });

  it("are reported up to a hundred", () => {
    expect(cutAll(`{"a":[${Array(200).fill('{"x":1,"x":2}').join()}]}`).violations).toHaveLength(100);
  });
});

describe("selectMembers", () => {
  it.each([
    ["integer-like keys in their order", '{"logit_bias":{"50256":-1,"7":2,"a":3,"1":4}}'],
    ["integer-like keys at the top", '{"9":1,"1":2}'],
    ["a key named __proto__", '{"a":{"__proto__":{"x":1}},"__proto__":2}'],
    ["numbers as they were written", '{"a":[1.0,1e5,1E+5,-0,0.10,100000000000000000000,1e-400]}'],
    ["escapes as they were written", '{"a":"\\u0041\\/\\n\\"\\\\","\\u0062":"\\ud83d\\ude00 \\ud800"}'],
    ["white space inside strings", '{"a":"  x , : {\\"  } \\\\","  b  ":[" "]}'],
    ["non-ASCII text", '{"a":"é 漢 😀","ключ":1}'],
    ["literals", '{"a":true,"b":false,"c":null,"d":{},"e":[]}'],
    ["strings that end in backslashes", '{"a":"\\\\","b":"\\\\\\"","c":"x\\\\\\\\"}'],
    ["the empty object", "{}"],
  ])("keeps %s", (_, text) => {
    expect(cutAll(text)).toEqual({ json: text, violations: [] });
  });

  it.each([
    [' {\n\t"a" : 1 ,\r\n "b":[ 1 , { "c" : " d " } ] } \n', '{"a":1,"b":[1,{"c":" d "}]}'],
    ['{"a":1 ,"b":2}', '{"a":1,"b":2}'],
    ['{ "a":1,"b": 2}', '{"a":1,"b":2}'],
    ["{ }", "{}"],
  ])("removes the white space of %j", (text, json) => {
    expect(cutAll(text).json).toBe(json);
  });

  it("keeps only chosen members, in the order they were sent", () => {
    const object = parseJsonObject('{"z":[1,{"a":2}],"b":"x,\\"y\\":1","a":{"z":3},"n":null,"c":true}');
    const { json } = selectMembers(object, (key, value) => key !== "b" && value !== null);
    expect(json).toBe('{"z":[1,{"a":2}],"a":{"z":3},"c":true}');
  });

  it("selects an escaped key by its name", () => {
    const object = parseJsonObject('{"mod\\u0065l":"m","other":1}');
    expect(selectMembers(object, (key) => key === "model").json).toBe('{"mod\\u0065l":"m"}');
  });

  it("uses the last member of a duplicate key", () => {
    const text = '{"a":9007199254740993,"b":1,"\\u0061":[2]}';
    expect(cutAll(text).json).toBe('{"\\u0061":[2],"b":1}');
    expect(parseJsonObject(text).value).toEqual({ a: [2], b: 1 });
  });

  it("agrees with JSON.parse on a text with everything in it", () => {
    const value = { a: [{ b: ['}{][,:"\\', -1.5e-7, {}] }, [[]]], "": { "\\": "\u2028" }, n: null, t: [true, false] };
    for (const space of [undefined, 2, "\t"]) {
      expect(cutAll(JSON.stringify(value, null, space)).json).toBe(JSON.stringify(value));
    }
  });

  it.each([
    "9007199254740991",
    "9007199254740992",
    "-9007199254740992",
    "9007199254740994",
    "1e20",
    "1e308",
    "0.1234567890123456789",
  ])("accepts the number %s", (number) => {
    expect(cutAll(`{"a":${number}}`)).toEqual({ json: `{"a":${number}}`, violations: [] });
  });

  it.each([
    ["9007199254740993", "must be an integer that a double holds exactly; this one would be read as 9007199254740992"],
    [
      "-9007199254740993",
      "must be an integer that a double holds exactly; this one would be read as -9007199254740992",
    ],
    [
      "100000000000000000001",
      "must be an integer that a double holds exactly; this one would be read as 100000000000000000000",
    ],
    ["1e309", "must be a number that fits in a double"],
    ["-1e400", "must be a number that fits in a double"],
    ["9".repeat(400), "must be a number that fits in a double"],
  ])("rejects the number %s", (number, message) => {
    expect(cutAll(`{"a":${number}}`).violations).toEqual([{ path: "a", message }]);
  });

  it("names the path of every bad number", () => {
    const text = `{
      "seed": 9007199254740993,
      "tools": [{ "name": "x" }, { "function": { "enum": [1, "2", [3, 1e400]], "max\\u0069mum": 1e999 } }],
      "a b": { "c": {}, "d": "e", "7": 9007199254740995 }
    }`;
    expect(cutAll(text).violations.map(({ path }) => path)).toEqual([
      "seed",
      "tools[1].function.enum[2][1]",
      "tools[1].function.maximum",
      '["a b"][7]',
    ]);
  });

  it("prefixes the path of a bad number with that of the object", () => {
    const object = parseJsonObject('{"seed":1e400}', "config_json");
    expect(ambiguities(object)).toMatchObject([{ path: "config_json.seed" }]);
  });

  it("ignores numbers that are not kept and digits in strings", () => {
    const object = parseJsonObject('{"a":[1e400],"b":"9007199254740993","c":9007199254740993}');
    expect(ambiguities(object, selectMembers(object, (key) => key === "b").kept)).toEqual([]);
  });

  it("reports at most a hundred bad numbers", () => {
    expect(cutAll(`{"a":[${Array(200).fill("1e999").join()}]}`).violations).toHaveLength(100);
  });
});
