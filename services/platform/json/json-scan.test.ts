import { describe, expect, it } from "vitest";
import { randomFrom, randomJson } from "../../../test/support/random-json.ts";
import { JsonScan } from "./json-scan.ts";

/** Reads a text in parts of this many bytes. */
function scanOf(text: string, partBytes = Number.POSITIVE_INFINITY): JsonScan {
  const scan = new JsonScan(Buffer.from(text));
  while (!scan.isDone) scan.read(partBytes);
  return scan;
}

function isTaken(text: string, partBytes?: number): boolean {
  try {
    scanOf(text, partBytes);
    return true;
  } catch {
    return false;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const values = [
  ...["0", "-0", "1.0", "-1.5e+10", "1E5", "1e-5", "12345678901234567890", "true", "false", "null", '""', "{}", "[]"],
  ...['"\\u00e9\\"\\\\\\/\\b\\f\\n\\r\\t"', '"é😀"', '"\\ud800"', "[1,[2,{}]]", ' [ 1 , { "a" : [ ] } ] '],
  ...[
    "01",
    "-",
    "+1",
    "1.",
    ".5",
    "1e",
    "1e+",
    "- 1",
    "0x1",
    "1_0",
    "NaN",
    "Infinity",
    "nul",
    "nulll",
    "True",
    "tru e",
  ],
  ...['"', '"\\x"', '"\\u12g4"', '"\\u123"', '"\\', '"\t"', '"\u0000"', '"\u007f"', "'a'", "[", "]", "[1,]", "[,1]"],
  ...["[1 2]", "[1]]", "{]", "[}", "{,}", '{"a"}', '{"a":}', '{"a":1,}', '{"a" 1}', "{1:1}", '{"a":1 "b":2}', ",", ":"],
  ...["//", "1//", "\u00a01", "\u20281", "\u000b1", ""],
];

describe("the JSON scan", () => {
  it("reads white space before the object in parts as well", () => {
    const scan = new JsonScan(Buffer.from(`${" ".repeat(100)}[]`));
    scan.read(100);
    expect(scan.isDone).toBe(false);
    expect(() => scan.read(1)).toThrow("must be a JSON object");
  });

  it.each(values)("accepts a member of %j if JSON.parse does", (value) => {
    const texts = [`{"a":${value}}`, `{"a":${value},"b":1}`, ` { "b" : 1 , "a" : ${value} } `, `{"a":${value}`];
    for (const text of texts) expect([text, isTaken(text)]).toEqual([text, isJson(text)]);
  });

  it.each(["{}x", "{} {}", "{},", "", " ", "[]", '"{}"', "1", "x", "}", "\ufeff{}"])("rejects %j", (text) => {
    expect(isTaken(text)).toBe(false);
  });

  it("agrees with JSON.parse on corrupted texts, in parts of any length", () => {
    const random = randomFrom(1);
    const letters = '{}[]",:0123456789.eE+-truefalsn\\ud8 \n\u0001é';
    let taken = 0;
    for (let n = 0; n < 4_000; n++) {
      const text = JSON.stringify({ a: randomJson(random, 4), b: randomJson(random, 3) });
      const at = random(text.length);
      const letter = letters[random(letters.length)] as string;
      const tampered = n % 4 === 0 ? text : text.slice(0, at) + letter + text.slice(at + random(3));
      const expected = tampered.trimStart().startsWith("{") && isJson(tampered);
      expect([tampered, isTaken(tampered, 1 + random(10))]).toEqual([tampered, expected]);
      if (expected) taken++;
    }
    expect(taken).toBeGreaterThan(1_000);
  });

  it.each([
    ["at line 1, column 9", '{"é😀": x}'],
    ["at line 2, column 12", '{\n\t"a": "\\u12g4"}'],
    ["at line 4, column 1", '{\n"a": 1\n\n'],
    ["after byte 1200009", `{"a": "${"é".repeat(600_000)}" 1}`],
  ])("says where a text in parts of any length is not JSON: %s", (place, text) => {
    for (const partBytes of [1, 2, 7, 1_000, 10_000_000]) {
      expect(() => scanOf(text, partBytes)).toThrow(new RegExp(`must be valid JSON; the error is ${place}$`));
    }
  });

  it("finds only the members of the outermost object", () => {
    const text = ' { "a" : {"x":1} ,"\\u0062":[ "y" , {"z":0} ], "" : -1.0e2 , "é":"\\"" } ';
    for (const partBytes of [1, 2, 3, 7, 1_000]) {
      const found = scanOf(text, partBytes).members.map(({ keyStart, keyEnd, valueStart, valueEnd }) => [
        Buffer.from(text).toString("utf8", keyStart, keyEnd),
        Buffer.from(text).toString("utf8", valueStart, valueEnd),
      ]);
      expect(found).toEqual([
        ['"a"', '{"x":1}'],
        ['"\\u0062"', '[ "y" , {"z":0} ]'],
        ['""', "-1.0e2"],
        ['"é"', '"\\""'],
      ]);
    }
  });

  it("remembers where long values and keys end", () => {
    const long = "x".repeat(65_536);
    const { longValues } = scanOf(`{"a":"${long}","b":["${long}",1],"c":{"${long}":2}}`, 1_000);
    const lengths = [...longValues].sort(([a], [b]) => a - b).map(([start, end]) => end - start);
    // The whole text, then in order: a string, a list and its first element, an object and its key.
    expect(lengths).toEqual([196_638, 65_538, 65_542, 65_538, 65_542, 65_538]);
  });

  it.each([
    [64, true],
    [65, false],
  ])("accepts %i levels: %s", (depth, expected) => {
    expect(isTaken(`{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`)).toBe(expected);
    expect(isTaken(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`)).toBe(expected);
  });

  it.each([
    [10_000, true],
    [10_001, false],
  ])("accepts %i fields: %s", (count, expected) => {
    expect(isTaken(`{${Array.from({ length: count }, (_, n) => `"${n}":0`).join()}}`)).toBe(expected);
  });

  it.each([
    [65_536, true],
    [65_537, false],
  ])("accepts a number of %i digits: %s", (digits, expected) => {
    expect(isTaken(`{"a":${"1".repeat(digits)}}`)).toBe(expected);
    expect(isTaken(`{"a":[0.${"1".repeat(digits)}]}`)).toBe(expected);
  });
});
