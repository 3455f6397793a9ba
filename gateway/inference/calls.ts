import type { DialectName } from "../dialects/dialect-name.ts";

/** The calls that are sent to upstreams, by their paths, each with the dialect of its body. */
export const dialectByCall = {
  "chat/completions": "chat/completions",
  messages: "messages",
  "messages/count_tokens": "messages",
  responses: "responses",
  "responses/input_tokens": "responses",
} as const satisfies Record<string, DialectName>;

export type CallName = keyof typeof dialectByCall;

export const callNames = Object.keys(dialectByCall) as CallName[];

/**
 * For the calls that only count the tokens of a request: the fields of a config that they take. Upstreams refuse others,
 * such as a temperature. Of `models`, they get one at a time.
 */
const countedFields: { readonly [call in CallName]?: readonly string[] } = {
  "messages/count_tokens": [
    "model",
    "models",
    "tools",
    "tool_choice",
    "thinking",
    "cache_control",
    "output_config",
    "context_management",
    "speed",
  ],
  "responses/input_tokens": [
    "model",
    "models",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "text",
    "truncation",
  ],
};

/** The fields of a config that a call takes; undefined: all of its dialect. */
export function fieldsTakenBy(call: CallName): readonly string[] | undefined {
  return countedFields[call];
}

/** Whether a call only counts tokens, and generates nothing. */
export function countsTokens(call: CallName): boolean {
  return countedFields[call] !== undefined;
}
