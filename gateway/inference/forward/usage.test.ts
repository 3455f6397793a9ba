import { describe, expect, it } from "vitest";
import { usageIn } from "./usage.ts";

describe("usageIn", () => {
  it.each([
    ['{"usage":{"prompt_tokens":1,"completion_tokens":2}}', "", { input: 1, output: 2 }],
    ['{"usage": {"input_tokens":1,"output_tokens":2,"details":{"a":{"b":1}}},"more":{}}', "", { input: 1, output: 2 }],
    ['{"usage":{"output_tokens":2}}', '{"usage":{"input_tokens":7,"output_tokens":1}}', { input: 7, output: 2 }],
    ['{"usage":{"cache_read_input_tokens":19,"input_tokens":1,"output_tokens":2}}', "", { input: 20, output: 2 }],
    ['{"usage":{"input_tokens":1,"cache_creation_input_tokens":3,"cache_read_input_tokens":null}}', "", { input: 4 }],
    [
      '{"usage":{"output_tokens":2}}',
      '{"usage":{"cache_read_input_tokens":6,"input_tokens":1}}',
      { input: 7, output: 2 },
    ],
    [
      '{"usage":{"input_tokens":7,"output_tokens":1}}{"usage":{"output_tokens":2}}',
      '{"usage":{"input_tokens":7,"output_tokens":1}}{"usage":{"output_tokens":2}}',
      { input: 7, output: 2 },
    ],
    ['{"usage":{"prompt_tokens":9,"cache_read_input_tokens":6,"completion_tokens":2}}', "", { input: 9, output: 2 }],
    ['{"usage":{"prompt_tokens":1}}{"usage":{"prompt_tokens":5}}', "", { input: 5, output: undefined }],
    ['{"usage":{"prompt_tokens":-1,"completion_tokens":1.5}}', "", { input: undefined, output: undefined }],
    ['{"usage":null}', "", undefined],
    ['"usage":null', "", undefined],
    ['{"usage":{"prompt_tokens":1}}{"usage":null}', "", { input: 1, output: undefined }],
    ['{"usage":{"prompt_tokens":1', "", undefined],
    ['{"usage":{prompt_tokens:1}}', "", undefined],
    ["", "", undefined],
  ])("reads %s", (tail, start, usage) => {
    expect(usageIn(tail, start)).toEqual(usage);
  });
});
