import {
  anyObject,
  anything,
  describeDialect,
  flag,
  ignoredByChatAndResponses,
  integer,
  keptByAll,
  keptByChatAndResponses,
  number,
  string,
} from "../../test/support/dialect-fields.ts";
import { chatCompletions } from "./chat-completions.ts";

describeDialect("chat/completions", chatCompletions, {
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
});
