import { jsonValuesMax } from "../../services/platform/json/json-outline.ts";

/** JSON texts of this many bytes that are designed to take long. Everything is in a member with this name. */
export function hostileTexts(bytes: number, field: string, valuesMax = jsonValuesMax): Record<string, string> {
  const joined = joinedUpTo.bind(undefined, valuesMax);
  const room = bytes - field.length - 20;
  const value = (text: string) => `{"${field}":${text}}`;
  const string = (unit: string) => value(`"${unit.repeat(Math.floor(room / Buffer.byteLength(unit)))}"`);
  const list = (unit: string | ((index: number) => string), valuesEach = 1) =>
    value(`[${joined(room, unit, valuesEach)}]`);
  const object = (unit: (index: number) => string) => value(`{${joined(room, unit, 2)}}`);
  return {
    "empty objects": list("{}"),
    "more empty objects than allowed": value(`[${"{},".repeat(room / 3)}{}]`),
    "empty lists": list("[]"),
    "nested lists": list("[".repeat(60) + "]".repeat(60), 60),
    "unclosed lists": "[".repeat(bytes),
    "unopened lists": "]".repeat(bytes),
    "short strings": list((index) => `"${index.toString(36)}"`),
    "objects with distinct keys": list((index) => `{"k${index.toString(36)}":0}`, 3),
    "keys of one object": object((index) => `"k${index.toString(36)}":0`),
    "keys like integers": object((index) => `"${index * 7_919}":0`),
    "keys at the top": `{${joined(room, (index) => `"k${index.toString(36)}":0`, 2)}}`,
    "escaped keys at the top": `{${joined(room, (index) => `"\\u006b${index.toString(36)}":0`, 2)}}`,
    "one repeated key": object(() => '"a":0'),
    "one repeated key at the top": `{${joined(room, () => `"${field}":0`, 2)}}`,
    "every key twice": object((index) => `"${Math.floor(index / 2)}":0`),
    "a repeated key in every object": list('{"a":0,"a":0}', 5),
    "long numbers": list("1234567890123456"),
    "numbers that a double cannot hold": list("9007199254740993"),
    "numbers of 300 digits": list(`1${"0".repeat(299)}`),
    "small exponents": list("1e-300"),
    "huge exponents": list("1e99999"),
    "numbers between two doubles": list("2.2250738585072011e-308"),
    "one number": value("9".repeat(room)),
    "one fraction": value(`0.${"9".repeat(room)}`),
    "one exponent": value(`1e${"9".repeat(room)}`),
    "escaped quotes": string('\\"'),
    "escaped backslashes": string("\\\\"),
    "escaped line ends": string("\\n"),
    "escaped letters": string("\\u00e9"),
    "strings of escaped quotes": list(`"${'\\"'.repeat(50)}"`),
    "a non-ASCII string": string("😀"),
    "an unclosed string": value(`"${'\\"'.repeat(room / 2)}`),
    "a long key": value(`{"${"k".repeat(room)}":0}`),
    "a long key around bad numbers": value(
      `{"${"\\u0041".repeat(room / 6 - 200)}":[${Array(100).fill("1e999").join()}]}`,
    ),
    "a long key at the top": `{"${"k".repeat(room)}":0}`,
    "a long escaped key at the top": `{"${"\\n".repeat(room / 2)}":0}`,
    "white space": value(`[0${" ".repeat(room)}]`),
    "white space everywhere": list(" [ ] "),
    commas: ",".repeat(bytes),
    colons: ":".repeat(bytes),
    quotes: '"'.repeat(bytes),
    letters: "x".repeat(bytes),
  };
}

/** As many as fit, but no more than a text may hold. */
function joinedUpTo(
  valuesMax: number,
  room: number,
  unit: string | ((index: number) => string),
  valuesEach: number,
): string {
  const units: string[] = [];
  let left = room;
  for (let index = 0; index < (valuesMax - 10) / valuesEach; index++) {
    const next = typeof unit === "string" ? unit : unit(index);
    left -= Buffer.byteLength(next) + 1;
    if (left < 0) break;
    units.push(next);
  }
  return units.join();
}
