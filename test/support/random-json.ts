/** Whole numbers from 0 up to, but not including, a bound. The same seed gives the same numbers. */
export type Random = (bound: number) => number;

export function randomFrom(seed: number): Random {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

export function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[random(values.length)] as Value;
}

// None is a single backslash: once JSON.parse has seen such a key, it takes other keys of one escaped letter for it.
const texts = [
  "",
  "a",
  "é",
  "😀",
  'say "hi"',
  "\\\\",
  "\n\n",
  "\u0001",
  "\ud800",
  "@preset/x",
  "__proto__",
  "role",
  "name",
];

/** A JSON value, nested at most this deep. */
export function randomJson(random: Random, depth: number): unknown {
  const kind = random(depth > 0 ? 8 : 5);
  if (kind === 0) return null;
  if (kind === 1) return random(2) === 0;
  if (kind === 2) return random(1_000) / 8 - 50;
  if (kind <= 4) return oneOf(random, texts);
  const values = Array.from({ length: random(4) }, () => randomJson(random, depth - 1));
  return kind === 5 ? values : Object.fromEntries(values.map((value) => [oneOf(random, texts), value]));
}

/** JSON text of a value, with white space and escapes in places, which do not change its meaning. */
export function randomSpelling(random: Random, value: unknown): string {
  const space = () => oneOf(random, ["", "", "", " ", "\n  "]);
  if (typeof value === "string") {
    return random(4) === 0 ? `"${value.split("").map(escaped).join("")}"` : JSON.stringify(value);
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const spaced = (parts: readonly string[]) => parts.map((part) => space() + part + space()).join(",");
  if (Array.isArray(value)) return `[${spaced(value.map((each) => randomSpelling(random, each)))}]`;
  const members = Object.entries(value).map(
    ([key, each]) => `${randomSpelling(random, key)}${space()}:${space()}${randomSpelling(random, each)}`,
  );
  return `{${spaced(members)}}`;
}

function escaped(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
