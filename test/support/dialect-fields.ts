import { describe, expect, it } from "vitest";
import type { Dialect } from "../../gateway/dialects/dialect.ts";
import { configChecks } from "../../services/platform/config-fields/config-fields.ts";
import { configOf, violationsOf } from "./dialect-bodies.ts";

/** Valid values of a field, and invalid ones with the path below the field and the message. */
interface Rule {
  readonly good: readonly unknown[];
  readonly bad: readonly (readonly [value: unknown, below: string, message: string])[];
}

type Rules = Readonly<Record<string, Rule>>;

export const anything: Rule = { good: [1, "x", true, [1], { a: 1 }], bad: [] };
export const flag: Rule = {
  good: [true, false],
  bad: ["true", 0, {}].map((value) => [value, "", "must be true or false"]),
};
export const string: Rule = {
  good: ["", "x"],
  bad: [1, true, ["x"], {}].map((value) => [value, "", "must be a string"]),
};
export const anyObject: Rule = {
  good: [{}, { a: [1] }],
  bad: ["x", 1, true, [], [{}]].map((value) => [value, "", "must be an object"]),
};
export const objects: Rule = {
  good: [[], [{}], [{ a: 1 }, {}]],
  bad: [
    ["x", "", "must be a list"],
    [{}, "", "must be a list"],
    [[{}, "x"], "[1]", "must be an object"],
    [[null], "[0]", "must be an object"],
  ],
};
export const strings: Rule = {
  good: [[], ["a", "b", "c", "d", "e"]],
  bad: [
    ["a", "", "must be a list"],
    [["a", 1], "[1]", "must be a string"],
  ],
};
const stringOrObject: Rule = {
  good: ["auto", { type: "function" }],
  bad: [1, true, []].map((value) => [value, "", "must be a string or an object"]),
};
const notAModel = "must be the name of a model, not a reference to a preset (@preset/…)";
const model: Rule = {
  good: ["openai/gpt-4o", "x@presets/y", "@presets"],
  bad: [...string.bad, ["@preset/support", "", notAModel], ["@preset/", "", notAModel], ["x@preset/y", "", notAModel]],
};
const models: Rule = { good: strings.good, bad: [...strings.bad, [["a", "@preset/b"], "[1]", notAModel]] };
const modalities: Rule = {
  good: [[], ["text", "image", "audio"]],
  bad: [
    ["text", "", "must be a list"],
    [["text", "video"], "[1]", "must be one of text, image, audio"],
  ],
};
const imageConfig: Rule = {
  good: ["x", 1.5, [1, "x"], { aspect_ratio: "1:1" }],
  bad: [[true, "", "must be a string or a number or a list or an object"]],
};
const metadataOfStrings: Rule = {
  good: [
    {},
    Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`key${index}`, ""])),
    { ["k".repeat(64)]: "v".repeat(512), ["😀".repeat(64)]: "😀".repeat(512) },
  ],
  bad: [
    ["x", "", "must be an object"],
    [
      Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`key${index}`, ""])),
      "",
      "must have at most 16 fields",
    ],
    [{ ["k".repeat(65)]: "" }, `.${"k".repeat(65)}`, "has a name that must have at most 64 characters"],
    [{ a: "v".repeat(513) }, ".a", "must have at most 512 characters"],
    [{ a: 1 }, ".a", "must be a string"],
    [{ a: null }, ".a", "must be a string"],
  ],
};

export function number(minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY): Rule {
  const edges = [minimum, maximum].filter(Number.isFinite);
  return {
    good: [...edges, 0.5],
    bad: [
      ["1", "", "must be a number"],
      [true, "", "must be a number"],
      [[1], "", "must be a number"],
      ...below(minimum, 0.001),
      ...above(maximum, 0.001),
    ],
  };
}

export function integer(minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY): Rule {
  const edges = [minimum, maximum].filter(Number.isFinite);
  return {
    good: [...edges, 5],
    bad: [["1", "", "must be an integer"], [1.5, "", "must be an integer"], ...below(minimum, 1), ...above(maximum, 1)],
  };
}

function below(minimum: number, step: number): Rule["bad"] {
  return Number.isFinite(minimum) ? [[minimum - step, "", `must be at least ${minimum}`]] : [];
}

function above(maximum: number, step: number): Rule["bad"] {
  return Number.isFinite(maximum) ? [[maximum + step, "", `must be at most ${maximum}`]] : [];
}

export function textUpTo(length: number): Rule {
  return {
    good: ["", "x".repeat(length), "😀".repeat(length)],
    bad: [
      [1, "", "must be a string"],
      ["x".repeat(length + 1), "", `must have at most ${length} characters`],
    ],
  };
}

export const keptByAll: Rules = {
  model,
  models,
  provider: anyObject,
  route: anything,
  plugins: objects,
  tools: objects,
  service_tier: string,
  cache_control: anyObject,
  stop_server_tools_when: objects,
  top_k: integer(0),
};
export const keptByChatAndResponses: Rules = {
  temperature: number(0, 2),
  top_p: number(0, 1),
  frequency_penalty: number(-2, 2),
  presence_penalty: number(-2, 2),
  top_logprobs: integer(0, 20),
  parallel_tool_calls: flag,
  modalities,
  image_config: imageConfig,
  reasoning: anyObject,
  prompt_cache_options: anyObject,
  tool_choice: stringOrObject,
};
export const ignoredByChatAndResponses: Rules = {
  stream: flag,
  user: string,
  session_id: textUpTo(256),
  metadata: metadataOfStrings,
  prompt: anything,
  stream_options: anything,
  store: anything,
  background: anything,
  debug: anything,
  trace: anything,
  prediction: anything,
  previous_response_id: anything,
  safety_identifier: anything,
  prompt_cache_key: anything,
  n: anything,
};

/** The fields of a dialect, each with its rule. */
interface DialectFields {
  /** The smallest valid body. */
  readonly least: Readonly<Record<string, unknown>>;
  readonly kept: Rules;
  readonly ignored: Rules;
}

/** Tests every rule of a dialect's table. */
export function describeDialect(name: string, dialect: Dialect, { least, kept, ignored }: DialectFields): void {
  describe(name, () => {
    const leastConfig = configOf(dialect, least);

    it("keeps the fields of its table and no others", () => {
      expect([...dialect.keptKeys].sort()).toEqual(Object.keys(kept).sort());
    });

    it.each(Object.entries(kept))("keeps %s", (field, { good }) => {
      for (const value of good) expect(configOf(dialect, { ...least, [field]: value })).toHaveProperty([field], value);
    });

    it.each(Object.entries(kept))("keeps only %s values that a config may hold", (field, { good }) => {
      for (const value of good) expect(configChecks.get(field)?.violations(value, field)).toEqual([]);
    });

    it.each(Object.entries(ignored))("ignores %s", (field, { good }) => {
      for (const value of good) expect(configOf(dialect, { ...least, [field]: value })).toEqual(leastConfig);
    });

    it.each(Object.entries({ ...kept, ...ignored }))("rejects an invalid %s", (field, { bad }) => {
      for (const [value, below, message] of bad) {
        expect(violationsOf(dialect, { ...least, [field]: value })).toContainEqual({ path: field + below, message });
      }
    });

    it.each(Object.keys({ ...kept, ...ignored }).filter((field) => !(field in least)))(
      "treats %s: null as not sent",
      (field) => {
        expect(configOf(dialect, { ...least, [field]: null })).toEqual(leastConfig);
      },
    );

    it("describes every known field in its schema", () => {
      expect(dialect.bodySchema.type).toBe("object");
      expect(Object.keys(dialect.bodySchema.properties)).toEqual(expect.arrayContaining([...dialect.keptKeys]));
    });
  });
}
