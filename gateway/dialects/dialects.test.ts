import { describe, expect, it } from "vitest";
import { DomainError } from "../../services/platform/domain-error.ts";
import { chatCompletions } from "./chat-completions.ts";
import type { Dialect } from "./dialect.ts";
import { messages } from "./messages.ts";
import { readBody } from "./read-body.ts";
import { responses } from "./responses.ts";

/** Values that a field may have, and values that it may not, with the path below the field and what is said of it. */
interface Rule {
  readonly good: readonly unknown[];
  readonly bad: readonly (readonly [value: unknown, below: string, message: string])[];
}

type Rules = Readonly<Record<string, Rule>>;

const anything: Rule = { good: [1, "x", true, [1], { a: 1 }], bad: [] };
const flag: Rule = { good: [true, false], bad: ["true", 0, {}].map((value) => [value, "", "must be true or false"]) };
const string: Rule = { good: ["", "x"], bad: [1, true, ["x"], {}].map((value) => [value, "", "must be a string"]) };
const anyObject: Rule = {
  good: [{}, { a: [1] }],
  bad: ["x", 1, true, [], [{}]].map((value) => [value, "", "must be an object"]),
};
const objects: Rule = {
  good: [[], [{}], [{ a: 1 }, {}]],
  bad: [
    ["x", "", "must be a list"],
    [{}, "", "must be a list"],
    [[{}, "x"], "[1]", "must be an object"],
    [[null], "[0]", "must be an object"],
  ],
};
const strings: Rule = {
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
  good: ["openai/gpt-4o", "x@preset/y", "@presets"],
  bad: [...string.bad, ["@preset/support", "", notAModel], ["@preset/", "", notAModel]],
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

function number(minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY): Rule {
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

function integer(minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY): Rule {
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

function textUpTo(length: number): Rule {
  return {
    good: ["", "x".repeat(length), "😀".repeat(length)],
    bad: [
      [1, "", "must be a string"],
      ["x".repeat(length + 1), "", `must have at most ${length} characters`],
    ],
  };
}

const keptByAll: Rules = {
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
const keptByChatAndResponses: Rules = {
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
const ignoredByChatAndResponses: Rules = {
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

interface Case {
  readonly name: string;
  readonly dialect: Dialect;
  /** The smallest body that is valid. */
  readonly least: Readonly<Record<string, unknown>>;
  readonly kept: Rules;
  readonly ignored: Rules;
}

const cases: readonly Case[] = [
  {
    name: "chat/completions",
    dialect: chatCompletions,
    least: { messages: [] },
    kept: {
      ...keptByAll,
      ...keptByChatAndResponses,
      max_tokens: integer(1),
      max_completion_tokens: integer(1),
      stop: {
        good: ["", "x", [], ["a", "b", "c", "d"]],
        bad: [
          [["a", "b", "c", "d", "e"], "", "must have at most 4 elements"],
          [["a", 1], "[1]", "must be a string"],
          [{}, "", "must be a string or a list"],
        ],
      },
      response_format: anyObject,
      logit_bias: {
        good: [{}, { "50256": -100, a: 0.5 }],
        bad: [
          [[], "", "must be an object"],
          [{ "50256": "-100" }, "[50256]", "must be a number"],
        ],
      },
      logprobs: flag,
      seed: integer(),
      min_p: number(0, 1),
      top_a: number(0, 1),
      repetition_penalty: number(0, 2),
      reasoning_effort: string,
      verbosity: string,
    },
    ignored: {
      ...ignoredByChatAndResponses,
      messages: {
        good: [[], [{ role: "user", content: "hi" }, { role: "tool" }]],
        bad: [
          [null, "", "must be a list"],
          ["hi", "", "must be a list"],
          [{}, "", "must be a list"],
          [["hi"], "[0]", "must be an object"],
          [[{ role: "user" }, { content: "hi" }], "[1].role", "is required"],
          [[{ role: 1 }], "[0].role", "must be a string"],
        ],
      },
      input: anything,
      system: anything,
      stop_sequences: anything,
      thinking: anything,
      output_config: anything,
      context_management: anything,
      speed: anything,
      fallbacks: anything,
      max_output_tokens: anything,
      max_tool_calls: anything,
      text: anything,
      truncation: anything,
      include: anything,
    },
  },
  {
    name: "messages",
    dialect: messages,
    least: { model: "m", messages: null },
    kept: {
      ...keptByAll,
      temperature: number(),
      top_p: number(),
      tool_choice: anyObject,
      max_tokens: integer(1),
      stop_sequences: strings,
      thinking: anyObject,
      output_config: anyObject,
      context_management: anyObject,
      speed: string,
      fallbacks: {
        good: ["default", [], [{ model: "m" }]],
        bad: [
          [1, "", "must be a string or a list"],
          [{}, "", "must be a string or a list"],
          [["m"], "[0]", "must be an object"],
        ],
      },
    },
    ignored: {
      messages: objects,
      stream: flag,
      user: textUpTo(256),
      session_id: textUpTo(256),
      metadata: anyObject,
      trace: anything,
      input: anything,
      prompt: anything,
      prediction: anything,
      debug: anything,
      frequency_penalty: anything,
      presence_penalty: anything,
      top_logprobs: anything,
      parallel_tool_calls: anything,
      modalities: anything,
      image_config: anything,
      reasoning: anything,
      prompt_cache_options: anything,
      max_completion_tokens: anything,
      stop: anything,
      response_format: anything,
      logit_bias: anything,
      seed: anything,
      max_output_tokens: anything,
      include: anything,
    },
  },
  {
    name: "responses",
    dialect: responses,
    least: {},
    kept: {
      ...keptByAll,
      ...keptByChatAndResponses,
      max_output_tokens: integer(1),
      max_tool_calls: integer(0),
      text: anyObject,
      truncation: string,
      include: strings,
    },
    ignored: {
      ...ignoredByChatAndResponses,
      instructions: string,
      input: {
        good: ["hi", [], [{ role: "user", content: "hi" }]],
        bad: [
          [1, "", "must be a string or a list"],
          [["hi"], "[0]", "must be an object"],
        ],
      },
      messages: anything,
      max_tokens: anything,
      max_completion_tokens: anything,
      stop: anything,
      response_format: anything,
      logit_bias: anything,
      logprobs: anything,
      seed: anything,
      min_p: anything,
      top_a: anything,
      repetition_penalty: anything,
      reasoning_effort: anything,
      verbosity: anything,
      stop_sequences: anything,
      thinking: anything,
      fallbacks: anything,
    },
  },
];

function violationsOf(dialect: Dialect, body: unknown) {
  try {
    readBody(dialect, JSON.stringify(body));
  } catch (error) {
    if (error instanceof DomainError) return error.violations;
    throw error;
  }
  return [];
}

function configOf(dialect: Dialect, body: unknown): Record<string, unknown> {
  return JSON.parse(readBody(dialect, JSON.stringify(body)).configJson);
}

describe.each(cases)("$name", ({ dialect, least, kept, ignored }) => {
  const leastConfig = configOf(dialect, least);

  it("keeps the fields of its table and no others", () => {
    expect([...dialect.keptKeys].sort()).toEqual(Object.keys(kept).sort());
  });

  it.each(Object.entries(kept))("keeps %s", (field, { good }) => {
    for (const value of good) expect(configOf(dialect, { ...least, [field]: value })).toHaveProperty([field], value);
  });

  it.each(Object.entries(ignored))("ignores %s", (field, { good }) => {
    for (const value of good) expect(configOf(dialect, { ...least, [field]: value })).toEqual(leastConfig);
  });

  it.each(Object.entries({ ...kept, ...ignored }))("refuses a wrong %s", (field, { bad }) => {
    for (const [value, below, message] of bad) {
      expect(violationsOf(dialect, { ...least, [field]: value })).toContainEqual({ path: field + below, message });
    }
  });

  it.each(Object.keys({ ...kept, ...ignored }).filter((field) => !(field in least)))(
    "takes %s: null as not sent",
    (field) => {
      expect(configOf(dialect, { ...least, [field]: null })).toEqual(leastConfig);
    },
  );

  it("describes every field that it knows in its schema", () => {
    expect(dialect.bodySchema.type).toBe("object");
    expect(Object.keys(dialect.bodySchema.properties)).toEqual(expect.arrayContaining([...dialect.keptKeys]));
  });
});

describe("required fields", () => {
  const isRequired = "is required";

  it.each<[string, Dialect, unknown, { path: string; message: string }[]]>([
    ["chat without messages", chatCompletions, { model: "m" }, [{ path: "messages", message: isRequired }]],
    [
      "messages without anything",
      messages,
      {},
      [
        { path: "messages", message: isRequired },
        { path: "model", message: isRequired },
      ],
    ],
    ["messages without a model", messages, { messages: [] }, [{ path: "model", message: isRequired }]],
    [
      "messages with a null model",
      messages,
      { messages: [], model: null },
      [{ path: "model", message: "must be a string" }],
    ],
    ["messages without messages", messages, { model: "m" }, [{ path: "messages", message: isRequired }]],
  ])("refuses %s", (_, dialect, body, violations) => {
    expect(violationsOf(dialect, body)).toEqual(violations);
  });
});

describe("service_tier", () => {
  it.each([
    [chatCompletions, { messages: [] }, { service_tier: "auto" }],
    [messages, { messages: null, model: "m" }, { service_tier: "auto", model: "m" }],
    [responses, {}, {}],
  ])("is dropped where it is auto only from a responses body", (dialect, least, config) => {
    expect(configOf(dialect, { ...least, service_tier: "auto" })).toEqual(config);
  });

  it("is kept from a responses body where it says something", () => {
    expect(configOf(responses, { service_tier: "flex" })).toEqual({ service_tier: "flex" });
  });
});

it("gives a field of the responses dialect the bounds that it has in the chat dialect", () => {
  const chat = chatCompletions.bodySchema.properties;
  for (const [field, schema] of Object.entries(responses.bodySchema.properties)) {
    if (field in chat) expect(schema, field).toEqual(chat[field]);
  }
});

it("takes 5.0 for an integer, and keeps it as sent", () => {
  expect(readBody(responses, '{"max_output_tokens":5.0}').configJson).toBe('{"max_output_tokens":5.0}');
});
