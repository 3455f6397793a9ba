import type { EchoDialect, RequestObject } from "./dialect.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";

/** Counts the tokens of a messages request. */
export const messagesCount: EchoDialect = {
  ...messages,
  lookForFault: (request) => {
    if (!Array.isArray(request.messages) || request.messages.length === 0) return messages.lookForFault(request);
    const extra = fieldBeside(messagesFields, request);
    return extra === undefined ? undefined : `${extra}: Extra inputs are not permitted`;
  },
  whole: ({ inputTokens }) => ({ input_tokens: inputTokens }),
};

/** Counts the tokens of a responses request. */
export const responsesCount: EchoDialect = {
  ...responses,
  lookForFault: (request) => {
    const extra = fieldBeside(responsesFields, request);
    return extra === undefined ? undefined : `Unknown parameter: '${extra}'.`;
  },
  whole: ({ inputTokens }) => ({ object: "response.input_tokens", input_tokens: inputTokens }),
};

// Like the servers that these calls come from, they refuse what has nothing to do with counting.

const messagesFields = [
  "model",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "thinking",
  "cache_control",
  "output_config",
  "output_format",
  "context_management",
  "mcp_servers",
  "speed",
];

const responsesFields = [
  "model",
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning",
  "text",
  "truncation",
  "conversation",
  "previous_response_id",
];

function fieldBeside(known: readonly string[], request: RequestObject): string | undefined {
  return Object.keys(request).find((field) => !known.includes(field));
}
