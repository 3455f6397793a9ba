import {
  anyObject,
  anything,
  describeDialect,
  ignoredByChatAndResponses,
  integer,
  keptByAll,
  keptByChatAndResponses,
  string,
  strings,
} from "../../test/support/dialect-fields.ts";
import { responses } from "./responses.ts";

describeDialect("responses", responses, {
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
});
